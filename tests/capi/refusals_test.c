// SPDX-License-Identifier: Apache-2.0
// Calls of the C interface with NULL where that must not be, and with structs of wrong sizes.
#include "check.h"

/// Everything that can be open at a time.
typedef struct world {
  char path[256];
  crwl_store* store;
  crwl_seen* seen;
  crwl_keys* keys;
  crwl_pages* pages;
  crwl_view* view;
  crwl_scores* scores;
} world;

static world open_world(const char* folder) {
  world w = {.store = new_store(folder, "world.crawl")};
  path_in(folder, "world.crawl", w.path);
  OK(crwl_seen_open(w.store, NULL, NULL, &w.seen, &error));
  OK(crwl_keys_open(w.store, NULL, NULL, &w.keys, &error));
  OK(crwl_pages_open(w.store, NULL, NULL, &w.pages, &error));
  const crwl_event page = {.struct_size = sizeof page, .url = "http://a.test/", .url_bytes = 14};
  OK(crwl_pages_add(w.pages, &page, &error));
  OK(crwl_pages_merge(w.pages, NULL, NULL, &error));
  OK(crwl_store_rank(w.store, "pagerank", NULL, NULL, &error));
  OK(crwl_view_open(w.path, NULL, &w.view, &error));
  OK(crwl_scores_open(w.view, NULL, &w.scores, &error));
  return w;
}

static void close_world(world* w) {
  crwl_scores_free(w->scores);
  crwl_view_free(w->view);
  crwl_pages_free(w->pages);
  crwl_keys_free(w->keys);
  crwl_seen_free(w->seen);
  crwl_store_free(w->store);
}

static void frees_null(void) {
  crwl_scores_free(NULL);
  crwl_view_free(NULL);
  crwl_pages_free(NULL);
  crwl_keys_free(NULL);
  crwl_seen_free(NULL);
  crwl_transaction_free(NULL);
  crwl_store_free(NULL);
}

static void refuses_null_stores(world* w) {
  crwl_store* store = NULL;
  crwl_transaction* transaction = NULL;
  crwl_store_info info = {.struct_size = sizeof info};
  crwl_store_options options = {.struct_size = sizeof options};
  REFUSES(crwl_store_open(NULL, NULL, &store, NULL));
  REFUSES(crwl_store_open(w->path, NULL, NULL, NULL));
  REFUSES_SIZES(options, crwl_store_open(w->path, &options, &store, NULL));
  REFUSES(crwl_store_commit(NULL, NULL, NULL));
  REFUSES(crwl_store_close(NULL, NULL));
  REFUSES(crwl_store_get_info(NULL, &info, NULL));
  REFUSES(crwl_store_get_info(w->store, NULL, NULL));
  REFUSES_SIZES(info, crwl_store_get_info(w->store, &info, NULL));
  REFUSES(crwl_store_rank(NULL, "pagerank", NULL, NULL, NULL));
  REFUSES(crwl_store_rank(w->store, NULL, NULL, NULL, NULL));
  crwl_rank_options rank = {.struct_size = sizeof rank};
  REFUSES_SIZES(rank, crwl_store_rank(w->store, "opic", &rank, NULL, NULL));
  crwl_rank_report report = {.struct_size = sizeof report};
  REFUSES_SIZES(report, crwl_store_rank(w->store, "opic", NULL, &report, NULL));
  REFUSES(crwl_transaction_begin(NULL, &transaction, NULL));
  REFUSES(crwl_transaction_begin(w->store, NULL, NULL));
  REFUSES(crwl_transaction_commit(NULL, NULL, NULL));
  REFUSES(crwl_transaction_drop(NULL, NULL));
}

