// SPDX-License-Identifier: Apache-2.0
// Scores through the C interface.
#include "check.h"

/// A file where pages 1 and 2 link to page 0.
static crwl_store* star(const char* folder, const char* name) {
  crwl_store* store = new_store(folder, name);
  const crwl_pages_options options = {.struct_size = sizeof options, .without_urls = 1};
  crwl_pages* pages = NULL;
  OK(crwl_pages_open(store, NULL, &options, &pages, &error));
  const uint64_t target = 0;
  for (uint64_t page = 0; page < 3; ++page) {
    const crwl_event event = {.struct_size = sizeof event,
                              .index = page,
                              .link_indexes = &target,
                              .link_count = page > 0};
    OK(crwl_pages_add(pages, &event, &error));
  }
  OK(crwl_pages_merge(pages, NULL, NULL, &error));
  crwl_pages_free(pages);
  return store;
}

static void maps_the_scores_that_it_computes(const char* folder) {
  char path[256];
  crwl_store* store = star(folder, "rank.crawl");
  const crwl_rank_options options = {.struct_size = sizeof options, .damping = 0.5};
  crwl_rank_report report = {.struct_size = sizeof report};
  OK(crwl_store_rank(store, "pagerank", &options, &report, &error));
  CHECK(report.converged == 1 && report.page_count == 3 && report.link_count == 2);
  CHECK(report.iteration_count > 0 && report.residual < 1e-6);
  crwl_view* view = NULL;
  crwl_scores* scores = NULL;
  OK(crwl_view_open(path_in(folder, "rank.crawl", path), NULL, &view, &error));
  OK(crwl_scores_open(view, NULL, &scores, &error));
  crwl_view_free(view);
  crwl_store_free(store);

  crwl_scores_info info = {.struct_size = sizeof info};
  OK(crwl_scores_get_info(scores, &info, &error));
  CHECK(info.has_doubles == 0 && info.value_count == 3 && info.is_stale == 0);
  CHECK(info.sum > 0.999 && info.sum < 1.001 && info.generation > 1 && info.time_us > 0);
  const float* values = NULL;
  const float* again = NULL;
  uint64_t count = 0;
  OK(crwl_scores_floats(scores, &values, &count, &error));
  OK(crwl_scores_floats(scores, &again, &count, &error));
  CHECK(values == again && count == 3 && values[0] > values[1] && values[1] == values[2]);
  const double* doubles = NULL;
  GIVES(kTypeMismatch, crwl_scores_doubles(scores, &doubles, &count, NULL));
  crwl_scores_free(scores);
}

static void ranks_by_name(const char* folder) {
  char path[256];
  crwl_store* store = star(folder, "methods.crawl");
  GIVES(kUnknownName, crwl_store_rank(store, "pagerunk", NULL, NULL, NULL));
  const crwl_rank_options none = {.struct_size = sizeof none, .database = "other"};
  GIVES(kUnknownName, crwl_store_rank(store, "hits", &none, NULL, NULL));
  OK(crwl_store_rank(store, "hits", NULL, NULL, &error));
  OK(crwl_store_rank(store, "opic", NULL, NULL, &error));
  crwl_view* view = NULL;
  crwl_scores* scores = NULL;
  const double* values = NULL;
  uint64_t count = 0;
  OK(crwl_view_open(path_in(folder, "methods.crawl", path), NULL, &view, &error));
  GIVES(kUnknownName, crwl_scores_open(view, "pagerank", &scores, NULL));
  OK(crwl_scores_open(view, "authorities", &scores, &error));
  crwl_scores_free(scores);
  OK(crwl_scores_open(view, "opic_cash", &scores, &error));
  OK(crwl_scores_doubles(scores, &values, &count, &error));
  CHECK(count == 3);
  const double sum = values[0] + values[1] + values[2];
  CHECK(sum > 2.999 && sum < 3.001);
  crwl_scores_free(scores);
  crwl_view_free(view);
  crwl_store_free(store);
}

static void stores_scores_of_ones_own(const char* folder) {
  char path[256];
  crwl_store* store = star(folder, "own.crawl");
  crwl_view* view = NULL;
  OK(crwl_view_open(path_in(folder, "own.crawl", path), NULL, &view, &error));
  const float mine[] = {3, 1, 0.5F};
  OK(crwl_scores_store(store, view, "mine", mine, &error));
  const float negative[] = {3, -1, 0};
  GIVES(kInvalidArgument, crwl_scores_store(store, view, "mine", negative, NULL));
  crwl_scores* scores = NULL;
  GIVES(kUnknownName, crwl_scores_open(view, "mine", &scores, NULL));
  OK(crwl_view_refresh(view, NULL, &error));
  OK(crwl_scores_open(view, "mine", &scores, &error));
  const float* values = NULL;
  uint64_t count = 0;
  OK(crwl_scores_floats(scores, &values, &count, &error));
  CHECK(count == 3 && memcmp(values, mine, sizeof mine) == 0);
  crwl_scores_free(scores);
  crwl_view_free(view);
  crwl_store_free(store);
}

void test_scores(const char* folder) {
  maps_the_scores_that_it_computes(folder);
  ranks_by_name(folder);
  stores_scores_of_ones_own(folder);
}
