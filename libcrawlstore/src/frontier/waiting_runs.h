// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "frontier/gone_items.h"
#include "frontier/item_run.h"

namespace crawlstore::frontier {

/// A run by group, and how many of the items of each of its groups have left: the first ones.
/// Invariant: the first one of a group that has not left is not gone.
struct WaitingRun {
  ItemRunPtr run;
  std::vector<std::uint32_t> left;  ///< of the groups in the order of the directory
  GoneItems gone;
  std::uint64_t waiting_count = 0;  ///< items that have not left, and are not gone

  explicit WaitingRun(ItemRunPtr of_run)
      : run(std::move(of_run)), left(run->group_count(), 0), waiting_count(run->item_count()) {}
  /// The numbers of the items of the group at a place that have not left.
  [[nodiscard]] format::ItemRange waiting_at(std::size_t place) const {
    const auto items = run->items_at(place);
    return {items.begin + left[place], items.end};
  }
  /// The items of the group at a place up to number `end` leave. Returns how many of them waited.
  std::uint64_t leave(std::size_t place, std::uint64_t end) {
    const auto items = waiting_at(place);
    const std::uint64_t count = end - items.begin - gone.count(items.begin, end);
    waiting_count -= count;
    const std::uint64_t next = gone.first_there(end, items.end);
    left[place] += static_cast<std::uint32_t>(next - items.begin);
    return count;
  }
};

/// The items that wait in runs. Threads: one at a time. Memory: 4 bytes a group, and 4 for each
/// group of each run; a bit for each item of runs of which some are gone.
class WaitingRuns {
 public:
  /// The most that there can be: a group has a bit for each.
  static constexpr std::size_t kMax = 32;

  [[nodiscard]] const std::vector<WaitingRun>& all() const { return runs_; }
  [[nodiscard]] bool has(std::uint32_t group) const {
    return group < bits_.size() && bits_[group] != 0;
  }
  /// Items of a group that wait here.
  [[nodiscard]] std::uint64_t count(std::uint32_t group) const {
    std::uint64_t count = 0;
    for_each_of(group, [&](std::size_t run, const format::ItemRange& items) {
      count += items.end - items.begin - runs_[run].gone.count(items.begin, items.end);
    });
    return count;
  }
  /// Calls of(number of a run, numbers of its items) for each run with items of a group that have
  /// not left; some of them may be gone.
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
  /// The items of a group up to number `end` leave a run. Returns how many of them waited.
  std::uint64_t leave(std::size_t run, std::uint32_t group, std::uint64_t end) {
    const std::size_t place = *runs_[run].run->place_of(group);
    const std::uint64_t count = runs_[run].leave(place, end);
    note_whether_empty(run, place);
    return count;
  }
  /// All items of a group leave. Returns how many waited.
  std::uint64_t leave_all(std::uint32_t group) {
    std::uint64_t count = 0;
    std::vector<std::pair<std::size_t, std::uint64_t>> ends;
    for_each_of(group, [&](std::size_t run, const format::ItemRange& items) {
      ends.emplace_back(run, items.end);
    });
    for (const auto& [run, end] : ends) count += leave(run, group, end);
    return count;
  }
  /// Item `number` of a group, which waits in a run, is gone.
  void end(std::size_t run, std::uint32_t group, std::uint64_t number) {
    const std::size_t place = *runs_[run].run->place_of(group);
    runs_[run].gone.add(number);
    --runs_[run].waiting_count;
    runs_[run].leave(place, runs_[run].waiting_at(place).begin);
    note_whether_empty(run, place);
  }

 private:
  void note_whether_empty(std::size_t run, std::size_t place) {
    const auto waiting = runs_[run].waiting_at(place);
    if (waiting.begin == waiting.end) {
      bits_[runs_[run].run->group(place)] &= ~(std::uint32_t{1} << run);
    }
  }

  std::vector<WaitingRun> runs_;
  std::vector<std::uint32_t> bits_;  // of each group the runs with items that have not left
};

}  // namespace crawlstore::frontier
