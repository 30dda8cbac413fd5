// SPDX-License-Identifier: Apache-2.0
// Pages, their columns and their links through the C interface.
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

/// Page 0 links to 1 and 2, page 1 to 0; 2 answered 404.
static crwl_pages* three_pages(crwl_store* store) {
  crwl_pages* pages = NULL;
  OK(crwl_pages_open(store, NULL, NULL, &pages, &error));
  const uint64_t ends[] = {14, 29};
  const float scores[] = {0.5F, 0.25F};
  const crwl_event first = {
      .struct_size = sizeof first,
      .kind = CRWL_EVENT_PAGE,
      .http_status = 200,
      .url = "http://a.test/",
      .url_bytes = 14,
      .time_us = 1000,
      .content_hash = "hash",
      .content_hash_bytes = 4,
      .links = {.bytes = "http://b.test/http://cc.test/", .ends = ends, .count = 2},
      .link_scores = scores,
      .score = 2};
  OK(crwl_pages_add(pages, &first, &error));
  const crwl_event second = {.struct_size = sizeof second,
                             .url = "http://b.test/",
                             .url_bytes = 14,
                             .time_us = 2000,
                             .links = {.bytes = "http://a.test/", .ends = ends, .count = 1}};
  OK(crwl_pages_add(pages, &second, &error));
  const crwl_event third = {.struct_size = sizeof third,
                            .kind = CRWL_EVENT_FAILED,
                            .http_status = 404,
                            .url = "http://cc.test/",
                            .url_bytes = 15};
  OK(crwl_pages_add(pages, &third, &error));
  return pages;
}

static void merges_edits_into_pages(const char* folder) {
  crwl_store* store = new_store(folder, "merge.crawl");
  crwl_pages* pages = three_pages(store);
  crwl_pages_status status = {.struct_size = sizeof status};
  OK(crwl_pages_get_status(pages, &status, &error));
  CHECK(status.has_urls == 1 && status.edit_count == 3 && status.page_count == 0);
  GIVES(kCancelled, crwl_pages_merge(pages, stop, NULL, NULL));
  int calls = 0;
  OK(crwl_pages_merge(pages, count_calls, &calls, &error));
  CHECK(calls > 0);
  OK(crwl_pages_get_status(pages, &status, &error));
  CHECK(status.edit_count == 0 && status.page_count == 3);
  CHECK(status.crawled_count == 2 && status.link_count == 3);
  OK(crwl_pages_compact(pages, NULL, NULL, &error));
  crwl_pages_free(pages);
  crwl_store_free(store);
}

static void refuses_events_that_cannot_be(const char* folder) {
  crwl_store* store = new_store(folder, "events.crawl");
  crwl_pages* pages = NULL;
  OK(crwl_pages_open(store, NULL, NULL, &pages, &error));
  const uint64_t ends[] = {14};
  const crwl_texts link = {.bytes = "http://b.test/", .ends = ends, .count = 1};
  const crwl_event good = {.struct_size = sizeof good, .url = "http://a.test/", .url_bytes = 14};
  crwl_event bad = good;
  bad.kind = 10;
  GIVES(kInvalidArgument, crwl_pages_add(pages, &bad, NULL));
  bad = good;
  bad.kind = CRWL_EVENT_GONE;
  bad.links = link;
  GIVES(kInvalidArgument, crwl_pages_add(pages, &bad, NULL));
  bad = good;
  bad.kind = CRWL_EVENT_REDIRECT;
  GIVES(kInvalidArgument, crwl_pages_add(pages, &bad, NULL));
  bad = good;
  bad.url = NULL;
  GIVES(kInvalidArgument, crwl_pages_add(pages, &bad, NULL));
  bad = good;
  bad.links = link;
  bad.link_indexes = ends;
  bad.link_count = 1;
  GIVES(kInvalidArgument, crwl_pages_add(pages, &bad, NULL));
  bad = good;
  bad.content_hash = ends;
  bad.content_hash_bytes = 65;
  GIVES(kTooLarge, crwl_pages_add(pages, &bad, NULL));
  bad = good;
  bad.content_hash_bytes = 1;
  GIVES(kInvalidArgument, crwl_pages_add(pages, &bad, NULL));
  crwl_pages_free(pages);
  crwl_store_free(store);
}

