// SPDX-License-Identifier: Apache-2.0
// A forked child with the handles of its parent.
#define _POSIX_C_SOURCE 200809L
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/// Runs in the child: each call is refused, and what is freed does no harm to the parent.
static void queue_in_child(crwl_queue* queue, crwl_frontier* frontier) {
  uint64_t number = 1;
  crwl_taken* taken = NULL;
  GIVES(kForked, crwl_queue_push(queue, &number, NULL, 1, NULL));
  GIVES(kForked, crwl_queue_pop(queue, &number, NULL, &number, NULL));
  GIVES(kForked, crwl_frontier_take(frontier, NULL, &taken, NULL));
  GIVES(kForked, crwl_frontier_give_back_all(frontier, NULL, NULL));
  crwl_queue_free(queue);
  crwl_frontier_free(frontier);
}

/// The same with other handles.
static void use_in_child(crwl_store* store, crwl_seen* seen, crwl_pages* pages, crwl_view* view) {
  uint8_t verdict = 9;
  uint64_t index = 0;
  crwl_transaction* transaction = NULL;
  const crwl_event page = {.struct_size = sizeof page, .url = "http://c.test/", .url_bytes = 14};
  GIVES(kForked, crwl_store_commit(store, NULL, NULL));
  GIVES(kForked, crwl_transaction_begin(store, &transaction, NULL));
  GIVES(kForked, crwl_seen_insert(seen, "http://c.test/", 14, &verdict, NULL));
  GIVES(kForked, crwl_seen_merge(seen, NULL));
  GIVES(kForked, crwl_pages_add(pages, &page, NULL));
  GIVES(kForked, crwl_pages_merge(pages, NULL, NULL, NULL));
  GIVES(kForked, crwl_view_find(view, "http://a.test/", 14, &index, NULL));
  GIVES(kForked, crwl_store_close(store, NULL));
  crwl_store_free(store);
  crwl_seen_free(seen);
  crwl_pages_free(pages);
  crwl_view_free(view);
}

void test_forks(const char* folder) {
  char path[256];
  crwl_store* store = new_store(folder, "fork.crawl");
  crwl_seen* seen = NULL;
  crwl_pages* pages = NULL;
  crwl_view* view = NULL;
  crwl_queue* queue = NULL;
  crwl_frontier* frontier = NULL;
  crwl_transaction* transaction = NULL;
  uint8_t verdict = 9;
  OK(crwl_queue_open(store, NULL, NULL, &queue, &error));
  OK(crwl_frontier_open(store, NULL, NULL, &frontier, &error));
  OK(crwl_seen_open(store, NULL, NULL, &seen, &error));
  OK(crwl_pages_open(store, NULL, NULL, &pages, &error));
  const crwl_event page = {.struct_size = sizeof page, .url = "http://a.test/", .url_bytes = 14};
  OK(crwl_pages_add(pages, &page, &error));
  OK(crwl_pages_merge(pages, NULL, NULL, &error));
  OK(crwl_view_open(path_in(folder, "fork.crawl", path), NULL, &view, &error));
  for (int inside = 0; inside < 2; ++inside) {
    if (inside) OK(crwl_transaction_begin(store, &transaction, &error));
    OK(crwl_seen_insert(seen, inside ? "http://i.test/" : "http://o.test/", 14, &verdict, &error));
    CHECK(verdict == CRWL_YES);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      queue_in_child(queue, frontier);
      use_in_child(store, seen, pages, view);
      crwl_transaction_free(transaction);
      _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  OK(crwl_transaction_commit(transaction, NULL, &error));
  crwl_transaction_free(transaction);
  OK(crwl_seen_contains(seen, "http://i.test/", 14, &verdict, &error));
  CHECK(verdict == CRWL_YES);
  crwl_frontier_free(frontier);
  crwl_queue_free(queue);
  crwl_view_free(view);
  crwl_pages_free(pages);
  crwl_seen_free(seen);
  OK(crwl_store_close(store, &error));
  crwl_store_free(store);
}
