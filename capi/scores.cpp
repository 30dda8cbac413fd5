// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string>
#include <string_view>

#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>

#include "call.h"
#include "handles.h"

struct crwl_scores {
  crawlstore::ScoreView scores;
};

namespace crawlstore::c {
namespace {

template <class Number>
Result<void> give_values(const Result<std::span<const Number>>& read, const Number** values,
                         std::uint64_t* count) {
  if (!read) return tl::unexpected<Error>(read.error());
  *values = read->data();
  *count = read->size();
  return {};
}

RankOptions rank_options_of(const crwl_rank_options& given) {
  RankOptions options;
  if (given.name != nullptr) options.name = given.name;
  if (given.database != nullptr) options.database = given.database;
  if (given.damping != 0) options.damping = given.damping;
  if (given.precision != 0) options.precision = given.precision;
  if (given.max_iterations != 0) options.max_iterations = given.max_iterations;
  options.thread_count = static_cast<unsigned>(given.thread_count);
  options.memory_bytes = given.memory_bytes;
  return options;
}

Result<RankReport> rank_by(std::string_view method, Store& store, const RankOptions& options) {
  if (method == "pagerank") return rank_pages(store, options);
  if (method == "hits") {
    HitsOptions both;
    both.database = options.database;
    both.precision = options.precision;
    both.max_iterations = options.max_iterations;
    both.thread_count = options.thread_count;
    both.memory_bytes = options.memory_bytes;
    return hits(store, both);
  }
  if (method == "opic") {
    OpicOptions cash;
    cash.database = options.database;
    return opic(store, cash);
  }
  return fail(Errc::kUnknownName, "there is no such way of ranking");
}

}  // namespace

extern "C" {

int crwl_scores_open(const crwl_view* view, const char* name, crwl_scores** scores,
                     crwl_error* error) {
  if (scores != nullptr) *scores = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(view, scores));
    const auto array = name_or(name, ScoreView::kDefaultName);
    CRAWLSTORE_TRY(auto opened, ScoreView::open(view->pages, array));
    if (opened.info().subject != ScoreSubject::kPage) {
      return fail(Errc::kTypeMismatch, "the scores are of hosts or domains, not of pages");
    }
    give_handle(scores, crwl_scores{std::move(opened)});
    return {};
  });
}

int crwl_scores_get_info(const crwl_scores* scores, crwl_scores_info* info, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(scores));
    CRAWLSTORE_TRY(check_size(info));
    const ScoresInfo& array = scores->scores.info();
    crwl_scores_info told{};
    told.has_doubles = array.has_doubles ? 1 : 0;
    told.value_count = array.page_count;
    told.generation = array.generation.value;
    told.time_us = array.time_us;
    told.sum = array.sum;
    told.residual = array.residual;
    told.iteration_count = array.iteration_count;
    told.is_stale = array.is_stale ? 1 : 0;
    give(info, told);
    return {};
  });
}

int crwl_scores_floats(const crwl_scores* scores, const float** values, std::uint64_t* count,
                       crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(scores, values, count));
    return give_values(scores->scores.floats(), values, count);
  });
}

int crwl_scores_doubles(const crwl_scores* scores, const double** values, std::uint64_t* count,
                        crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(scores, values, count));
    return give_values(scores->scores.doubles(), values, count);
  });
}

void crwl_scores_free(crwl_scores* scores) {
  free_handle(scores);
}

int crwl_scores_store(crwl_store* store, const crwl_view* view, const char* name,
                      const float* values, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, view, name));
    const std::uint64_t count = view->pages.info().page_count;
    CRAWLSTORE_TRY(need_array(count, values));
    CRAWLSTORE_TRY(store_scores(*store->store, name, view->pages, std::span(values, count)));
    return {};
  });
}

int crwl_store_rank(crwl_store* store, const char* method, const crwl_rank_options* options,
                    crwl_rank_report* report, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, method));
    CRAWLSTORE_TRY(const auto given, options_of(options));
    if (report != nullptr) CRAWLSTORE_TRY(check_size(report));
    CRAWLSTORE_TRY(const auto ranked, rank_by(method, *store->store, rank_options_of(given)));
    if (report == nullptr) return {};
    crwl_rank_report told{};
    told.converged = ranked.converged ? 1 : 0;
    told.page_count = ranked.scores.page_count;
    told.link_count = ranked.scores.link_count;
    told.iteration_count = ranked.scores.iteration_count;
    told.residual = ranked.scores.residual;
    give(report, told);
    return {};
  });
}

}  // extern "C"

}  // namespace crawlstore::c
