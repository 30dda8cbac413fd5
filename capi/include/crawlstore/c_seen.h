// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sets of URLs and of keys that were seen; part of crawlstore.h, which has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_store.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// The URLs that a crawl has seen: those that were inserted, and those of pages. Two spellings of
/// one URL are one. Threads: one at a time; several handles may be open on one set.
typedef struct crwl_seen crwl_seen;

enum { CRWL_KEY_AS_STORED = 0, CRWL_KEY_64 = 1, CRWL_KEY_128 = 2 };

///   memory_bytes   of what waits; 0: 64 MiB
///   key            bits of the keys of a set that is made now; default CRWL_KEY_64, where n URLs
///                  expect n^2 / 2^65 that wrongly count as seen
///   without_pages  1: only what was inserted counts as seen
typedef struct crwl_seen_options {
  uint32_t struct_size;
  uint16_t key;
  uint16_t without_pages;
  uint64_t memory_bytes;
} crwl_seen_options;

/// Counts of a set. Keys that wait are in the set already; a merge brings them to their places.
typedef struct crwl_set_status {
  uint32_t struct_size;
  uint32_t key_bytes;      ///< 8 or 16
  uint64_t key_count;      ///< as of the last merge
  uint64_t pending_count;  ///< requests that wait, repeats among them
  uint64_t memory_bytes;   ///< taken now
} crwl_set_status;

/// Opens the set `name` (NULL: "urls"), or makes it. errors 88 it holds something else, 83
int crwl_seen_open(crwl_store* store, const char* name, const crwl_seen_options* options,
                   crwl_seen** seen, crwl_error* error);
/// Whether a URL is new; it is remembered in the same step, durably with the next commit.
///   is_new  gets CRWL_YES or CRWL_NO
///   errors  85 over 64 MiB; 60 and its like: it was not taken
int crwl_seen_insert(crwl_seen* seen, const char* url, size_t url_bytes, uint8_t* is_new,
                     crwl_error* error);
/// The same for each URL in order. Those before an error were inserted.
///   is_new  urls->count bytes
int crwl_seen_insert_many(crwl_seen* seen, const crwl_texts* urls, uint8_t* is_new,
                          crwl_error* error);
/// Whether a URL was seen; nothing is remembered.
int crwl_seen_contains(crwl_seen* seen, const char* url, size_t url_bytes, uint8_t* is_seen,
                       crwl_error* error);
int crwl_seen_contains_many(crwl_seen* seen, const crwl_texts* urls, uint8_t* is_seen,
                            crwl_error* error);
/// Merges what waits, and commits; inserts do so by themselves when memory is full. errors 83
int crwl_seen_merge(crwl_seen* seen, crwl_error* error);
int crwl_seen_get_status(crwl_seen* seen, crwl_set_status* status, crwl_error* error);
void crwl_seen_free(crwl_seen* seen);

/// A set of keys of the caller, 8 or 16 bytes each: hashes, as keys must be spread evenly. In
/// arrays a key of 8 bytes is one number, one of 16 two: the head, by which keys are ordered first,
/// and the tail.
typedef struct crwl_keys crwl_keys;

///   key_bytes     8 or 16; 0: as the set has them, 8 when it is made now
///   memory_bytes  of what waits; 0: 64 MiB
typedef struct crwl_keys_options {
  uint32_t struct_size;
  uint32_t key_bytes;
  uint64_t memory_bytes;
} crwl_keys_options;

/// Opens the set `name` (NULL: "keys"), or makes it. errors 88 keys of the other length, 83
int crwl_keys_open(crwl_store* store, const char* name, const crwl_keys_options* options,
                   crwl_keys** keys, crwl_error* error);
/// Adds `count` keys without asking: several times faster than crwl_keys_insert. After an error
/// some were added; adding all again is right.
int crwl_keys_add(crwl_keys* keys, const uint64_t* words, uint64_t count, crwl_error* error);
/// Whether each key is new; it is remembered in the same step. Those before an error were.
///   is_new  `count` bytes
int crwl_keys_insert(crwl_keys* keys, const uint64_t* words, uint64_t count, uint8_t* is_new,
                     crwl_error* error);
/// Whether each key is there, also one that waits.
int crwl_keys_contains(crwl_keys* keys, const uint64_t* words, uint64_t count, uint8_t* is_there,
                       crwl_error* error);
/// Merges what waits, and commits. errors 83
int crwl_keys_merge(crwl_keys* keys, crwl_error* error);
int crwl_keys_get_status(crwl_keys* keys, crwl_set_status* status, crwl_error* error);
void crwl_keys_free(crwl_keys* keys);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
