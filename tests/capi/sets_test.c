// SPDX-License-Identifier: Apache-2.0
// Sets of URLs and of keys through the C interface.
#include "check.h"

static void tells_new_urls_in_batches(const char* folder) {
  crwl_store* store = new_store(folder, "seen.crawl");
  const crwl_seen_options options = {.struct_size = sizeof options, .key = CRWL_KEY_128};
  crwl_seen* seen = NULL;
  OK(crwl_seen_open(store, "mine", &options, &seen, &error));
  const char blob[] = "http://a.test/http://b.test/HTTP://A.test:80/";
  const uint64_t ends[] = {14, 28, 45};
  const crwl_texts urls = {.bytes = blob, .ends = ends, .count = 3};
  uint8_t verdicts[3] = {9, 9, 9};
  OK(crwl_seen_insert_many(seen, &urls, verdicts, &error));
  CHECK(verdicts[0] == CRWL_YES && verdicts[1] == CRWL_YES && verdicts[2] == CRWL_NO);
  const crwl_texts others = {.bytes = "http://b.test/http://c.test/", .ends = ends, .count = 2};
  OK(crwl_seen_contains_many(seen, &others, verdicts, &error));
  CHECK(verdicts[0] == CRWL_YES && verdicts[1] == CRWL_NO);

  OK(crwl_seen_merge(seen, &error));
  crwl_set_status status = {.struct_size = sizeof status};
  OK(crwl_seen_get_status(seen, &status, &error));
  CHECK(status.key_bytes == 16 && status.key_count == 2 && status.pending_count == 0);

  const uint64_t falling[] = {14, 3};
  const crwl_texts wrong = {.bytes = blob, .ends = falling, .count = 2};
  GIVES(kInvalidArgument, crwl_seen_insert_many(seen, &wrong, verdicts, NULL));
  const size_t too_many = ((size_t)64 << 20) + 1;
  GIVES(kTooLarge, crwl_seen_insert(seen, blob, too_many, verdicts, NULL));
  GIVES(kTooLarge, crwl_seen_contains(seen, blob, SIZE_MAX, verdicts, NULL));
  const uint64_t far = too_many;
  const crwl_texts huge = {.bytes = blob, .ends = &far, .count = 1};
  GIVES(kTooLarge, crwl_seen_insert_many(seen, &huge, verdicts, NULL));
  const crwl_texts none = {.bytes = NULL, .ends = NULL, .count = 0};
  OK(crwl_seen_insert_many(seen, &none, NULL, &error));
  crwl_seen_free(seen);
  crwl_seen_options narrow = {.struct_size = sizeof narrow, .key = CRWL_KEY_64};
  GIVES(kTypeMismatch, crwl_seen_open(store, "mine", &narrow, &seen, NULL));
  narrow.key = 3;
  GIVES(kInvalidArgument, crwl_seen_open(store, "mine", &narrow, &seen, NULL));
  crwl_store_free(store);
}

static void counts_pages_as_seen_unless_told(const char* folder) {
  crwl_store* store = new_store(folder, "seen_pages.crawl");
  crwl_pages* pages = NULL;
  OK(crwl_pages_open(store, NULL, NULL, &pages, &error));
  const crwl_event page = {.struct_size = sizeof page, .url = "http://a.test/", .url_bytes = 14};
  OK(crwl_pages_add(pages, &page, &error));
  OK(crwl_pages_merge(pages, NULL, NULL, &error));
  for (uint16_t without = 0; without < 2; ++without) {
    const crwl_seen_options options = {.struct_size = sizeof options, .without_pages = without};
    crwl_seen* seen = NULL;
    uint8_t verdict = 9;
    OK(crwl_seen_open(store, without ? "alone" : "both", &options, &seen, &error));
    OK(crwl_seen_insert(seen, "http://a.test/", 14, &verdict, &error));
    CHECK(verdict == (without ? CRWL_YES : CRWL_NO));
    crwl_seen_free(seen);
  }
  crwl_pages_free(pages);
  crwl_store_free(store);
}

static void remembers_keys_of_either_length(const char* folder) {
  crwl_store* store = new_store(folder, "keys.crawl");
  for (uint32_t key_bytes = 8; key_bytes <= 16; key_bytes += 8) {
    const crwl_keys_options options = {.struct_size = sizeof options, .key_bytes = key_bytes};
    const char* name = key_bytes == 8 ? NULL : "wide";
    crwl_keys* keys = NULL;
    OK(crwl_keys_open(store, name, &options, &keys, &error));
    // Of 16 bytes these are the keys (1, 2), (3, 1), (1, 4) and (1, 2).
    const uint64_t words[] = {1, 2, 3, 1, 1, 4, 1, 2};
    const uint64_t count = key_bytes == 8 ? 3 : 4;
    uint8_t verdicts[4] = {9, 9, 9, 9};
    OK(crwl_keys_insert(keys, words, count, verdicts, &error));
    CHECK(verdicts[0] == CRWL_YES && verdicts[1] == CRWL_YES && verdicts[2] == CRWL_YES);
    CHECK(verdicts[3] == (key_bytes == 8 ? 9 : CRWL_NO));
    OK(crwl_keys_merge(keys, &error));
    crwl_set_status status = {.struct_size = sizeof status};
    OK(crwl_keys_get_status(keys, &status, &error));
    CHECK(status.key_bytes == key_bytes && status.key_count == 3);
    crwl_keys_free(keys);
    GIVES(0, crwl_keys_open(store, name, NULL, &keys, NULL));
    crwl_keys_free(keys);
  }
  const crwl_keys_options odd = {.struct_size = sizeof odd, .key_bytes = 12};
  crwl_keys* keys = NULL;
  GIVES(kInvalidArgument, crwl_keys_open(store, NULL, &odd, &keys, NULL));
  const crwl_keys_options wide = {.struct_size = sizeof wide, .key_bytes = 16};
  GIVES(kTypeMismatch, crwl_keys_open(store, NULL, &wide, &keys, NULL));
  crwl_store_free(store);
}

static void adds_many_keys_without_asking(const char* folder) {
  enum { kCount = 3000 };
  static uint64_t words[2 * kCount];
  static uint8_t verdicts[kCount];
  crwl_store* store = new_store(folder, "many_keys.crawl");
  for (uint32_t key_bytes = 8; key_bytes <= 16; key_bytes += 8) {
    const crwl_keys_options options = {
        .struct_size = sizeof options, .key_bytes = key_bytes, .memory_bytes = 1 << 20};
    crwl_keys* keys = NULL;
    OK(crwl_keys_open(store, key_bytes == 8 ? "narrow" : "wide", &options, &keys, &error));
    for (uint64_t i = 0; i < 2 * kCount; ++i) words[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    OK(crwl_keys_add(keys, words, kCount, &error));
    OK(crwl_keys_contains(keys, words, kCount, verdicts, &error));
    for (int i = 0; i < kCount; ++i) CHECK(verdicts[i] == CRWL_YES);
    words[1] += 1;
    OK(crwl_keys_contains(keys, words, 1, verdicts, &error));
    CHECK(verdicts[0] == (key_bytes == 8 ? CRWL_YES : CRWL_NO));
    OK(crwl_keys_merge(keys, &error));
    crwl_keys_free(keys);
  }
  crwl_store_free(store);
}

void test_sets(const char* folder) {
  tells_new_urls_in_batches(folder);
  counts_pages_as_seen_unless_told(folder);
  remembers_keys_of_either_length(folder);
  adds_many_keys_without_asking(folder);
}
