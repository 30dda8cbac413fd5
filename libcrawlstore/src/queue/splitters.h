// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finding the bucket of an entry among many: what all insertions and loads pay for each entry.

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

/// Ascending bounds: bucket i has what is not below bound i - 1, and below bound i. The last bucket
/// has no bound.
class Splitters {
 public:
  [[nodiscard]] std::size_t size() const { return bounds_.size(); }
  [[nodiscard]] const Entry& bound(std::size_t bucket) const { return bounds_[bucket]; }

  /// Cuts a bucket into one more than there are bounds, which lie in it.
  void insert(std::size_t bucket, std::span<const Entry> bounds) {
    const auto place = static_cast<std::ptrdiff_t>(bucket);
    bounds_.insert(bounds_.begin() + place, bounds.begin(), bounds.end());
    std::vector<std::uint64_t> orders;
    for (const Entry& bound : bounds) orders.push_back(bound.order);
    orders_.insert(orders_.begin() + place, orders.begin(), orders.end());
  }
  /// Takes the first bounds away.
  void erase_front(std::size_t count) {
    bounds_.erase(bounds_.begin(), bounds_.begin() + static_cast<std::ptrdiff_t>(count));
    orders_.erase(orders_.begin(), orders_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  /// Keeps the first bounds.
  void resize(std::size_t count) {
    bounds_.resize(count);
    orders_.resize(count);
  }

  [[nodiscard]] std::size_t find(const Entry& entry) const {
    std::size_t bucket = first_from(entry.order);
    settle(entry, bucket);
    return bucket;
  }

  /// Calls visit(entry, bucket) for each, several searches at a time: one waits for memory while
  /// the others go on.
  template <class Visit>
  void find_all(std::span<const Entry> entries, const Visit& visit) const {
    constexpr std::size_t kAtATime = 8;
    while (entries.size() >= kAtATime) {
      std::size_t first[kAtATime] = {};
      for (std::size_t half = top_step(); half > 0; half /= 2) {
        for (std::size_t i = 0; i < kAtATime; ++i) {
          const std::size_t next = first[i] + half;
          const bool is_right = next <= orders_.size() &&
                                orders_[std::min(next, orders_.size()) - 1] < entries[i].order;
          first[i] = is_right ? next : first[i];
        }
      }
      for (std::size_t i = 0; i < kAtATime; ++i) {
        settle(entries[i], first[i]);
        visit(entries[i], first[i]);
      }
      entries = entries.subspan(kAtATime);
    }
    for (const Entry& entry : entries) visit(entry, find(entry));
  }

 private:
  [[nodiscard]] std::size_t top_step() const { return std::bit_floor(orders_.size()); }
  /// The number of bounds of a lower order.
  [[nodiscard]] std::size_t first_from(std::uint64_t order) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(orders_, order) - orders_.begin());
  }
  /// From the number of bounds of a lower order to the bucket: bounds of the same one count too.
  void settle(const Entry& entry, std::size_t& bucket) const {
    if (bucket == bounds_.size() || bounds_[bucket].order != entry.order) return;
    const auto from = bounds_.begin() + static_cast<std::ptrdiff_t>(bucket);
    bucket =
        static_cast<std::size_t>(std::upper_bound(from, bounds_.end(), entry) - bounds_.begin());
  }

  std::vector<Entry> bounds_;
  std::vector<std::uint64_t> orders_;  // of bounds_: half the memory to search
};

}  // namespace crawlstore::queue
