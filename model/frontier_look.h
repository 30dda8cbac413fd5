// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A frontier as somebody sees it who waits for what is due: all groups with their times, and how
/// many things fall due in the next minutes. Ownership: values, which hold no item. Threads: as
/// FrontierView. Times are milliseconds since 1970.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <crawlstore/frontier_view.h>

#include "model/frontier_due.h"
#include "model/table_source.h"

namespace crawlstore::model {

struct FrontierLook {
  FrontierInfo info;
  std::vector<GroupState> groups;  ///< those that are due first in front, by key
  std::optional<std::uint64_t> next_due_ms;
  std::vector<std::uint64_t> due_ms;         ///< of groups that will be, ascending
  std::vector<std::uint64_t> later_ms;       ///< of items whose time has not come, ascending
  std::vector<std::uint64_t> lease_ends_ms;  ///< of leases that have an end, ascending
  std::uint64_t endless_count = 0;           ///< leases that have none

  /// nullptr: there is no group of this key
  [[nodiscard]] const GroupState* find(std::string_view key) const;
};
/// errors  of damage
/// cost    two passes over groups, one over items whose time has not come, and over leases
Result<FrontierLook> look_at(const FrontierView& frontier);
/// Returns the same with the groups in the order in which they came, and without `due_ms`.
Result<FrontierLook> read_look(const FrontierView& frontier);
/// One group, at the cost of a pass over leases, each group of which is looked up, and, if it has
/// some, over later items.
Result<std::optional<GroupState>> group_state(const FrontierView& frontier, std::string_view key);

/// Counts of what falls due in an interval.
struct DueCounts {
  std::uint64_t group_count = 0;
  std::uint64_t later_count = 0;
  std::uint64_t lease_end_count = 0;
  friend bool operator==(const DueCounts&, const DueCounts&) = default;
};
/// The next ten minutes. An interval has its end, but not its beginning.
struct Timeline {
  static constexpr std::size_t kIntervals = 60;
  static constexpr std::uint64_t kIntervalMs = 10'000;
  DueCounts overdue;  ///< due now, or before
  std::array<DueCounts, kIntervals> intervals{};
  DueCounts beyond;
};
/// cost    O(log n) an interval
Timeline timeline_at(const FrontierLook& look, std::uint64_t now_ms);

/// The table `groups` with times seen from `now_ms`, its rows made when they are asked for.
///   is_in_memory  as TableSource has it: whether it is cheap to go through all rows
std::shared_ptr<const TableSource> group_rows(std::shared_ptr<const FrontierLook> look,
                                              std::uint64_t now_ms, bool is_in_memory);

/// A table with one column more in front of the column `time_us`: how long that is from now, in a
/// column `name`.
struct FromNow {
  std::string_view time_us;
  std::string_view name;
};
std::shared_ptr<const TableSource> rows_from_now(std::shared_ptr<const TableSource> rows,
                                                 const FromNow& columns, std::uint64_t now_ms);

}  // namespace crawlstore::model
