// SPDX-License-Identifier: Apache-2.0
// Stores, transactions and errors through the C interface.
#include "check.h"

static void opens_as_it_is_told(const char* folder) {
  char path[256];
  path_in(folder, "modes.crawl", path);
  crwl_store* store = NULL;
  crwl_store_options options = {.struct_size = sizeof options, .mode = CRWL_OPEN};
  GIVES(kNotFound, crwl_store_open(path, &options, &store, NULL));
  CHECK(store == NULL);
  OK(crwl_store_open(path, NULL, &store, &error));

  crwl_store* second = store;
  crwl_error refused = {.struct_size = sizeof refused};
  GIVES(40, crwl_store_open(path, &options, &second, &refused));
  CHECK(second == NULL && refused.code == 40 && refused.category == 2);
  CHECK(strcmp(refused.name, "locked") == 0 && strlen(refused.message) > 10);
  CHECK(refused.offset == UINT64_MAX && refused.struct_size == sizeof refused);
  crwl_store_free(store);

  options.mode = CRWL_CREATE;
  GIVES(kExists, crwl_store_open(path, &options, &store, NULL));
  options.mode = 3;
  GIVES(kInvalidArgument, crwl_store_open(path, &options, &store, NULL));
  options.mode = CRWL_OPEN;
  OK(crwl_store_open(path, &options, &store, &error));
  crwl_store_free(store);
}

static void writes_what_it_is_told(const char* folder) {
  char path[256];
  crwl_store* store = NULL;
  const crwl_store_options options = {.struct_size = sizeof options,
                                      .key_seed = 42,
                                      .time_us = 1000000,
                                      .lock_wait_ms = UINT64_MAX};
  OK(crwl_store_open(path_in(folder, "seed.crawl", path), &options, &store, &error));
  crwl_store_info info = {.struct_size = sizeof info};
  OK(crwl_store_get_info(store, &info, &error));
  CHECK(info.key_seed == 42 && info.generation == 1 && info.struct_size == sizeof info);
  CHECK(info.file_bytes > 0 && info.free_bytes <= info.file_bytes);
  uint64_t generation = 0;
  OK(crwl_store_commit(store, &generation, &error));
  CHECK(generation >= 1);
  OK(crwl_store_close(store, &error));
  OK(crwl_store_close(store, &error));
  GIVES(kClosed, crwl_store_commit(store, NULL, NULL));
  crwl_store_free(store);
}

static void leaves_an_error_of_another_size_alone(const char* folder) {
  (void)folder;
  crwl_error error;
  memset(&error, 7, sizeof error);
  crwl_error before = error;
  error.struct_size = before.struct_size = sizeof error - 1;
  GIVES(kInvalidArgument, crwl_store_commit(NULL, NULL, &error));
  CHECK(memcmp(&error, &before, sizeof error) == 0);
}

static void keeps_all_of_a_transaction_or_nothing(const char* folder) {
  crwl_store* store = new_store(folder, "transaction.crawl");
  crwl_seen* seen = NULL;
  crwl_keys* keys = NULL;
  OK(crwl_seen_open(store, NULL, NULL, &seen, &error));
  OK(crwl_keys_open(store, NULL, NULL, &keys, &error));
  crwl_transaction* transaction = NULL;
  const uint64_t key = 7;
  uint8_t verdict = 9;
  for (int commits = 0; commits < 2; ++commits) {
    OK(crwl_transaction_begin(store, &transaction, &error));
    OK(crwl_seen_insert(seen, "http://a.test/", 14, &verdict, &error));
    CHECK(verdict == CRWL_YES);
    OK(crwl_keys_insert(keys, &key, 1, &verdict, &error));
    CHECK(verdict == CRWL_YES);
    GIVES(kReentrant, crwl_store_commit(store, NULL, NULL));
    GIVES(kReentrant, crwl_seen_merge(seen, NULL));
    crwl_transaction* inner = NULL;
    GIVES(kReentrant, crwl_transaction_begin(store, &inner, NULL));
    if (commits == 1) {
      uint64_t generation = 0;
      OK(crwl_transaction_commit(transaction, &generation, &error));
      CHECK(generation > 1);
      GIVES(kClosed, crwl_transaction_commit(transaction, NULL, NULL));
    }
    OK(crwl_transaction_drop(transaction, &error));
    crwl_transaction_free(transaction);
    OK(crwl_keys_contains(keys, &key, 1, &verdict, &error));
    CHECK(verdict == (commits == 1 ? CRWL_YES : CRWL_NO));
  }
  crwl_keys_free(keys);
  crwl_seen_free(seen);
  crwl_store_free(store);
}

static void outlives_the_store_that_was_freed_first(const char* folder) {
  crwl_store* store = new_store(folder, "order.crawl");
  crwl_seen* seen = NULL;
  crwl_transaction* transaction = NULL;
  uint8_t verdict = 9;
  OK(crwl_seen_open(store, NULL, NULL, &seen, &error));
  OK(crwl_transaction_begin(store, &transaction, &error));
  crwl_store_free(store);
  OK(crwl_seen_insert(seen, "http://a.test/", 14, &verdict, &error));
  OK(crwl_transaction_commit(transaction, NULL, &error));
  crwl_transaction_free(transaction);
  OK(crwl_seen_insert(seen, "http://b.test/", 14, &verdict, &error));
  crwl_seen_free(seen);

  char path[256];
  OK(crwl_store_open(path_in(folder, "order.crawl", path), NULL, &store, &error));
  OK(crwl_seen_open(store, NULL, NULL, &seen, &error));
  OK(crwl_seen_contains(seen, "http://b.test/", 14, &verdict, &error));
  CHECK(verdict == CRWL_YES);
  OK(crwl_store_close(store, &error));
  GIVES(kClosed, crwl_seen_contains(seen, "http://b.test/", 14, &verdict, NULL));
  crwl_set_status status = {.struct_size = sizeof status};
  GIVES(kClosed, crwl_seen_get_status(seen, &status, NULL));
  crwl_store_info info = {.struct_size = sizeof info};
  GIVES(kClosed, crwl_store_get_info(store, &info, NULL));
  CHECK(verdict == CRWL_NOT_ASKED);
  crwl_store_free(store);
  crwl_seen_free(seen);
}

void test_stores(const char* folder) {
  CHECK(strcmp(crwl_version(), CRAWLSTORE_VERSION) == 0);
  opens_as_it_is_told(folder);
  writes_what_it_is_told(folder);
  leaves_an_error_of_another_size_alone(folder);
  keeps_all_of_a_transaction_or_nothing(folder);
  outlives_the_store_that_was_freed_first(folder);
}
