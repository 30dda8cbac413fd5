// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shared by the tests of the C interface: a check that says where it failed, and structs with
/// their sizes. Written in C11 without extensions.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <crawlstore/crawlstore.h>

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: %s is not so\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

/// Checks that a call returns a number, and says which one it returned instead.
#define GIVES(number, call)                                                                       \
  do {                                                                                            \
    const int given = (call);                                                                     \
    if (given != (number)) {                                                                      \
      fprintf(stderr, "%s:%d: %s gave %d, not %d\n", __FILE__, __LINE__, #call, given, (number)); \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)

/// Checks that a call, whose last argument is &error, succeeds.
#define OK(call)                                                                                   \
  do {                                                                                             \
    crwl_error error = {.struct_size = sizeof error};                                              \
    const int given = (call);                                                                      \
    if (given != 0) {                                                                              \
      fprintf(stderr, "%s:%d: %s gave %d: %s\n", __FILE__, __LINE__, #call, given, error.message); \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/// Checks a call with each size that a struct cannot have; then it has its own again.
#define REFUSES_SIZES(given, call)                                           \
  do {                                                                       \
    const uint32_t sizes[] = {0, 1, 4, sizeof(given) - 1, 4097, UINT32_MAX}; \
    for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; ++size) {   \
      (given).struct_size = sizes[size];                                     \
      GIVES(kInvalidArgument, call);                                         \
    }                                                                        \
    (given).struct_size = sizeof(given);                                     \
  } while (0)

#define REFUSES(call) GIVES(kInvalidArgument, call)

enum { kInvalidArgument = 80, kClosed = 81, kReentrant = 83, kTooLarge = 85, kUnknownName = 87 };
enum { kTypeMismatch = 88, kCancelled = 89, kForked = 44, kNotFound = 63, kExists = 64 };

/// The cases, each with the folder that it may write into.
void test_stores(const char* folder);
void test_sets(const char* folder);
void test_pages(const char* folder);
void test_scores(const char* folder);
void test_queues(const char* folder);
void test_frontiers(const char* folder);
void test_upkeep(const char* folder);
void test_values(const char* folder);
void test_arrow(const char* folder);
void test_refusals(const char* folder);
void test_random_calls(const char* folder);
void test_forks(const char* folder);

/// The path of a file in the folder, in a buffer of the caller.
static inline const char* path_in(const char* folder, const char* name, char path[256]) {
  snprintf(path, 256, "%s/%s", folder, name);
  return path;
}

/// Opens a store that is new.
static inline crwl_store* new_store(const char* folder, const char* name) {
  char path[256];
  crwl_store* store = NULL;
  const crwl_store_options options = {.struct_size = sizeof options, .mode = CRWL_CREATE};
  OK(crwl_store_open(path_in(folder, name, path), &options, &store, &error));
  return store;
}
