// SPDX-License-Identifier: Apache-2.0
// Compaction and verification through the C interface.
#include "check.h"

static int count_calls(void* context, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  ++*(int*)context;
  return 0;
}

static int stop(void* context, uint64_t done, uint64_t total) {
  (void)context;
  (void)done;
  (void)total;
  return 1;
}

/// A file whose keys were merged a few times.
static void write_file(const char* folder, const char* name) {
  static uint64_t words[20000];
  crwl_store* store = new_store(folder, name);
  crwl_keys* keys = NULL;
  OK(crwl_keys_open(store, NULL, NULL, &keys, &error));
  for (uint64_t round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 20000; ++i) {
      words[i] = (20000 * round + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    }
    OK(crwl_keys_add(keys, words, 20000, &error));
    OK(crwl_keys_merge(keys, &error));
  }
  crwl_keys_free(keys);
  crwl_store_free(store);
}

static void compacts_a_store(const char* folder) {
  char path[256];
  write_file(folder, "compact.crawl");
  crwl_store* store = NULL;
  OK(crwl_store_open(path_in(folder, "compact.crawl", path), NULL, &store, &error));
  crwl_compact_report report = {.struct_size = sizeof report};
  int calls = 0;
  OK(crwl_store_compact(store, count_calls, &calls, &report, &error));
  CHECK(calls > 0 && report.bytes_after > 0 && report.bytes_after <= report.bytes_before);
  crwl_store_info info = {.struct_size = sizeof info};
  OK(crwl_store_get_info(store, &info, &error));
  CHECK(info.file_bytes == report.bytes_after);
  OK(crwl_store_compact(store, NULL, NULL, NULL, &error));
  REFUSES(crwl_store_compact(NULL, NULL, NULL, NULL, NULL));
  REFUSES_SIZES(report, crwl_store_compact(store, NULL, NULL, &report, NULL));
  crwl_store_free(store);
}

static void verifies_a_whole_file(const char* folder) {
  char path[256];
  write_file(folder, "whole.crawl");
  path_in(folder, "whole.crawl", path);
  crwl_verify_report report = {.struct_size = sizeof report};
  OK(crwl_verify(path, NULL, &report, &error));
  CHECK(report.is_damaged == 0 && report.finding_count == 0 && report.checked_bytes > 0);
  int calls = 0;
  crwl_verify_options options = {.struct_size = sizeof options,
                                 .level = CRWL_VERIFY_DEEP,
                                 .progress = count_calls,
                                 .context = &calls};
  OK(crwl_verify(path, &options, &report, &error));
  CHECK(calls > 0);
  const uint64_t deep_bytes = report.checked_bytes;
  options.level = CRWL_VERIFY_QUICK;
  OK(crwl_verify(path, &options, &report, &error));
  CHECK(report.checked_bytes < deep_bytes);
  options.level = CRWL_VERIFY_DEEP;
  options.progress = stop;
  GIVES(kCancelled, crwl_verify(path, &options, &report, NULL));

  REFUSES(crwl_verify(NULL, NULL, &report, NULL));
  REFUSES(crwl_verify(path, NULL, NULL, NULL));
  REFUSES_SIZES(options, crwl_verify(path, &options, &report, NULL));
  REFUSES_SIZES(report, crwl_verify(path, NULL, &report, NULL));
  options.level = 3;
  REFUSES(crwl_verify(path, &options, &report, NULL));
  options.level = 0;
  options.capacity = 1;
  REFUSES(crwl_verify(path, &options, &report, NULL));
  path_in(folder, "no_such.crawl", path);
  GIVES(kNotFound, crwl_verify(path, NULL, &report, NULL));
}

static void lists_what_is_damaged(const char* folder) {
  char path[256];
  write_file(folder, "damaged.crawl");
  FILE* file = fopen(path_in(folder, "damaged.crawl", path), "r+b");
  CHECK(file != NULL);
  for (long offset = 40960; offset < 200000; offset += 4096) {
    CHECK(fseek(file, offset, SEEK_SET) == 0 && fwrite("damage", 1, 6, file) == 6);
  }
  CHECK(fclose(file) == 0);
  // Entries of a caller of a later version, whose findings have a field more.
  struct {
    crwl_finding finding;
    uint64_t later;
  } found[2];
  memset(found, 7, sizeof found);
  crwl_verify_options options = {.struct_size = sizeof options,
                                 .findings = &found[0].finding,
                                 .capacity = 1,
                                 .stride_bytes = sizeof found[0]};
  crwl_verify_report report = {.struct_size = sizeof report};
  OK(crwl_verify(path, &options, &report, &error));
  CHECK(report.is_damaged == 1 && report.finding_count >= 1);
  CHECK(found[0].finding.code >= 20 && found[0].finding.code < 30 && found[0].later == 0);
  CHECK(strlen(found[0].finding.message) > 10 && found[0].finding.offset != UINT64_MAX);
  CHECK(found[1].later == UINT64_C(0x0707070707070707));
  options.stride_bytes = sizeof(crwl_finding) - 8;
  REFUSES(crwl_verify(path, &options, &report, NULL));
}

void test_upkeep(const char* folder) {
  compacts_a_store(folder);
  verifies_a_whole_file(folder);
  lists_what_is_damaged(folder);
}