static void refuses_null_values(world* w) {
  char name = 0;
  int was_there = 0;
  uint64_t count = 0;
  crwl_value value = {.struct_size = sizeof value};
  REFUSES(crwl_store_set(NULL, "a", "b", 1, NULL));
  REFUSES(crwl_store_set(w->store, NULL, "b", 1, NULL));
  REFUSES(crwl_store_set(w->store, "a", NULL, 1, NULL));
  REFUSES(crwl_store_set(w->store, ".a", "b", 1, NULL));
  REFUSES(crwl_store_get(NULL, "a", &value, NULL));
  REFUSES(crwl_store_get(w->store, NULL, &value, NULL));
  REFUSES(crwl_store_get(w->store, "a", NULL, NULL));
  REFUSES_SIZES(value, crwl_store_get(w->store, "a", &value, NULL));
  value.capacity = 1;
  REFUSES(crwl_store_get(w->store, "a", &value, NULL));
  REFUSES(crwl_store_remove(NULL, "a", &was_there, NULL));
  REFUSES(crwl_store_remove(w->store, NULL, &was_there, NULL));
  REFUSES(crwl_store_value_names(NULL, &name, 1, &count, NULL));
  REFUSES(crwl_store_value_names(w->store, NULL, 1, &count, NULL));
  REFUSES(crwl_store_value_names(w->store, &name, 1, NULL, NULL));
}

static void refuses_null_sets(world* w) {
  crwl_seen* seen = NULL;
  crwl_keys* keys = NULL;
  crwl_seen_options seen_options = {.struct_size = sizeof seen_options};
  crwl_keys_options keys_options = {.struct_size = sizeof keys_options};
  crwl_set_status status = {.struct_size = sizeof status};
  const uint64_t one = 1;
  const crwl_texts urls = {.bytes = "a", .ends = &one, .count = 1};
  const crwl_texts no_bytes = {.bytes = NULL, .ends = &one, .count = 1};
  const crwl_texts no_ends = {.bytes = "a", .ends = NULL, .count = 1};
  uint8_t verdict = 0;
  REFUSES(crwl_seen_open(NULL, NULL, NULL, &seen, NULL));
  REFUSES(crwl_seen_open(w->store, NULL, NULL, NULL, NULL));
  REFUSES_SIZES(seen_options, crwl_seen_open(w->store, NULL, &seen_options, &seen, NULL));
  REFUSES(crwl_seen_insert(NULL, "a", 1, &verdict, NULL));
  REFUSES(crwl_seen_insert(w->seen, NULL, 1, &verdict, NULL));
  REFUSES(crwl_seen_insert(w->seen, "a", 1, NULL, NULL));
  REFUSES(crwl_seen_contains(NULL, "a", 1, &verdict, NULL));
  REFUSES(crwl_seen_contains(w->seen, NULL, 1, &verdict, NULL));
  REFUSES(crwl_seen_contains(w->seen, "a", 1, NULL, NULL));
  REFUSES(crwl_seen_insert_many(NULL, &urls, &verdict, NULL));
  REFUSES(crwl_seen_insert_many(w->seen, NULL, &verdict, NULL));
  REFUSES(crwl_seen_insert_many(w->seen, &no_bytes, &verdict, NULL));
  REFUSES(crwl_seen_insert_many(w->seen, &no_ends, &verdict, NULL));
  REFUSES(crwl_seen_insert_many(w->seen, &urls, NULL, NULL));
  REFUSES(crwl_seen_contains_many(NULL, &urls, &verdict, NULL));
  REFUSES(crwl_seen_contains_many(w->seen, NULL, &verdict, NULL));
  REFUSES(crwl_seen_contains_many(w->seen, &no_ends, &verdict, NULL));
  REFUSES(crwl_seen_contains_many(w->seen, &urls, NULL, NULL));
  REFUSES(crwl_seen_merge(NULL, NULL));
  REFUSES(crwl_seen_get_status(NULL, &status, NULL));
  REFUSES(crwl_seen_get_status(w->seen, NULL, NULL));
  REFUSES_SIZES(status, crwl_seen_get_status(w->seen, &status, NULL));

  REFUSES(crwl_keys_open(NULL, NULL, NULL, &keys, NULL));
  REFUSES(crwl_keys_open(w->store, NULL, NULL, NULL, NULL));
  REFUSES_SIZES(keys_options, crwl_keys_open(w->store, NULL, &keys_options, &keys, NULL));
  REFUSES(crwl_keys_add(NULL, &one, 1, NULL));
  REFUSES(crwl_keys_add(w->keys, NULL, 1, NULL));
  REFUSES(crwl_keys_insert(NULL, &one, 1, &verdict, NULL));
  REFUSES(crwl_keys_insert(w->keys, NULL, 1, &verdict, NULL));
  REFUSES(crwl_keys_insert(w->keys, &one, 1, NULL, NULL));
  REFUSES(crwl_keys_contains(NULL, &one, 1, &verdict, NULL));
  REFUSES(crwl_keys_contains(w->keys, NULL, 1, &verdict, NULL));
  REFUSES(crwl_keys_contains(w->keys, &one, 1, NULL, NULL));
  REFUSES(crwl_keys_merge(NULL, NULL));
  REFUSES(crwl_keys_get_status(NULL, &status, NULL));
  REFUSES(crwl_keys_get_status(w->keys, NULL, NULL));
  REFUSES_SIZES(status, crwl_keys_get_status(w->keys, &status, NULL));
  crwl_set_status after = {.struct_size = sizeof after};
  OK(crwl_seen_get_status(w->seen, &after, &error));
  CHECK(after.key_count == 0 && after.pending_count == 0);
}

