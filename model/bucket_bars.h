// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The buckets of a DRUM as bars: how near each is to its merge and to its split.
/// Threads: pure functions; any.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <crawlstore/drum_view.h>

namespace crawlstore::model {

enum class BucketMark : std::uint8_t {
  kNone,
  kMergeNext,  ///< no bucket calls for a merge, and this one will first, all else equal
  kMergeDue,   ///< the bucket calls for a merge
};
/// "", "merge next", "merge due".
std::string_view name_of(BucketMark mark);

struct BucketBar {
  std::uint64_t bucket = 0;
  std::uint64_t key_count = 0;
  std::uint64_t pending_count = 0;
  /// The share of the threshold for a merge; where the file states none, of the largest
  /// pending_count.
  double merge_share = 0;
  /// The share of the threshold for a split; where the file states none, of the largest key_count.
  double split_share = 0;
  BucketMark mark = BucketMark::kNone;
};

struct BucketBars {
  std::vector<BucketBar> bars{};  ///< in the order of their keys
  bool states_merge = false;      ///< the file states when buckets merge
  bool states_split = false;      ///< and when they split
};

/// cost  as bucket_fill() of each bucket: reads nothing
BucketBars bucket_bars(const DrumView& view);

/// The fullest first: by merge_share, then by split_share, then in the order of their keys.
void sort_by_fill(std::vector<BucketBar>& bars);

/// Neighbours that share one bar, as there is no room for all.
struct BucketColumn {
  BucketBar fullest;       ///< the one with the largest merge_share, then split_share
  double split_share = 0;  ///< the largest
  std::size_t first = 0;   ///< place of the first of them
  std::size_t bar_count = 0;
};
/// Returns at most `column_max` columns of equally many bars, but for the last one.
std::vector<BucketColumn> bucket_columns(std::span<const BucketBar> bars, std::size_t column_max);

}  // namespace crawlstore::model
