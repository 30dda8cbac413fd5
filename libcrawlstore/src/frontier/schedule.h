// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <crawlstore/frontier_items.h>

#include "frontier/group_heap.h"

namespace crawlstore::frontier {

/// A group of which an item may be taken: its best item, or 0 and 0 while nobody has looked for it,
/// and the times from which it may be visited, in milliseconds since 1970: `soft_from`, or, where
/// nothing else may be, `hard_from`.
struct Visitable {
  std::uint64_t order = 0;
  std::uint64_t id = 0;
  std::uint64_t soft_from = 0;
  std::uint64_t hard_from = 0;  ///< at most soft_from
};

/// The groups that may be visited now or later. Threads: one at a time. Cost: O(log n).
class Schedule {
 public:
  void set(std::uint32_t group, const Visitable& visitable) {
    if (visitable.soft_from <= clock_) {
      soft_.remove(group);
      ready_.set(group, {visitable.order, visitable.id});
      by_time_.set(group, visitable.soft_from);
      return;
    }
    ready_.remove(group);
    soft_.set(group, visitable.soft_from);
    by_time_.set(group, kAsleep + visitable.hard_from);
  }
  void remove(std::uint32_t group) {
    ready_.remove(group);
    soft_.remove(group);
    by_time_.remove(group);
  }

  void set_clock(std::uint64_t clock) { clock_ = clock; }
  /// Takes off the schedule a group whose soft time has come: the caller sets it again. None: there
  /// are no more.
  std::optional<std::uint32_t> wake() {
    if (soft_.is_empty() || soft_.first_key() > clock_) return std::nullopt;
    const std::uint32_t group = soft_.first();
    remove(group);
    return group;
  }

  /// The group with the best item of those that were set when their soft time had come, or the one
  /// of these whose soft time came first; without such groups the one whose hard time came first.
  [[nodiscard]] std::optional<std::uint32_t> next(TakeOrder order) const {
    if (!ready_.is_empty()) return order == TakeOrder::kBest ? ready_.first() : by_time_.first();
    if (by_time_.is_empty() || by_time_.first_key() - kAsleep > clock_) return std::nullopt;
    return by_time_.first();
  }
  /// Tells whether next() could have the group if there were no others.
  [[nodiscard]] bool may_visit(std::uint32_t group) const {
    const std::uint64_t* const time = by_time_.find(group);
    return time != nullptr && (*time & ~kAsleep) <= clock_;
  }
  /// The groups that next() may give, and where they stand.
  struct Front {
    std::optional<std::uint32_t> ready{};
    std::optional<std::uint32_t> by_time{};
    std::uint64_t time_key = 0;
    friend bool operator==(const Front&, const Front&) = default;
  };
  [[nodiscard]] Front front() const {
    Front front;
    if (!ready_.is_empty()) front.ready = ready_.first();
    if (by_time_.is_empty()) return front;
    front.by_time = by_time_.first();
    front.time_key = by_time_.first_key();
    return front;
  }
  /// The time from which next() has one if nothing changes, not before the clock; none: there is no
  /// group.
  [[nodiscard]] std::optional<std::uint64_t> due() const {
    if (!ready_.is_empty()) return clock_;
    if (by_time_.is_empty()) return std::nullopt;
    return std::max(clock_, by_time_.first_key() - kAsleep);
  }

 private:
  /// Above all times: groups that are not yet ready come behind the others.
  static constexpr std::uint64_t kAsleep = std::uint64_t{1} << 63;

  std::uint64_t clock_ = 0;
  GroupHeap<std::pair<std::uint64_t, std::uint64_t>> ready_;  // by the best item
  GroupHeap<std::uint64_t> soft_;                             // by soft_from: not yet ready
  GroupHeap<std::uint64_t> by_time_;  // those that are ready by soft_from, others by hard_from
};

}  // namespace crawlstore::frontier