static void refuses_null_pages(world* w) {
  crwl_pages* pages = NULL;
  crwl_pages_options options = {.struct_size = sizeof options};
  crwl_pages_status status = {.struct_size = sizeof status};
  crwl_event event = {.struct_size = sizeof event, .url = "http://b.test/", .url_bytes = 14};
  REFUSES(crwl_pages_open(NULL, NULL, NULL, &pages, NULL));
  REFUSES(crwl_pages_open(w->store, NULL, NULL, NULL, NULL));
  REFUSES_SIZES(options, crwl_pages_open(w->store, "b", &options, &pages, NULL));
  REFUSES(crwl_pages_add(NULL, &event, NULL));
  REFUSES(crwl_pages_add(w->pages, NULL, NULL));
  REFUSES_SIZES(event, crwl_pages_add(w->pages, &event, NULL));
  event.link_count = 1;
  REFUSES(crwl_pages_add(w->pages, &event, NULL));
  event.link_count = 0;
  event.links.count = 1;
  REFUSES(crwl_pages_add(w->pages, &event, NULL));
  REFUSES(crwl_pages_merge(NULL, NULL, NULL, NULL));
  REFUSES(crwl_pages_compact(NULL, NULL, NULL, NULL));
  REFUSES(crwl_pages_get_status(NULL, &status, NULL));
  REFUSES(crwl_pages_get_status(w->pages, NULL, NULL));
  REFUSES_SIZES(status, crwl_pages_get_status(w->pages, &status, NULL));
}