static void shows_pages_as_columns(const char* folder) {
  char path[256];
  crwl_store* store = new_store(folder, "columns.crawl");
  crwl_pages* pages = three_pages(store);
  OK(crwl_pages_merge(pages, NULL, NULL, &error));
  crwl_view* view = NULL;
  OK(crwl_view_open(path_in(folder, "columns.crawl", path), NULL, &view, &error));
  uint64_t linked_from[3];
  uint64_t url_ends[3];
  uint32_t depth[3], crawl_count[3], change_count[3], failure_count[3];
  uint8_t state[3];
  uint16_t http_status[3];
  int64_t first_us[3], last_us[3];
  float score[3];
  char urls[64];
  crwl_page_columns columns = {.struct_size = sizeof columns,
                               .capacity = 3,
                               .linked_from = linked_from,
                               .depth = depth,
                               .state = state,
                               .http_status = http_status,
                               .crawl_count = crawl_count,
                               .change_count = change_count,
                               .failure_count = failure_count,
                               .first_crawl_us = first_us,
                               .last_crawl_us = last_us,
                               .score = score,
                               .urls = urls,
                               .url_capacity = sizeof urls,
                               .url_ends = url_ends};
  OK(crwl_view_get_columns(view, &columns, &error));
  CHECK(columns.row_count == 3 && url_ends[0] == 14 && url_ends[2] == 43);
  CHECK(memcmp(urls, "http://a.test/http://b.test/http://cc.test/", 43) == 0);
  CHECK(linked_from[0] == UINT64_MAX && linked_from[1] == 0 && linked_from[2] == 0);
  CHECK(depth[0] == 0 && depth[2] == 1 && state[0] == 1 && state[2] == 3);
  CHECK(http_status[0] == 200 && http_status[2] == 404 && failure_count[2] == 1);
  CHECK(crawl_count[0] == 1 && crawl_count[2] == 0 && change_count[1] == 0);
  CHECK(first_us[1] == 2000 && last_us[0] == 1000 && last_us[2] == 0 && score[0] == 2);

  columns.url_capacity = 42;
  OK(crwl_view_get_columns(view, &columns, &error));
  CHECK(columns.row_count == 2);
  columns.first_page = 2;
  columns.url_capacity = 14;
  GIVES(kTooLarge, crwl_view_get_columns(view, &columns, NULL));
  columns.url_ends = NULL;
  GIVES(kInvalidArgument, crwl_view_get_columns(view, &columns, NULL));
  const crwl_page_columns past_the_end = {
      .struct_size = sizeof columns, .first_page = 3, .capacity = 3, .row_count = 9};
  columns = past_the_end;
  OK(crwl_view_get_columns(view, &columns, &error));
  CHECK(columns.row_count == 0);
  crwl_view_free(view);
  crwl_pages_free(pages);
  crwl_store_free(store);
}

static void keeps_its_generation_until_refreshed(const char* folder) {
  char path[256];
  crwl_store* store = new_store(folder, "refresh.crawl");
  crwl_view* view = NULL;
  path_in(folder, "refresh.crawl", path);
  GIVES(kUnknownName, crwl_view_open(path, NULL, &view, NULL));
  crwl_pages* pages = three_pages(store);
  OK(crwl_pages_merge(pages, NULL, NULL, &error));
  OK(crwl_view_open(path, "pages", &view, &error));
  int changed = 9;
  OK(crwl_view_refresh(view, &changed, &error));
  CHECK(changed == 0);
  const crwl_event fourth = {
      .struct_size = sizeof fourth, .url = "http://d.test/", .url_bytes = 14};
  OK(crwl_pages_add(pages, &fourth, &error));
  OK(crwl_store_commit(store, NULL, &error));
  OK(crwl_pages_merge(pages, NULL, NULL, &error));

  uint64_t index = 9;
  OK(crwl_view_find(view, "http://d.test/", 14, &index, &error));
  CHECK(index == UINT64_MAX);
  crwl_view_info before = {.struct_size = sizeof before};
  OK(crwl_view_get_info(view, &before, &error));
  OK(crwl_view_refresh(view, &changed, &error));
  CHECK(changed == 1);
  OK(crwl_view_find(view, "HTTP://D.test", 13, &index, &error));
  CHECK(index == 3);
  crwl_view_info after = {.struct_size = sizeof after};
  OK(crwl_view_get_info(view, &after, &error));
  CHECK(before.page_count == 3 && after.page_count == 4 && after.has_urls == 1);
  CHECK(before.generation < after.generation && after.event_count == 0);
  CHECK(after.crawled_count == 3 && after.link_count == 3);
  CHECK(memcmp(before.uuid, after.uuid, sizeof after.uuid) == 0);
  crwl_pages_free(pages);
  crwl_store_free(store);
  crwl_view_free(view);
}

