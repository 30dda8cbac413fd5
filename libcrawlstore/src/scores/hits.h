// SPDX-License-Identifier: Apache-2.0
#pragma once

/// HITS: a good hub links to good authorities, and a good authority is one that good hubs link to.
/// For hubs h and authorities a, with all links followed: a = A^T h, h = A W a, both scaled to a
/// sum of 1; W holds the weights of targets. (Kleinberg, J. ACM 46, 1999.)
///
/// An iteration is one step from hubs to authorities and one back. Where the graph has several best
/// communities that are equally strong, scores depend on what hubs begin with, which is the same
/// for all; each community then has the share that it has of that.
///
/// Steps are not extrapolated, as those of PageRank are: tried with Anderson's mixing, one run in
/// forty over several communities ended 0.3 % off, and why was not found out. Each number is
/// computed in an order that depends on the graph alone: the same bits whatever the threads and the
/// stripes of caches.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <crawlstore/error.h>

#include "io/anonymous_array.h"
#include "scores/link_cache.h"
#include "scores/page_rank.h"
#include "scores/shard_sums.h"

namespace crawlstore::scores {

/// The precision of doubles for a sum of scores that is scaled: an iteration that changes no more
/// has converged.
inline constexpr double kHitsPrecisionMin = 0x1p-48;

struct HitsSolverOptions {
  /// It ends when an iteration changes authorities, and hubs, by less in sum of absolute values. 0:
  /// when it changes no more than doubles can show, which is 2^-48.
  double precision = 1e-6;
  std::uint32_t max_iterations = 300;  ///< at least 1
  unsigned threads = 1;
  std::string folder{};  ///< as of PageRankOptions
  /// By page, what links to it count, of any sum but 0; empty: all count alike.
  std::span<const float> target_weights{};
  /// By page, 1, or 0 for those that are not there; empty: all are. Hubs begin alike.
  std::span<const float> present{};
  /// Hubs of an earlier state of the graph, of any sum but 0, as long or shorter. A hundredth of
  /// all is spread evenly beside them, so that pages that were nothing can become something.
  std::span<const float> start{};
  /// Not null: pages are those of one shard, and scores those of a crawl over all of them.
  /// `present` are those of this shard; target weights and a start are given in all shards or in
  /// none.
  ShardSums* shards = nullptr;
  /// Called after each iteration, counted from 1, with the larger change; false stops with
  /// kCancelled. Its exceptions come out of hits().
  std::function<bool(std::uint32_t iteration, double residual)> progress{};
};

struct HitsResult {
  /// By page, of sum 1; doubles where the precision asks for them. Where no link counts, all pages
  /// that are there are alike.
  using Scores = decltype(PageRankResult::scores);
  Scores authorities;
  Scores hubs;
  /// The change of each iteration: that of authorities, or that of hubs if it is larger.
  std::vector<double> residuals;
  bool has_converged = false;  ///< false: max_iterations ended it, and scores are the last ones
};

/// Bytes that hits() takes: with the result and both caches, without the given weights.
[[nodiscard]] std::uint64_t hits_memory_bytes(std::uint64_t page_count,
                                              const HitsSolverOptions& options = {});

/// The error of hits() for numbers out of their range, before the links are read.
Result<void> check_options(const HitsSolverOptions& options);

///   out, in  the links of pages, and those to pages
///   errors   kInvalidArgument: as check_options(); caches of different graphs; a weight that is
///            NaN, infinite or negative, `offset` being its page; weights too few, too many or all
///            0
///            kCancelled, kOutOfMemory
///   cost     an iteration reads both caches once, 8 bytes a link, and some 40 bytes a page
Result<HitsResult> hits(const LinkCache& out, const LinkCache& in,
                        const HitsSolverOptions& options);

}  // namespace crawlstore::scores
