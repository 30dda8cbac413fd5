// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "frontier/item_run.h"

namespace crawlstore::frontier {

/// A run by group, and how many of the items of each of its groups have left: the first ones.
struct WaitingRun {
  ItemRunPtr run;
  std::vector<std::uint32_t> left;  ///< of the groups in the order of the directory
  std::uint64_t waiting_count = 0;  ///< items that have not left

  explicit WaitingRun(ItemRunPtr of_run)
      : run(std::move(of_run)), left(run->group_count(), 0), waiting_count(run->item_count()) {}
  /// The numbers of the items of the group at a place that wait.
  [[nodiscard]] format::ItemRange waiting_at(std::size_t place) const {
    const auto items = run->items_at(place);
    return {items.begin + left[place], items.end};
  }
};

/// The items that wait in runs. Threads: one at a time. Memory: 4 bytes a group, and 4 for each
/// group of each run.
class WaitingRuns {
 public:
  /// The most that there can be: a group has a bit for each.
  static constexpr std::size_t kMax = 32;

  [[nodiscard]] std::span<const WaitingRun> all() const { return runs_; }
  [[nodiscard]] bool has(std::uint32_t group) const {
    return group < bits_.size() && bits_[group] != 0;
  }
  /// Items of a group that wait here.
  [[nodiscard]] std::uint64_t count(std::uint32_t group) const {
    std::uint64_t count = 0;
    for_each_of(group, [&](std::size_t /*run*/, const format::ItemRange& items) {
      count += items.end - items.begin;
    });
    return count;
  }
  /// Calls of(number of a run, numbers of its items) for each run with items of a group that wait.
  template <class Of>
  void for_each_of(std::uint32_t group, const Of& of) const {
    if (!has(group)) return;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if ((bits_[group] >> run & 1) == 0) continue;
      of(run, runs_[run].waiting_at(*runs_[run].run->place_of(group)));
    }
  }

  /// Puts these runs, at most kMax, in the place of all others.
  void set(std::vector<WaitingRun> runs) {
    runs_ = std::move(runs);
    bits_.clear();
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const ItemRun& items = *runs_[run].run;
      const std::size_t end = std::size_t{items.group(items.group_count() - 1)} + 1;
      bits_.resize(std::max(bits_.size(), end), 0);
      for (std::size_t place = 0; place < items.group_count(); ++place) {
        const auto waiting = runs_[run].waiting_at(place);
        if (waiting.begin < waiting.end) bits_[items.group(place)] |= std::uint32_t{1} << run;
      }
    }
  }
  /// The first items of a group, so many of which wait in this run, leave.
  void leave(std::size_t run, std::uint32_t group, std::uint64_t count) {
    WaitingRun& of = runs_[run];
    const std::size_t place = *of.run->place_of(group);
    of.left[place] += static_cast<std::uint32_t>(count);
    of.waiting_count -= count;
    const auto waiting = of.waiting_at(place);
    if (waiting.begin == waiting.end) bits_[group] &= ~(std::uint32_t{1} << run);
  }
  /// All items of a group leave. Returns how many.
  std::uint64_t leave_all(std::uint32_t group) {
    std::vector<std::pair<std::size_t, std::uint64_t>> counts;
    for_each_of(group, [&](std::size_t run, const format::ItemRange& items) {
      counts.emplace_back(run, items.end - items.begin);
    });
    std::uint64_t sum = 0;
    for (const auto& [run, count] : counts) {
      leave(run, group, count);
      sum += count;
    }
    return sum;
  }

 private:
  std::vector<WaitingRun> runs_;
  std::vector<std::uint32_t> bits_;  // of each group the runs with items that wait
};

}  // namespace crawlstore::frontier