/// A graph of pages without URLs: i links to each multiple of i + 1 below kNodes.
enum { kNodes = 300 };
static uint64_t write_graph(crwl_store* store) {
  static uint64_t targets[kNodes];
  const crwl_pages_options options = {
      .struct_size = sizeof options, .without_urls = 1, .memory_bytes = 1 << 20};
  crwl_pages* pages = NULL;
  OK(crwl_pages_open(store, "graph", &options, &pages, &error));
  uint64_t link_count = 0;
  for (uint64_t page = 0; page < kNodes; ++page) {
    crwl_event event = {.struct_size = sizeof event, .index = page, .link_indexes = targets};
    for (uint64_t to = page % 3 ? 0 : kNodes; to < kNodes; to += page + 1) {
      targets[event.link_count++] = to;
    }
    link_count += event.link_count;
    OK(crwl_pages_add(pages, &event, &error));
  }
  OK(crwl_pages_merge(pages, NULL, NULL, &error));
  crwl_pages_free(pages);
  return link_count;
}

static void gives_links_as_rows_of_either_width(const char* folder) {
  static int32_t out_ptr[kNodes + 1], out_links[kNodes * kNodes];
  static int64_t in_ptr[kNodes + 1], in_links[kNodes * kNodes];
  char path[256];
  crwl_store* store = new_store(folder, "graph.crawl");
  const uint64_t link_count = write_graph(store);
  crwl_store_free(store);
  crwl_view* view = NULL;
  OK(crwl_view_open(path_in(folder, "graph.crawl", path), "graph", &view, &error));
  crwl_links out = {.struct_size = sizeof out,
                    .index_bytes = 4,
                    .indptr = out_ptr,
                    .indices = out_links,
                    .capacity = link_count};
  OK(crwl_view_get_links(view, &out, &error));
  CHECK(out.link_count == link_count && out_ptr[0] == 0 && out_ptr[1] == 0);
  CHECK((uint64_t)out_ptr[kNodes] == link_count);
  crwl_links in = {.struct_size = sizeof in,
                   .incoming = 1,
                   .index_bytes = 8,
                   .indptr = in_ptr,
                   .indices = in_links,
                   .capacity = kNodes * kNodes};
  OK(crwl_view_get_links(view, &in, &error));
  CHECK(in.link_count == link_count && (uint64_t)in_ptr[kNodes] == link_count);
  // Each link out is met in its place of the transpose.
  static int64_t next[kNodes];
  for (int page = 0; page < kNodes; ++page) next[page] = in_ptr[page];
  for (int page = 0; page < kNodes; ++page) {
    int expected = 0;
    for (int32_t i = out_ptr[page]; i < out_ptr[page + 1]; ++i, expected += page + 1) {
      CHECK(out_links[i] == expected);
      CHECK(in_links[next[out_links[i]]++] == page);
    }
  }
  out.capacity = link_count - 1;
  GIVES(kTooLarge, crwl_view_get_links(view, &out, NULL));
  out.index_bytes = 2;
  GIVES(kInvalidArgument, crwl_view_get_links(view, &out, NULL));
  crwl_view_free(view);
}

void test_pages(const char* folder) {
  merges_edits_into_pages(folder);
  refuses_events_that_cannot_be(folder);
  shows_pages_as_columns(folder);
  keeps_its_generation_until_refreshed(folder);
  gives_links_as_rows_of_either_width(folder);
}
