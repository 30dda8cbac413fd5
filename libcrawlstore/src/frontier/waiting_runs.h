// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "frontier/dead_entries.h"
#include "frontier/item_run.h"

namespace crawlstore::frontier {

/// A run by group, and how many of the items of each of its groups have left: the first ones.
struct WaitingRun {
  ItemRunPtr run;
  std::vector<std::uint32_t> left;  ///< of the groups in the order of the directory
  std::uint64_t waiting_count = 0;  ///< items that have not left, dead ones among them

  explicit WaitingRun(ItemRunPtr of_run)
      : run(std::move(of_run)), left(run->group_count(), 0), waiting_count(run->item_count()) {}
  /// The numbers of the items of the group at a place that wait.
  [[nodiscard]] format::ItemRange waiting_at(std::size_t place) const {
    const auto items = run->items_at(place);
    return {items.begin + left[place], items.end};
  }
};

/// All that there is of items in runs.
struct ItemsInRuns {
  std::vector<WaitingRun> runs;
  DeadEntries dead;
};

/// The items that wait in runs. Threads: one at a time. Memory: 4 bytes a group, and 4 for each
/// group of each run.
class WaitingRuns {
 public:
  /// The most that there can be: a group has a bit for each.
  static constexpr std::size_t kMax = 32;

  [[nodiscard]] const ItemsInRuns& all() const { return all_; }
  [[nodiscard]] std::span<const WaitingRun> runs() const { return all_.runs; }
  [[nodiscard]] const DeadEntries& dead() const { return all_.dead; }
  [[nodiscard]] bool has(std::uint32_t group) const {
    return group < bits_.size() && bits_[group] != 0;
  }
  /// Items of a group that wait here.
  [[nodiscard]] std::uint64_t count(std::uint32_t group) const {
    std::uint64_t count = 0;
    for_each_of(group, [&](std::size_t /*run*/, const format::ItemRange& items) {
      count += items.end - items.begin;
    });
    return count - std::min(count, dead().count(group));
  }
  /// Calls of(number of a run, numbers of its items) for each run with items of a group that have
  /// not left, dead ones among them.
  template <class Of>
  void for_each_of(std::uint32_t group, const Of& of) const {
    if (!has(group)) return;
    for (std::size_t run = 0; run < runs().size(); ++run) {
      if ((bits_[group] >> run & 1) == 0) continue;
      of(run, runs()[run].waiting_at(*runs()[run].run->place_of(group)));
    }
  }

  /// Puts these runs, at most kMax, in the place of all others.
  void set(ItemsInRuns all) {
    all_ = std::move(all);
    bits_.clear();
    for (std::size_t run = 0; run < runs().size(); ++run) {
      const ItemRun& items = *runs()[run].run;
      const std::size_t end = std::size_t{items.group(items.group_count() - 1)} + 1;
      bits_.resize(std::max(bits_.size(), end), 0);
      for (std::size_t place = 0; place < items.group_count(); ++place) {
        const auto waiting = runs()[run].waiting_at(place);
        if (waiting.begin < waiting.end) bits_[items.group(place)] |= std::uint32_t{1} << run;
      }
    }
  }
  /// The first items of a group, so many of which have not left this run, leave.
  void leave(std::size_t run, std::uint32_t group, std::uint64_t count) {
    WaitingRun& of = all_.runs[run];
    const std::size_t place = *of.run->place_of(group);
    of.left[place] += static_cast<std::uint32_t>(count);
    of.waiting_count -= count;
    const auto waiting = of.waiting_at(place);
    if (waiting.begin == waiting.end) bits_[group] &= ~(std::uint32_t{1} << run);
  }
  /// All items of a group leave. Returns how many waited.
  std::uint64_t leave_all(std::uint32_t group) {
    const std::uint64_t count_before = count(group);
    std::vector<std::pair<std::size_t, std::uint64_t>> counts;
    for_each_of(group, [&](std::size_t run, const format::ItemRange& items) {
      counts.emplace_back(run, items.end - items.begin);
    });
    for (const auto& [run, count] : counts) leave(run, group, count);
    all_.dead.take_all(group);
    return count_before;
  }
  /// Entries of an item do not count any more.
  void end(std::uint32_t group, std::uint64_t id, const DeadEntries::Mark& mark) {
    all_.dead.add(group, id, mark);
  }
  /// A dead entry has left.
  void forget(std::uint32_t group, std::uint64_t id) { all_.dead.take(group, id); }

 private:
  ItemsInRuns all_;
  std::vector<std::uint32_t> bits_;  // of each group the runs with items that have not left
};

}  // namespace crawlstore::frontier
