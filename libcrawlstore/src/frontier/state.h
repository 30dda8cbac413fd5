// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "format/steps.h"
#include "frontier/coming.h"
#include "frontier/group_table.h"
#include "frontier/later_items.h"
#include "frontier/later_run.h"
#include "frontier/leases.h"
#include "frontier/schedule.h"
#include "frontier/waiting_runs.h"

namespace crawlstore::frontier {

/// Told of each item that a visit takes; its failure ends the step half made.
using OnTaken = std::function<Result<void>(const Lease&)>;

/// The runs that a checkpoint has, and the items that come into them.
struct StoredItems {
  std::vector<WaitingRun> runs{};
  std::vector<LaterRun> later{};
  bool is_rewritten = false;             ///< items have other orders
  bool has_waiting = false;              ///< what was in memory, and may be taken the first time
  bool has_later = false;                ///< what was in memory, and may be so later
  std::vector<format::Item> left_out{};  ///< which waited twice, or are gone
};

/// A frontier: what all steps so far have made of it. There is no other way to change it than
/// steps, so whoever applies those of a file has what its writer had: spec/frontier.md#step-runs.
/// Items that were never taken may be in runs, unless their time has come since; all others are in
/// memory.
///
/// Threads: one at a time. Memory: about 100 bytes an item besides its body, unless it is in a run;
/// 8 a group of each run by group. Cost of a step: about a microsecond; of a clock for each item
/// whose time has come.
class State {
 public:
  explicit State(const format::GroupRule& default_rule) : groups_(default_rule) {}

  /// Makes a step, whose values are in the ranges of the format.
  ///   in      of a piece: puts are of what waits, and no limits are looked at
  ///   errors  kSegmentInvalid: it contradicts what is there; kUnknownFeature: it is of something
  ///           that this version does not have; of damage. But for lists, and where `taken`
  ///           fails, nothing has changed then
  Result<void> apply(const format::Step& step, const OnTaken& taken = {},
                     format::StepsIn in = format::StepsIn::kJournal);
  /// Takes these runs, of which nothing has left, before any step.
  ///   errors  kSegmentInvalid: one is of groups that are none; kUnknownFeature: they are too many
  Result<void> add_runs(const std::vector<ItemRunPtr>& runs);
  /// Takes the clock of a piece, which is the same in all: what has a time up to it has left.
  ///   errors  those of ItemRun::read_block()
  Result<void> begin(std::uint64_t clock);
  /// The items of its runs are in these now.
  void rearrange(StoredItems items);
  /// Reads the bodies of all items that were taken into memory, so that any run may go.
  ///   errors  those of Body::hold()
  Result<void> hold_bodies();

  [[nodiscard]] std::uint64_t clock() const { return clock_; }
  [[nodiscard]] std::uint64_t waiting_count() const { return waiting_count_; }
  /// Above the ids of all items that waited or were leased.
  [[nodiscard]] std::uint64_t next_id() const { return next_id_; }
  [[nodiscard]] const GroupTable& groups() const { return groups_; }
  [[nodiscard]] const Leases& leases() const { return leases_; }
  [[nodiscard]] const LaterItems& later() const { return later_; }
  [[nodiscard]] const WaitingRuns& runs() const { return runs_; }

  /// Looks for groups whose time has come, at most `count_max`: those that wait longest. The next
  /// call goes on. Cost: about a microsecond a group, also of the children of a parent that has got
  /// room, or was visited and may not be visited again.
  void wake(std::size_t count_max);
  /// The group that should be visited next, of those that are awake; none: no group may be visited
  /// at the clock. Cost: of each group that has changed a look into the runs that have it, where
  /// the order is by items.
  ///   only    of this one: where it may be visited if no other may
  ///   errors  those of ItemRun::item()
  Result<std::optional<std::uint32_t>> next_group(TakeOrder order,
                                                  std::optional<std::uint32_t> only = {});
  /// The time from which there will be one, or a lease ends, if nothing else happens; none: never.
  /// With parents it may be too early where no wake(0) came behind the last step.
  [[nodiscard]] std::optional<std::uint64_t> next_due() const;
  /// Visits a group: takes its first items, at most `count_max`. It is not next_group() any more
  /// until place() is called.
  ///   expected  the same, where it was made before
  ///   errors    kSegmentInvalid: it is not what was expected; those of ItemRun::item()
  Result<format::VisitStep> visit(std::uint32_t group, std::uint32_t count_max,
                                  const OnTaken& taken,
                                  const format::VisitStep* expected = nullptr);
  void place(std::uint32_t group);

 private:
  class Steps;
  Result<void> add_later_run(const ItemRunPtr& run);
  void wait(std::uint32_t group, Item item, std::uint64_t time);
  std::optional<LaterItem> take_held(std::uint32_t group, std::uint64_t id, bool is_again = false);

  std::uint64_t clock_ = 0;
  std::uint64_t lease_until_ = 0;  // of the visits to come
  std::uint64_t waiting_count_ = 0;
  std::uint64_t next_id_ = 0;
  GroupTable groups_;
  WaitingRuns runs_;
  LaterItems later_;
  Leases leases_;
  Schedule schedule_;
};

}  // namespace crawlstore::frontier
