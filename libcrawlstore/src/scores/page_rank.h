// SPDX-License-Identifier: Apache-2.0
#pragma once

/// PageRank: the share of their time that readers spend on each page who follow a random link of
/// the page they are on, or, with probability 1 - damping and from pages without links, go to a
/// page drawn by the teleport weights. (Brin, Page, WWW 1998.)
///
/// Steps are extrapolated from the last three (Anderson, J. ACM 12, 1965), so that fewer are needed
/// than by the power iteration. Each number is computed in an order that depends on the graph
/// alone: the same bits whatever the threads and the stripes of the cache.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <crawlstore/error.h>

#include "io/anonymous_array.h"
#include "scores/link_cache.h"
#include "scores/shard_sums.h"

namespace crawlstore::scores {

/// Below this precision floats stall, so that scores are doubles.
inline constexpr double kFloatPrecisionMin = 1e-7;

struct PageRankOptions {
  double damping = 0.85;  ///< from 0 to 1
  /// It ends when a step changes the scores, whose sum is 1, by less in sum of absolute values; the
  /// error is then at most precision * damping / (1 - damping). 0: when a step changes no more than
  /// doubles can show, which is 2^-52.
  double precision = 1e-6;
  std::uint32_t max_iterations = 300;  ///< at least 1
  unsigned threads = 1;
  /// Not empty: what is kept by page lies in a file without a name of this folder, for graphs of
  /// more pages than memory has room for. It is read and written forwards, block by block.
  std::string folder{};
  /// Weights by page, of any sum but 0; empty: all pages alike.
  std::span<const float> teleport{};
  /// Scores to begin with, of any sum but 0: those of an earlier state of the graph, as long or
  /// shorter. Pages behind them begin with 1 / page count. Empty: the teleport weights.
  std::span<const float> start{};
  /// Not null: pages are those of one shard, and scores those of a crawl over all of them. There
  /// are teleport weights, and scores to begin with in all shards or in none.
  ShardSums* shards = nullptr;
  /// Called after each iteration, counted from 1, with the sum of changes; false stops with
  /// kCancelled. Its exceptions come out of page_rank().
  std::function<bool(std::uint32_t iteration, double residual)> progress{};
};

struct PageRankResult {
  using Floats = io::AnonymousArray<float>;
  using Doubles = io::AnonymousArray<double>;

  /// By page, of sum 1; doubles where the precision asks for them.
  std::variant<Floats, Doubles> scores;
  std::vector<double> residuals;  ///< of each iteration: how much it changed the scores
  bool has_converged = false;     ///< false: max_iterations ended it, and scores are the last ones
};

/// Bytes that page_rank() takes, the result included, the cache and the given weights not.
[[nodiscard]] std::uint64_t page_rank_memory_bytes(std::uint64_t page_count,
                                                   const PageRankOptions& options = {});

/// The error of page_rank() for numbers out of their range, before the links are read.
Result<void> check_options(const PageRankOptions& options);

///   errors  kInvalidArgument: as check_options(); a weight that is NaN, infinite or
///           negative, `offset` being its page; weights that are too few, too many or all 0
///           kCancelled, kOutOfMemory
///   cost    an iteration reads the cache once, 4 bytes a link, and some 50 bytes a page
Result<PageRankResult> page_rank(const LinkCache& links, const PageRankOptions& options);

}  // namespace crawlstore::scores
