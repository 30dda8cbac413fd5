// SPDX-License-Identifier: Apache-2.0
#pragma once

/// std::sort for so many items that somebody may want to stop it: the work is cut, by the pivots
/// that quicksort would choose anyway, into pieces of some milliseconds.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "container/work_steps.h"

namespace crawlstore::container {

/// Steps of an item: the comparisons look up what they compare.
inline constexpr std::uint64_t kSortSteps = 16;

/// Sorts by `less`, in no order among equals. Each item counts as kSortSteps of `steps`, which
/// expects them already.
///   errors  kCancelled: all items are there, in some order
///   cost    as std::sort; asks between two passes, of which the longest compares each item once
template <class Item, class Less>
Result<void> sort_in_pieces(std::span<Item> items, const Less& less, WorkSteps& steps) {
  constexpr std::size_t kPieceItems = std::size_t{1} << 17;
  constexpr std::size_t kSamples = 31;
  std::vector<std::span<Item>> pieces{items};
  while (!pieces.empty()) {
    const std::span<Item> piece = pieces.back();
    pieces.pop_back();
    std::size_t low_count = 0;
    if (piece.size() > kPieceItems) {
      std::array<Item, kSamples> samples{};
      for (std::size_t i = 0; i < kSamples; ++i) samples[i] = piece[piece.size() / kSamples * i];
      std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end(), less);
      const Item pivot = samples[kSamples / 2];
      const auto middle = std::partition(piece.begin(), piece.end(),
                                         [&](const Item& item) { return less(item, pivot); });
      low_count = static_cast<std::size_t>(middle - piece.begin());
      CRAWLSTORE_TRY(steps.add(piece.size()));
    }
    if (low_count == 0) {  // few, or most of them equal
      std::sort(piece.begin(), piece.end(), less);
      CRAWLSTORE_TRY(steps.add(kSortSteps * piece.size()));
      continue;
    }
    pieces.push_back(piece.subspan(low_count));
    pieces.push_back(piece.first(low_count));
  }
  return {};
}

}  // namespace crawlstore::container
