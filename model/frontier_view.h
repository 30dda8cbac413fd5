// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Frontiers, their groups and items. Ownership: tables own all they hold. Threads: as
/// FrontierView.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <crawlstore/frontier_view.h>

#include "model/frontier_due.h"
#include "model/table.h"

namespace crawlstore::model {

/// The frontiers by name, and why they cannot be told: then `frontiers` has names and ids alone,
/// and any of them can be tried. Reads their tables, and no item.
struct ReadableFrontiers {
  std::vector<FrontierInfo> frontiers;
  std::optional<Error> problem;
};
ReadableFrontiers readable_frontiers(const Snapshot& snapshot);

/// The counts of a frontier, its times and its default rule; and by how much its time is ahead of
/// the wall clock, which shows `wall_us`, if that is more than a second.
std::vector<Field> frontier_fields(const FrontierView& frontier, std::int64_t wall_us);
/// The same of a group.
std::vector<Field> group_fields(const FrontierGroup& group);
/// The same with when it may be visited, as seen from `now_ms`, and why not now.
std::vector<Field> due_group_fields(const GroupState& state, const FrontierRule& default_rule,
                                    std::uint64_t now_ms);

/// The table `frontiers`: one row a frontier.
Table frontiers_table(std::span<const FrontierInfo> frontiers);

/// The same with times, as of a file: when there is something to take, and bytes an item.
///   problem  the first thing that cannot be read, if it is nothing yet; some cells are empty then
///   cost     FrontierView::open() of each
Table due_frontiers_table(const Snapshot& snapshot, std::optional<Error>& problem);

/// The table `groups`: the first `count`, in the order in which they came.
Table groups_table(const FrontierView& frontier, std::size_t count);

/// A time of a frontier for a column `..._us`; of 0 nothing.
Cell time_cell(std::uint64_t time_ms);

/// Bounds the rows of a table of items, and says its columns.
struct ItemRows {
  std::size_t count = 0;
  /// Priorities come as a text, too, as JSON has no infinities, and bodies whatever they are.
  bool is_for_json = false;
  /// Bodies are records of crawlstored (service/core/url_record.h): URLs stand in their place.
  bool has_url_records = false;
};
/// The table `leases`, those whose lease ends first in front. `group`: of this one alone.
///   errors  of damage, here and below
Result<Table> leases_table(const FrontierView& frontier, ItemRows rows,
                           std::optional<std::string_view> group = {});
/// The table `items`: those whose time has not come, those of the lowest time in front.
Result<Table> later_table(const FrontierView& frontier, ItemRows rows);
/// The table `items`: those of a group that wait, the first to leave first.
Result<Table> waiting_items_table(const FrontierView& frontier, std::string_view group,
                                  ItemRows rows);
/// The table `items`: those that were taken.
Table taken_table(std::span<const TakenItem> items);

}  // namespace crawlstore::model
