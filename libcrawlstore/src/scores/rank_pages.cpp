// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>
#include <variant>

#include <crawlstore/page_view.h>
#include <crawlstore/scores.h>

#include "base/inside.h"
#include "pages/page_view_impl.h"
#include "scores/link_cache.h"
#include "scores/page_rank.h"
#include "scores/row_source.h"
#include "scores/stored_array.h"

namespace crawlstore {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The links of a database that has none.
class NoRows final : public scores::RowSource {
 public:
  [[nodiscard]] Result<std::unique_ptr<scores::Rows>> open(std::uint64_t) const override {
    class Nothing final : public scores::Rows {
      Result<bool> next() override { return false; }
    };
    return std::make_unique<Nothing>();
  }
};

/// By page, whether it was not forgotten; empty: none was.
Result<std::vector<float>> living_pages(const PageView& pages) {
  std::vector<float> living;
  const PageView::Impl& inside = Inside::of(pages);
  if (!inside.keys || inside.keys->count() >= inside.table.page_count) return living;
  CRAWLSTORE_TRY(const auto hosts, inside.hosts());
  living.reserve(hosts.size());
  for (const std::uint64_t host : hosts) living.push_back(host != 0 ? 1.0F : 0.0F);
  return living;
}

/// The scores that crawls gave the pages, when teleports can go by them.
Result<std::vector<float>> content_scores(const PageView& pages) {
  CRAWLSTORE_TRY(auto weights, pages.scores());
  const auto negative = std::ranges::find_if(weights, [](float weight) { return weight < 0; });
  if (negative != weights.end()) {
    return fail(Errc::kInvalidArgument,
                "a page's content score is negative (its index is the offset), so that no teleport "
                "can go by it",
                static_cast<std::uint64_t>(negative - weights.begin()));
  }
  if (std::ranges::all_of(weights, [](float weight) { return weight == 0; })) {
    return fail(Errc::kInvalidArgument, "no page has a content score to go by");
  }
  return weights;
}

/// Where teleports go; empty: everywhere. Never to pages that were forgotten.
Result<std::vector<float>> teleports(const PageView& pages, const RankOptions& options) {
  if (options.by_content_scores && !options.seeds.empty()) {
    return fail(Errc::kInvalidArgument,
                "teleports go to chosen pages, or by content scores, not both");
  }
  if (options.by_content_scores) return content_scores(pages);
  CRAWLSTORE_TRY(auto living, living_pages(pages));
  if (options.seeds.empty()) {
    const bool is_any_left = living.empty() || std::ranges::find(living, 1.0F) != living.end();
    if (!is_any_left) return fail(Errc::kInvalidArgument, "all pages were forgotten");
    return living;
  }
  std::vector<float> weights(pages.info().page_count);
  for (const std::uint64_t seed : options.seeds) {
    if (seed >= weights.size() || (!living.empty() && living[seed] == 0)) {
      return fail(Errc::kInvalidArgument, "teleports are to go to a page that is not there");
    }
    weights[seed] = 1;
  }
  return weights;
}

/// The scores of the array that will be replaced, where they can be begun with; else nothing.
std::vector<float> warm_start(const PageView& pages, const RankOptions& options) {
  if (!options.is_warm) return {};
  const auto before = ScoreView::open(pages, options.name);
  // Without a start it takes longer, and that is all: also where an array is damaged.
  if (!before || before->info().scorer != Scorer::kPageRank || !(before->info().sum > 0)) return {};
  const auto taken = [](const auto& values) {
    const auto bytes = std::as_bytes(values);
    const auto codec = sizeof(values[0]) == sizeof(double) ? format::ScoreCodec::kFloat64
                                                           : format::ScoreCodec::kFloat32;
    const bool are_scores = format::add_scores(0, codec, bytes).has_value();
    return are_scores ? std::vector<float>(values.begin(), values.end()) : std::vector<float>();
  };
  if (before->info().has_doubles) {
    const auto values = before->doubles();
    return values ? taken(*values) : std::vector<float>();
  }
  const auto values = before->floats();
  return values ? taken(*values) : std::vector<float>();
}

Result<scores::LinkCache> read_links(const PageView& pages, unsigned threads,
                                     const RankProgress& progress) {
  const auto& links = Inside::of(pages).links;
  scores::LinkCacheOptions options;
  options.threads = threads;
  if (progress) {
    options.progress = [&progress](std::uint64_t, std::uint64_t) { return progress(0, 0); };
  }
  const std::uint64_t page_count = pages.info().page_count;
  if (!links) return scores::LinkCache::build(NoRows(), page_count, options);
  return scores::LinkCache::build(scores::OutRows(*links), page_count, options);
}

}  // namespace

