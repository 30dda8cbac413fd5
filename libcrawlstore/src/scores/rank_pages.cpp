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
#include "scores/link_cache.h"
#include "scores/page_rank.h"
#include "scores/rank_input.h"
#include "scores/ranked_pages.h"
#include "scores/shard_sums.h"

namespace crawlstore {
namespace {

/// The targets of teleports; empty: everywhere. Never to pages that were forgotten, or are
/// elsewhere.
Result<std::vector<float>> teleports(const PageView& pages, const RankOptions& options,
                                     scores::ShardSums* shards) {
  if (options.by_content_scores && !options.seeds.empty()) {
    return fail(Errc::kInvalidArgument,
                "teleports go to chosen pages, or by content scores, not both");
  }
  if (options.by_content_scores) return scores::content_scores(pages, shards);
  auto seed_count = static_cast<double>(options.seeds.size());
  std::vector<float> living;
  if (shards != nullptr) {
    CRAWLSTORE_TRY(seed_count, shards->add_up(seed_count));
    living = shards->own();
  } else {
    CRAWLSTORE_TRY(living, scores::living_pages(pages));
  }
  if (seed_count == 0) return living;
  std::vector<float> weights(pages.info().page_count);
  for (const std::uint64_t seed : options.seeds) {
    if (seed >= weights.size() || (!living.empty() && living[seed] == 0)) {
      return fail(Errc::kInvalidArgument, "teleports are to go to a page that is not there");
    }
    weights[seed] = 1;
  }
  return weights;
}

/// Weights of what is ranked: `by_page`, or those of the pages of each owner. Empty: all alike, as
/// owners are, of whom none is there whose pages were all forgotten.
std::vector<float> weights_of(const scores::OwnerGraph* owners, const RankOptions& options,
                              std::vector<float> by_page) {
  if (owners == nullptr) return by_page;
  if (!options.by_content_scores && options.seeds.empty()) return {};
  std::vector<float> weights = owners->sums(by_page);
  if (options.seeds.empty()) return weights;
  for (float& weight : weights) weight = weight > 0 ? 1.0F : 0.0F;  // to a host once
  return weights;
}

scores::PageRankOptions kernel_options(const RankOptions& options) {
  scores::PageRankOptions rank;
  rank.damping = options.damping + 0.0;  // of -0 it makes 0, which alone the format takes
  rank.precision = options.precision + 0.0;
  rank.max_iterations = options.max_iterations;
  rank.threads = scores::threads_of(options.thread_count);
  rank.progress = options.progress;
  return rank;
}

/// Reads the links of what is ranked, and notes where links and scores lie.
Result<scores::LinkCache> read_links(const PageView& pages, const scores::OwnerGraph* owners,
                                     const RankOptions& options, scores::PageRankOptions& rank,
                                     RankReport& report) {
  const scores::Stopwatch building;
  const std::uint64_t count =
      owners != nullptr ? owners->first_pages().size() : pages.info().page_count;
  const std::uint64_t link_count =
      owners != nullptr ? owners->link_count() : pages.info().link_count;
  report.memory_bytes = scores::LinkCache::memory_bytes(count, link_count) +
                        scores::page_rank_memory_bytes(count, rank);
  rank.folder = scores::folder_for(report.memory_bytes, options.memory_bytes, options.folder);
  report.is_in_file = !rank.folder.empty();
  const scores::LinkInput input{scores::Direction::kOut, rank.threads, rank.folder,
                                options.progress};
  auto links =
      owners != nullptr ? scores::read_links(*owners, input) : scores::read_links(pages, input);
  report.build_seconds += building.seconds();
  return links;
}

Result<void> check(const RankOptions& options) {
  CRAWLSTORE_TRY(scores::check_options(kernel_options(options)));
  CRAWLSTORE_TRY(scores::check_iterations(options.max_iterations));
  if (options.by >= ScoreSubject::kPage && options.by <= ScoreSubject::kDomain) return {};
  return fail(Errc::kInvalidArgument, "pages, hosts or domains are ranked, nothing else");
}

/// `shards`: those that compute together; null: the file is alone.
Result<RankedPages> compute_rank_of(const PageView& pages, const RankOptions& options,
                                    scores::ShardSums* shards) {
  scores::PageRankOptions rank = kernel_options(options);
  rank.shards = shards;
  const auto ranked = std::make_shared<RankedPages::Impl>();
  RankReport& report = ranked->report;
  const scores::Stopwatch building;
  CRAWLSTORE_TRY(auto by_page, teleports(pages, options, shards));
  if (options.by != ScoreSubject::kPage) {
    CRAWLSTORE_TRY(ranked->owners, scores::read_owners(pages, options.by, options.progress));
  }
  const scores::OwnerGraph* const owners = ranked->owners.get();
  const std::vector<float> weights = weights_of(owners, options, std::move(by_page));
  std::vector<float> start;
  if (options.is_warm) {
    const scores::ArrayKey before{options.name, Scorer::kPageRank, options.by};
    CRAWLSTORE_TRY(start, scores::scores_before(pages, before, shards));
  }
  report.build_seconds = building.seconds();
  rank.teleport = weights;
  rank.start = start;
  CRAWLSTORE_TRY(const auto links, read_links(pages, owners, options, rank, report));
  const scores::Stopwatch solving;
  CRAWLSTORE_TRY(auto result, scores::page_rank(links, rank));
  report.solve_seconds = solving.seconds();
  report.converged = result.has_converged;
  report.waiting_count = pages.info().event_count;
  report.residuals = std::move(result.residuals);

  scores::NewArray array = scores::array_of(pages);
  array.array.subject = options.by;
  array.array.link_count = links.link_count();
  array.array.damping = rank.damping;
  array.array.precision = rank.precision;
  if (options.by_content_scores) array.array.flags |= format::kScoresContentWeighted;
  if (!options.seeds.empty()) array.array.flags |= format::kScoresPersonalised;
  ranked->add(array, Scorer::kPageRank, options.name, std::move(result.scores));
  return RankedPages(ranked);
}

}  // namespace

Result<RankedPages> compute_rank(const PageView& pages, const RankOptions& options) {
  CRAWLSTORE_TRY(check(options));
  CRAWLSTORE_TRY(scores::check_alone(pages));
  return compute_rank_of(pages, options, nullptr);
}

Result<ShardRanks> compute_rank(const PageView& pages, ShardPeers& peers,
                                const RankOptions& options) {
  CRAWLSTORE_TRY(check(options));
  if (options.by != ScoreSubject::kPage) {
    return fail(Errc::kInvalidArgument, "over shards pages are ranked, not hosts or domains");
  }
  const std::array asked{options.damping, options.precision,
                         static_cast<double>(options.max_iterations),
                         options.by_content_scores ? 1.0 : 0.0, options.is_warm ? 1.0 : 0.0};
  CRAWLSTORE_TRY(auto shards,
                 scores::ShardSums::agree(pages, peers, "rank " + options.name, asked));
  CRAWLSTORE_TRY(auto ranked, compute_rank_of(pages, options, &shards));
  return shards.with(std::move(ranked));
}

Result<RankReport> rank_pages(Store& store, const RankOptions& options) {
  const auto inside = Inside::of(store).shared_from_this();
  const StoreCall call(inside);
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, options.database));
  RankOptions asked = options;
  asked.progress = called_by(*inside, options.progress);
  CRAWLSTORE_TRY(const auto ranked, compute_rank(pages, asked));
  return store_ranked(store, ranked);
}

}  // namespace crawlstore
