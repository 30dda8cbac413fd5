// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <crawlstore/error.h>

#include "format/steps.h"
#include "frontier/group_table.h"
#include "frontier/later_items.h"
#include "frontier/leases.h"
#include "frontier/schedule.h"

namespace crawlstore::frontier {

/// A frontier in memory: what all steps so far have made of it. There is no other way to change it
/// than steps, so whoever applies those of a file has what its writer had:
/// spec/format.md#step-runs.
///
/// Threads: one at a time. Memory: all items. Cost of a step: about a microsecond.
class State {
 public:
  explicit State(const format::GroupRule& default_rule) : groups_(default_rule) {}

  /// Told of each item that a visit takes.
  using Taken = std::function<void(const Lease&)>;

  /// Makes a step, whose values are in the ranges of the format.
  ///   errors  kSegmentInvalid: it contradicts what is there; kUnknownFeature: it is of something
  ///           that this version does not have; but for a finish nothing has changed then
  Result<void> apply(const format::Step& step, const Taken& taken = {});
  /// Gives the next number to a group that is not in a step, but in a run of groups.
  ///   errors  kSegmentInvalid: there is a group with this key
  Result<void> add_group(std::string_view key);

  [[nodiscard]] std::uint64_t clock() const { return clock_; }
  [[nodiscard]] std::uint64_t waiting_count() const { return waiting_count_; }
  /// Above the ids of all items that waited or were leased.
  [[nodiscard]] std::uint64_t next_id() const { return next_id_; }
  [[nodiscard]] const GroupTable& groups() const { return groups_; }
  [[nodiscard]] const Leases& leases() const { return leases_; }
  [[nodiscard]] const LaterItems& later() const { return later_; }
  /// The group of an item that was taken before, and waits again.
  [[nodiscard]] std::optional<std::uint32_t> group_of_again(std::uint64_t id) const;

  /// The group that should be visited next; none: no group may be visited at the clock.
  [[nodiscard]] std::optional<std::uint32_t> next_group() const { return schedule_.next(); }
  /// The time from which there will be one, or a lease ends, if nothing else happens; none: never.
  [[nodiscard]] std::optional<std::uint64_t> next_due() const;
  /// The visit to a group that takes its first items, at most `count_max` and as many as its rule
  /// lets be in flight.
  [[nodiscard]] format::VisitStep visit_of(std::uint32_t group, std::uint32_t count_max) const;
  /// Keeps a group from next_group(), until show().
  void hide(std::uint32_t group) { schedule_.remove(group); }
  void show(std::uint32_t group) { place(group); }

  /// Calls write(Step) with each step of a piece of these groups.
  using Write = std::function<void(const format::Step&)>;
  void write_piece(std::uint32_t first_group, std::uint32_t end_group, const Write& write) const;

 private:
  class Steps;
  void wait(std::uint32_t group, Item item, std::uint64_t time);
  std::optional<LaterItem> take_waiting(std::uint32_t group, std::uint64_t id);
  void place(std::uint32_t group);

  std::uint64_t clock_ = 0;
  std::uint64_t lease_until_ = 0;  // of the visits to come
  std::uint64_t waiting_count_ = 0;
  std::uint64_t next_id_ = 0;
  GroupTable groups_;
  LaterItems later_;
  Leases leases_;
  // Groups of items that were taken before, and wait again, by id.
  std::unordered_map<std::uint64_t, std::uint32_t, SeededHash> again_;
  Schedule schedule_;
};

}  // namespace crawlstore::frontier