struct RankedPages::Impl {
  RankReport report;
  decltype(scores::PageRankResult::scores) values;
  scores::NewArray array;  // of spans into the others
};

RankedPages::RankedPages(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

const RankReport& RankedPages::report() const {
  return impl_->report;
}

Result<RankedPages> compute_rank(const PageView& pages, const RankOptions& options) {
  CRAWLSTORE_TRY(const auto weights, teleports(pages, options));
  const auto start = warm_start(pages, options);

  scores::PageRankOptions rank;
  rank.damping = options.damping + 0.0;  // of -0 it makes 0, which alone the format takes
  rank.precision = options.precision + 0.0;
  rank.max_iterations = options.max_iterations;
  rank.threads = options.thread_count != 0 ? options.thread_count
                                           : std::max(1U, std::thread::hardware_concurrency());
  rank.teleport = weights;
  rank.start = start;
  rank.progress = options.progress;
  CRAWLSTORE_TRY(scores::check_options(rank));
  if (options.max_iterations > format::kScoreIterationsMax) {
    return fail(Errc::kInvalidArgument, "more iterations are allowed than an array can tell of");
  }

  const auto ranked = std::make_shared<RankedPages::Impl>();
  RankReport& report = ranked->report;
  const Stopwatch building;
  CRAWLSTORE_TRY(const auto links, read_links(pages, rank.threads, options.progress));
  report.build_seconds = building.seconds();
  report.memory_bytes = scores::LinkCache::memory_bytes(links.page_count(), links.link_count()) +
                        scores::page_rank_memory_bytes(links.page_count(), rank);
  const Stopwatch solving;
  CRAWLSTORE_TRY(auto result, scores::page_rank(links, rank));
  report.solve_seconds = solving.seconds();
  report.converged = result.has_converged;
  report.waiting_count = pages.info().event_count;
  report.residuals = std::move(result.residuals);
  ranked->values = std::move(result.scores);

  scores::NewArray& array = ranked->array;
  array = scores::array_of(pages);
  array.name = options.name;
  array.array.scorer = Scorer::kPageRank;
  array.array.damping = rank.damping;
  array.array.precision = rank.precision;
  if (options.by_content_scores) array.array.flags |= format::kScoresContentWeighted;
  if (!options.seeds.empty()) array.array.flags |= format::kScoresPersonalised;
  array.residuals = report.residuals;
  std::visit([&array](const auto& values) { array.values = values.span(); }, ranked->values);
  // What it is of, and how far it came; the rest when it is stored.
  report.scores.page_count = array.array.page_count;
  report.scores.link_count = array.array.link_count;
  report.scores.generation = array.array.generation;
  if (!report.residuals.empty()) report.scores.residual = report.residuals.back();
  return RankedPages(ranked);
}

Result<RankReport> store_ranked(Store& store, const RankedPages& ranked) {
  RankReport report = ranked.report();
  if (!report.converged) return report;
  CRAWLSTORE_TRY(report.scores, scores::store_array(store, Inside::of(ranked).array));
  return report;
}

Result<RankReport> rank_pages(Store& store, const RankOptions& options) {
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, options.database));
  CRAWLSTORE_TRY(const auto ranked, compute_rank(pages, options));
  return store_ranked(store, ranked);
}

}  // namespace crawlstore
