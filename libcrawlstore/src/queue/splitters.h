// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finds the bucket of an entry among many, the main cost of insertions and loads.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/queue_run.h"

namespace crawlstore::queue {

using Entry = format::QueueEntry;
/// No entry of a priority is below the first, or not below the second.
inline constexpr Entry kBeforeAll{};
inline constexpr Entry kBehindAll{~std::uint64_t{0}, ~std::uint64_t{0}};

/// An entry as what the processor compares without a branch.
using Number = unsigned __int128;
inline Number as_number(const Entry& entry) {
  return Number{entry.order} << 64U | entry.page;
}

/// Ascending bounds: bucket i has what is not below bound i - 1, and below bound i. The last bucket
/// has no bound.
class Splitters {
 public:
  [[nodiscard]] std::size_t size() const { return bounds_.size(); }
  [[nodiscard]] const Entry& bound(std::size_t bucket) const { return bounds_[bucket]; }

  /// Cuts a bucket into one more than there are bounds, which lie in it.
  void insert(std::size_t bucket, std::span<const Entry> bounds) {
    bounds_.insert(bounds_.begin() + static_cast<std::ptrdiff_t>(bucket), bounds.begin(),
                   bounds.end());
  }
  /// Removes the first bounds.
  void erase_front(std::size_t count) {
    bounds_.erase(bounds_.begin(), bounds_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  /// Keeps the first bounds.
  void resize(std::size_t count) { bounds_.resize(count); }

  [[nodiscard]] std::size_t find(const Entry& entry) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(bounds_, entry) - bounds_.begin());
  }

  /// Calls visit(entry, bucket) for each, several searches at a time: one waits for memory while
  /// the others go on.
  template <class Visit>
  void find_all(std::span<const Entry> entries, const Visit& visit) const {
    constexpr std::size_t kAtATime = 8;
    while (entries.size() >= kAtATime) {
      std::size_t first[kAtATime] = {};
      for (std::size_t half = std::bit_floor(bounds_.size()); half > 0; half /= 2) {
        for (std::size_t i = 0; i < kAtATime; ++i) {
          const std::size_t next = first[i] + half;
          const bool is_right =
              next <= bounds_.size() &&
              as_number(bounds_[std::min(next, bounds_.size()) - 1]) <= as_number(entries[i]);
          first[i] = is_right ? next : first[i];
        }
      }
      for (std::size_t i = 0; i < kAtATime; ++i) visit(entries[i], first[i]);
      entries = entries.subspan(kAtATime);
    }
    for (const Entry& entry : entries) visit(entry, find(entry));
  }

 private:
  std::vector<Entry> bounds_;
};

}  // namespace crawlstore::queue
