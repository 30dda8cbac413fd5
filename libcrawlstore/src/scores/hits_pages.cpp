// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <string>
#include <utility>

#include <crawlstore/page_view.h>
#include <crawlstore/ranking.h>
#include <crawlstore/shard_scores.h>

#include "base/inside.h"
#include "container/store_call.h"
#include "scores/hits.h"
#include "scores/link_cache.h"
#include "scores/rank_input.h"
#include "scores/ranked_pages.h"
#include "scores/shard_sums.h"

namespace crawlstore {
namespace {

struct Weights {
  std::vector<float> targets;
  std::vector<float> present;
  std::vector<float> start;
};

Result<Weights> read_weights(const PageView& pages, const HitsOptions& options,
                             scores::ShardSums* shards) {
  Weights weights;
  if (options.by_content_scores) {
    CRAWLSTORE_TRY(weights.targets, scores::content_scores(pages, shards));
  }
  if (shards != nullptr) {
    weights.present = shards->own();
  } else {
    CRAWLSTORE_TRY(weights.present, scores::living_pages(pages));
  }
  if (options.is_warm) {
    const scores::ArrayKey before{options.hubs, Scorer::kHitsHub};
    CRAWLSTORE_TRY(weights.start, scores::scores_before(pages, before, shards));
  }
  return weights;
}

scores::HitsSolverOptions solver_options(const HitsOptions& options) {
  scores::HitsSolverOptions hits;
  hits.precision = options.precision + 0.0;  // of -0 it makes 0, which alone the format takes
  hits.max_iterations = options.max_iterations;
  hits.threads = scores::threads_of(options.thread_count);
  hits.progress = options.progress;
  return hits;
}

Result<void> check(const HitsOptions& options) {
  CRAWLSTORE_TRY(scores::check_options(solver_options(options)));
  if (options.authorities == options.hubs) {
    return fail(Errc::kInvalidArgument, "hubs and authorities need names of their own");
  }
  return scores::check_iterations(options.max_iterations);
}

/// Computes scores, notes where they lie, and fills in all of the report but what is stored.
Result<scores::HitsResult> solve(const PageView& pages, const HitsOptions& options,
                                 scores::HitsSolverOptions& hits, RankReport& report) {
  using scores::LinkCache;
  const scores::Stopwatch building;
  const PagesInfo& info = pages.info();
  report.memory_bytes = 2 * LinkCache::memory_bytes(info.page_count, info.link_count) +
                        scores::hits_memory_bytes(info.page_count, hits);
  hits.folder = scores::folder_for(report.memory_bytes, options.memory_bytes, options.folder);
  report.is_in_file = !hits.folder.empty();
  scores::LinkInput input{scores::Direction::kOut, hits.threads, hits.folder, options.progress};
  CRAWLSTORE_TRY(const auto out, scores::read_links(pages, input));
  input.direction = scores::Direction::kIn;
  CRAWLSTORE_TRY(const auto in, scores::read_links(pages, input));
  if (out.link_count() != in.link_count()) {
    return fail(Errc::kSegmentInvalid, "the out-links and the in-links are not the same",
                Error::kNoOffset, pages.info().id);
  }
  report.build_seconds = building.seconds();
  const scores::Stopwatch solving;
  CRAWLSTORE_TRY(auto result, scores::hits(out, in, hits));
  report.solve_seconds = solving.seconds();
  report.converged = result.has_converged;
  report.waiting_count = pages.info().event_count;
  report.residuals = std::move(result.residuals);
  return result;
}

/// `shards`: those that compute together; null: the file is alone.
Result<RankedPages> compute_hits_of(const PageView& pages, const HitsOptions& options,
                                    scores::ShardSums* shards) {
  scores::HitsSolverOptions hits = solver_options(options);
  hits.shards = shards;
  CRAWLSTORE_TRY(const Weights weights, read_weights(pages, options, shards));
  hits.target_weights = weights.targets;
  hits.present = weights.present;
  hits.start = weights.start;
  const auto ranked = std::make_shared<RankedPages::Impl>();
  CRAWLSTORE_TRY(auto result, solve(pages, options, hits, ranked->report));

  scores::NewArray array = scores::array_of(pages);
  array.array.damping = 1;
  array.array.precision = hits.precision;
  if (options.by_content_scores) array.array.flags |= format::kScoresContentWeighted;
  ranked->add(array, Scorer::kHitsAuthority, options.authorities, std::move(result.authorities));
  ranked->add(array, Scorer::kHitsHub, options.hubs, std::move(result.hubs));
  return RankedPages(ranked);
}

}  // namespace

Result<RankedPages> compute_hits(const PageView& pages, const HitsOptions& options) {
  CRAWLSTORE_TRY(check(options));
  CRAWLSTORE_TRY(scores::check_alone(pages));
  return compute_hits_of(pages, options, nullptr);
}

Result<ShardRanks> compute_hits(const PageView& pages, ShardPeers& peers,
                                const HitsOptions& options) {
  CRAWLSTORE_TRY(check(options));
  const std::array asked{options.precision, static_cast<double>(options.max_iterations),
                         options.by_content_scores ? 1.0 : 0.0, options.is_warm ? 1.0 : 0.0};
  CRAWLSTORE_TRY(auto shards,
                 scores::ShardSums::agree(
                     pages, peers, "hits " + options.authorities + ' ' + options.hubs, asked));
  CRAWLSTORE_TRY(auto ranked, compute_hits_of(pages, options, &shards));
  return shards.with(std::move(ranked));
}

Result<RankReport> hits(Store& store, const HitsOptions& options) {
  const auto inside = Inside::of(store).shared_from_this();
  const StoreCall call(inside);
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, options.database));
  HitsOptions asked = options;
  asked.progress = called_by(*inside, options.progress);
  CRAWLSTORE_TRY(const auto ranked, compute_hits(pages, asked));
  return store_ranked(store, ranked);
}

}  // namespace crawlstore
