// SPDX-License-Identifier: Apache-2.0
// Queues through the C interface.
#include "check.h"

static void pops_the_highest_priority_first(const char* folder) {
  char path[256];
  crwl_store* store = new_store(folder, "queue.crawl");
  crwl_queue* queue = NULL;
  const crwl_queue_options options = {.struct_size = sizeof options, .memory_bytes = 32 << 20};
  OK(crwl_queue_open(store, NULL, &options, &queue, &error));
  const uint64_t pages[] = {1, 2, 3, 4, 5};
  const double priorities[] = {0.5, 2, 0.25, 2, 1};
  OK(crwl_queue_push(queue, pages, priorities, 5, &error));
  uint64_t removed = 9;
  OK(crwl_queue_remove(queue, pages + 4, 1, &removed, &error));
  CHECK(removed == 1);
  uint64_t popped[4] = {0};
  double found[4] = {0};
  uint64_t count = 3;
  OK(crwl_queue_pop(queue, popped, found, &count, &error));
  CHECK(count == 3 && popped[0] == 2 && popped[1] == 4 && popped[2] == 1);
  CHECK(found[0] == 2 && found[1] == 2 && found[2] == 0.5);
  crwl_queue_free(queue);
  crwl_store_free(store);

  OK(crwl_store_open(path_in(folder, "queue.crawl", path), NULL, &store, &error));
  OK(crwl_queue_open(store, "queue", NULL, &queue, &error));
  crwl_queue* again = NULL;
  GIVES(kInvalidArgument, crwl_queue_open(store, NULL, NULL, &again, NULL));
  OK(crwl_queue_push(queue, pages, NULL, 2, &error));
  OK(crwl_queue_get_count(queue, &count, &error));
  CHECK(count == 3);
  count = UINT64_MAX;
  OK(crwl_queue_pop(queue, popped, NULL, &count, &error));
  CHECK(count == 3 && popped[0] == 3 && popped[1] == 1 && popped[2] == 2);
  const double no_number = strtod("nan", NULL);
  GIVES(kInvalidArgument, crwl_queue_push(queue, pages, &no_number, 1, NULL));
  crwl_queue_free(queue);
  crwl_store_free(store);
}

static void is_part_of_a_transaction(const char* folder) {
  crwl_store* store = new_store(folder, "queue_transaction.crawl");
  crwl_queue* queue = NULL;
  crwl_transaction* transaction = NULL;
  const uint64_t page = 7;
  uint64_t count = 9;
  OK(crwl_queue_open(store, NULL, NULL, &queue, &error));
  OK(crwl_transaction_begin(store, &transaction, &error));
  OK(crwl_queue_push(queue, &page, NULL, 1, &error));
  OK(crwl_queue_get_count(queue, &count, &error));
  CHECK(count == 1);
  crwl_transaction_free(transaction);
  OK(crwl_queue_get_count(queue, &count, &error));
  CHECK(count == 0);
  crwl_queue_free(queue);
  crwl_store_free(store);
}

static void refuses_null(const char* folder) {
  crwl_store* store = new_store(folder, "queue_null.crawl");
  crwl_queue* queue = NULL;
  crwl_queue_options options = {.struct_size = sizeof options};
  REFUSES(crwl_queue_open(NULL, NULL, NULL, &queue, NULL));
  REFUSES(crwl_queue_open(store, NULL, NULL, NULL, NULL));
  REFUSES_SIZES(options, crwl_queue_open(store, NULL, &options, &queue, NULL));
  OK(crwl_queue_open(store, NULL, NULL, &queue, &error));
  uint64_t number = 1;
  REFUSES(crwl_queue_push(NULL, &number, NULL, 1, NULL));
  REFUSES(crwl_queue_push(queue, NULL, NULL, 1, NULL));
  REFUSES(crwl_queue_pop(NULL, &number, NULL, &number, NULL));
  REFUSES(crwl_queue_pop(queue, NULL, NULL, &number, NULL));
  REFUSES(crwl_queue_pop(queue, &number, NULL, NULL, NULL));
  REFUSES(crwl_queue_remove(NULL, &number, 1, NULL, NULL));
  REFUSES(crwl_queue_remove(queue, NULL, 1, NULL, NULL));
  REFUSES(crwl_queue_get_count(NULL, &number, NULL));
  REFUSES(crwl_queue_get_count(queue, NULL, NULL));
  crwl_queue_free(queue);
  crwl_queue_free(NULL);
  crwl_store_free(store);
}

void test_queues(const char* folder) {
  pops_the_highest_priority_first(folder);
  is_part_of_a_transaction(folder);
  refuses_null(folder);
}
