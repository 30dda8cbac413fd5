// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two score arrays of a page database against each other, on a sample of its
/// pages. Ownership: what is returned owns all it holds. Threads: as Snapshot.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/scores.h>

#include "model/host_rows.h"

namespace crawlstore::model {

/// The scores of a page by one array and by the other.
struct ScorePair {
  std::uint64_t index = 0;
  double x = 0;
  double y = 0;
};

struct ScorePairs {
  std::uint64_t page_count = 0;  ///< with a score, be it 0, in both arrays
  std::vector<ScorePair> pairs;  ///< of the sample, by index
  std::uint64_t even_count = 0;  ///< of them those that were taken evenly spaced
  /// The correlation of the evenly spaced ones, so that it tells of all pages and not of the best.
  std::optional<double> rank_correlation;
};

/// At most `sample_max` pages: all, or half of so many evenly spaced, and as
/// many of the best of each array as there is room for.
///   errors  kCancelled; of damage
///   cost    one pass over each array
Result<ScorePairs> score_pairs(const ScoreView& x, const ScoreView& y, std::size_t sample_max,
                               const PagesProgress& progress);

/// Spearman's: that of Pearson between ranks, equal scores sharing the mean of
/// theirs; -1 to 1.
///   returns  nothing for less than two pairs, and where one side is the same
///   in all
std::optional<double> rank_correlation(std::span<const ScorePair> pairs);

}  // namespace crawlstore::model