static void refuses_null_views(world* w) {
  crwl_view* view = NULL;
  crwl_view_info info = {.struct_size = sizeof info};
  uint64_t index = 0;
  REFUSES(crwl_view_open(NULL, NULL, &view, NULL));
  REFUSES(crwl_view_open(w->path, NULL, NULL, NULL));
  REFUSES(crwl_view_refresh(NULL, NULL, NULL));
  REFUSES(crwl_view_get_info(NULL, &info, NULL));
  REFUSES(crwl_view_get_info(w->view, NULL, NULL));
  REFUSES_SIZES(info, crwl_view_get_info(w->view, &info, NULL));
  REFUSES(crwl_view_find(NULL, "a", 1, &index, NULL));
  REFUSES(crwl_view_find(w->view, NULL, 1, &index, NULL));
  REFUSES(crwl_view_find(w->view, "a", 1, NULL, NULL));
  crwl_page_columns columns = {.struct_size = sizeof columns, .capacity = 1};
  REFUSES(crwl_view_get_columns(NULL, &columns, NULL));
  REFUSES(crwl_view_get_columns(w->view, NULL, NULL));
  REFUSES_SIZES(columns, crwl_view_get_columns(w->view, &columns, NULL));
  columns.url_ends = &index;
  REFUSES(crwl_view_get_columns(w->view, &columns, NULL));
  int64_t numbers[2];
  crwl_links links = {.struct_size = sizeof links, .index_bytes = 8, .indptr = numbers};
  OK(crwl_view_get_links(w->view, &links, &error));
  REFUSES(crwl_view_get_links(NULL, &links, NULL));
  REFUSES(crwl_view_get_links(w->view, NULL, NULL));
  REFUSES_SIZES(links, crwl_view_get_links(w->view, &links, NULL));
  links.capacity = 1;
  REFUSES(crwl_view_get_links(w->view, &links, NULL));
  links.indptr = NULL;
  links.capacity = 0;
  REFUSES(crwl_view_get_links(w->view, &links, NULL));
}

static void refuses_null_scores(world* w) {
  crwl_scores* scores = NULL;
  crwl_scores_info info = {.struct_size = sizeof info};
  const float* floats = NULL;
  const double* doubles = NULL;
  const float one = 1;
  uint64_t count = 0;
  REFUSES(crwl_scores_open(NULL, NULL, &scores, NULL));
  REFUSES(crwl_scores_open(w->view, NULL, NULL, NULL));
  REFUSES(crwl_scores_get_info(NULL, &info, NULL));
  REFUSES(crwl_scores_get_info(w->scores, NULL, NULL));
  REFUSES_SIZES(info, crwl_scores_get_info(w->scores, &info, NULL));
  REFUSES(crwl_scores_floats(NULL, &floats, &count, NULL));
  REFUSES(crwl_scores_floats(w->scores, NULL, &count, NULL));
  REFUSES(crwl_scores_floats(w->scores, &floats, NULL, NULL));
  REFUSES(crwl_scores_doubles(NULL, &doubles, &count, NULL));
  REFUSES(crwl_scores_doubles(w->scores, NULL, &count, NULL));
  REFUSES(crwl_scores_doubles(w->scores, &doubles, NULL, NULL));
  REFUSES(crwl_scores_store(NULL, w->view, "a", &one, NULL));
  REFUSES(crwl_scores_store(w->store, NULL, "a", &one, NULL));
  REFUSES(crwl_scores_store(w->store, w->view, NULL, &one, NULL));
  REFUSES(crwl_scores_store(w->store, w->view, "a", NULL, NULL));
}

/// A caller of a later version, whose structs have a field more.
static void takes_longer_structs(world* w) {
  struct {
    crwl_store_info info;
    uint64_t later;
  } out = {.info = {.struct_size = sizeof out}, .later = 7};
  OK(crwl_store_get_info(w->store, &out.info, &error));
  CHECK(out.later == 0 && out.info.struct_size == sizeof out && out.info.generation > 0);
  struct {
    crwl_event event;
    uint64_t later;
  } in = {.event = {.struct_size = sizeof in, .url = "http://c.test/", .url_bytes = 14}};
  OK(crwl_pages_add(w->pages, &in.event, &error));
  in.later = 1;
  REFUSES(crwl_pages_add(w->pages, &in.event, NULL));
}

void test_refusals(const char* folder) {
  world w = open_world(folder);
  frees_null();
  refuses_null_stores(&w);
  refuses_null_values(&w);
  refuses_null_sets(&w);
  refuses_null_pages(&w);
  refuses_null_views(&w);
  refuses_null_scores(&w);
  takes_longer_structs(&w);
  close_world(&w);
}
