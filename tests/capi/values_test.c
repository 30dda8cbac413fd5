// SPDX-License-Identifier: Apache-2.0
// Small values through the C interface.
#include "check.h"

/// Checks that the store has a value of these bytes, which may have NUL among them.
static void expect_value(crwl_store* store, const char* name, const void* bytes, size_t count) {
  char room[CRWL_VALUE_BYTES_MAX];
  crwl_value value = {.struct_size = sizeof value, .bytes = room, .capacity = sizeof room};
  OK(crwl_store_get(store, name, &value, &error));
  CHECK(value.is_there == 1 && value.byte_count == count);
  CHECK(memcmp(room, bytes, count) == 0);
}

static void expect_none(crwl_store* store, const char* name) {
  crwl_value value = {.struct_size = sizeof value, .is_there = 1, .byte_count = 9};
  OK(crwl_store_get(store, name, &value, &error));
  CHECK(value.is_there == 0 && value.byte_count == 0);
}

static void expect_names(crwl_store* store, const char* names, size_t count) {
  char room[64];
  uint64_t byte_count = 9;
  OK(crwl_store_value_names(store, room, sizeof room, &byte_count, &error));
  CHECK(byte_count == count && memcmp(room, names, count) == 0);
}

static crwl_store* open_again(const char* folder, const char* name) {
  char path[256];
  crwl_store* store = NULL;
  const crwl_store_options options = {.struct_size = sizeof options, .mode = CRWL_OPEN};
  OK(crwl_store_open(path_in(folder, name, path), &options, &store, &error));
  return store;
}

static void keeps_bytes_by_name(const char* folder) {
  crwl_store* store = new_store(folder, "values.crawl");
  expect_none(store, "offset");
  expect_names(store, "", 0);
  OK(crwl_store_set(store, "state", NULL, 0, &error));
  OK(crwl_store_set(store, "offset", "1", 1, &error));
  OK(crwl_store_set(store, "offset", "\0\1\0", 3, &error));
  expect_value(store, "offset", "\0\1\0", 3);
  crwl_store_free(store);

  store = open_again(folder, "values.crawl");
  expect_value(store, "offset", "\0\1\0", 3);
  expect_value(store, "state", "", 0);
  expect_names(store, "offset\0state", 13);
  int was_there = 9;
  OK(crwl_store_remove(store, "offset", &was_there, &error));
  CHECK(was_there == 1);
  OK(crwl_store_remove(store, "offset", &was_there, &error));
  CHECK(was_there == 0);
  OK(crwl_store_remove(store, "state", NULL, &error));
  expect_names(store, "", 0);
  OK(crwl_store_close(store, &error));
  crwl_value value = {.struct_size = sizeof value};
  GIVES(kClosed, crwl_store_get(store, "offset", &value, NULL));
  crwl_store_free(store);
}

static void tells_the_room_that_is_needed(const char* folder) {
  crwl_store* store = new_store(folder, "values_room.crawl");
  OK(crwl_store_set(store, "b", "xyz", 3, &error));
  OK(crwl_store_set(store, "a", "", 0, &error));
  char room[] = "....";
  crwl_value value = {.struct_size = sizeof value};
  REFUSES(crwl_store_get(store, "b", &value, NULL));
  CHECK(value.is_there == 1 && value.byte_count == 3);
  value.bytes = room;
  value.capacity = 2;
  REFUSES(crwl_store_get(store, "b", &value, NULL));
  CHECK(value.byte_count == 3 && strcmp(room, "....") == 0);
  value.capacity = 3;
  OK(crwl_store_get(store, "b", &value, &error));
  CHECK(value.byte_count == 3 && strcmp(room, "xyz.") == 0);
  value.bytes = NULL;
  REFUSES(crwl_store_get(store, "b", &value, NULL));
  CHECK(value.is_there == 0 && value.byte_count == 0);

  uint64_t byte_count = 0;
  REFUSES(crwl_store_value_names(store, NULL, 0, &byte_count, NULL));
  CHECK(byte_count == 4);
  REFUSES(crwl_store_value_names(store, room, 3, &byte_count, NULL));
  CHECK(byte_count == 4 && strcmp(room, "xyz.") == 0);
  OK(crwl_store_value_names(store, room, 4, &byte_count, &error));
  CHECK(memcmp(room, "a\0b", 4) == 0);
  crwl_store_free(store);
}

static void belongs_to_a_transaction(const char* folder) {
  crwl_store* store = new_store(folder, "values_transaction.crawl");
  crwl_seen* seen = NULL;
  crwl_transaction* transaction = NULL;
  uint8_t verdict = 9;
  OK(crwl_seen_open(store, NULL, NULL, &seen, &error));
  OK(crwl_store_set(store, "done", "1", 1, &error));
  OK(crwl_store_set(store, "old", "o", 1, &error));
  for (int commits = 0; commits < 2; ++commits) {
    OK(crwl_transaction_begin(store, &transaction, &error));
    OK(crwl_seen_insert(seen, "http://a.test/", 14, &verdict, &error));
    OK(crwl_store_set(store, "done", "2", 1, &error));
    OK(crwl_store_remove(store, "old", NULL, &error));
    expect_value(store, "done", "2", 1);
    expect_names(store, "done", 5);
    if (commits == 1) OK(crwl_transaction_commit(transaction, NULL, &error));
    crwl_transaction_free(transaction);
    expect_value(store, "done", commits == 1 ? "2" : "1", 1);
    OK(crwl_seen_contains(seen, "http://a.test/", 14, &verdict, &error));
    CHECK(verdict == (commits == 1 ? CRWL_YES : CRWL_NO));
    if (commits == 0) expect_value(store, "old", "o", 1);
  }
  crwl_seen_free(seen);
  crwl_store_free(store);
  store = open_again(folder, "values_transaction.crawl");
  expect_value(store, "done", "2", 1);
  expect_none(store, "old");
  crwl_store_free(store);
}

static void holds_as_many_as_it_says(const char* folder) {
  static char names[CRWL_VALUE_NAMES_BYTES_MAX];
  static const char bytes[CRWL_VALUE_BYTES_MAX + 1];
  crwl_store* store = new_store(folder, "values_many.crawl");
  char name[257];
  memset(name, 'n', sizeof name);
  name[256] = '\0';
  GIVES(kTooLarge, crwl_store_set(store, name, NULL, 0, NULL));
  GIVES(kTooLarge, crwl_store_set(store, "", NULL, 0, NULL));
  name[255] = '\0';
  GIVES(kTooLarge, crwl_store_set(store, name, bytes, sizeof bytes, NULL));
  GIVES(kTooLarge, crwl_store_set(store, name, bytes, UINT64_MAX, NULL));
  for (int i = 0; i < CRWL_VALUE_COUNT_MAX; ++i) {
    char digits[5];
    snprintf(digits, sizeof digits, "%04d", i);
    memcpy(name, digits, 4);
    OK(crwl_store_set(store, name, bytes, i == 0 ? CRWL_VALUE_BYTES_MAX : 0, &error));
  }
  GIVES(kTooLarge, crwl_store_set(store, "one more", NULL, 0, NULL));
  uint64_t byte_count = 0;
  OK(crwl_store_value_names(store, names, sizeof names, &byte_count, &error));
  CHECK(byte_count == sizeof names && strcmp(names + sizeof names - 256, name) == 0);
  crwl_store_free(store);
}

void test_values(const char* folder) {
  keeps_bytes_by_name(folder);
  tells_the_room_that_is_needed(folder);
  belongs_to_a_transaction(folder);
  holds_as_many_as_it_says(folder);
}
