// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Keys by how far they lie from the one before them. Threads: pure functions; any.

#include <cstddef>
#include <cstdint>
#include <functional>

#include <crawlstore/drum_view.h>

#include "model/table.h"

namespace crawlstore::model {

/// Gaps of 2^low to 2^(high + 1) - 1, as in GapHistogram.
struct GapRange {
  unsigned low = 0;
  unsigned high = 63;
  friend bool operator==(const GapRange&, const GapRange&) = default;
};

/// Keys that a table of them has, at most.
inline constexpr std::size_t kGapKeysMax = 10'000;

/// The table `gap_keys`: the first kGapKeysMax keys of a bucket whose gap is in the range, in their
/// order: row, key, gap. The first key of the bucket has none.
///   progress  called after each few thousand keys; false stops with kCancelled
///   errors    kInvalidArgument: there is no such bucket; kCancelled; of damage
///   cost      reads the bucket's keys until there are so many
Result<Table> gap_keys(
    const DrumView& view, std::uint64_t bucket, GapRange range,
    const std::function<bool(std::uint64_t done, std::uint64_t total)>& progress);

}  // namespace crawlstore::model
