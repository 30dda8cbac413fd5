// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When a group of a frontier may be visited, and why not now: what Frontier::take() goes by, as
/// spec/frontier.md#step-runs has it. Threads: pure functions. Times are milliseconds since 1970.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/frontier_view.h>

#include "model/table.h"

namespace crawlstore::model {

/// The parent of a group (FrontierRule::parent). A lease without an end ends at 0.
struct ParentState {
  FrontierGroup group;
  std::vector<std::uint64_t> lease_ends_ms{};  ///< as those of GroupState
};

/// A group, the times of its items, and its parent, whose rule a visit must keep, too.
struct GroupState {
  FrontierGroup group;
  std::optional<std::uint64_t> first_later_ms{};   ///< of the items whose time has not come
  std::optional<std::uint64_t> first_return_ms{};  ///< the first end of leases of its items
  /// Ends of all leases that count for its limit, those of its children too: ascending, those
  /// without an end at last.
  std::vector<std::uint64_t> lease_ends_ms{};
  std::shared_ptr<const ParentState> parent{};  ///< nullptr if it has none
};

/// Returns the time from which the group may be visited if nothing else happens: items come due and
/// leases end by themselves. By Frontier::next_due_ms(), too, a visit may come at the hard
/// interval, where no other group may be visited. nothing: never
std::optional<std::uint64_t> due_ms(const GroupState& state, const FrontierRule& default_rule);

/// From now to a time that is not before it.
struct ForecastTime {
  std::uint64_t now_ms = 0;
  std::uint64_t end_ms = 0;
};
/// Returns how many visits the rule of the group alone allows in that time at most, one by one and
/// at the hard interval; UINT64_MAX if it has no interval.
std::uint64_t visit_count_max(const GroupState& state, const FrontierRule& default_rule,
                              const ForecastTime& time);
std::uint64_t visit_count_max(const ParentState& state, const FrontierRule& default_rule,
                              const ForecastTime& time);

/// Returns why the group may not be visited now, in plain words; empty: it may. Where its parent
/// keeps it waiting for longer than its own rule, names the parent: "parent 10.0.0.1: delay of 2.0
/// s".
std::string why_not_now(const GroupState& state, const FrontierRule& default_rule,
                        std::uint64_t now_ms);

/// Returns when a time is, seen from now, in seconds; below 0: it has passed.
double seconds_from(std::uint64_t now_ms, std::uint64_t time_ms);

/// Returns due_ms() for a column of seconds from now, at least 0; nothing if it is never due.
Cell due_cell(const GroupState& state, const FrontierRule& default_rule, std::uint64_t now_ms);

/// Returns "2 wait, 1 later, 1 leased; in 3.2 s: delay of 2.0 s", for a line about a group.
std::string describe_group(const GroupState& state, const FrontierRule& default_rule,
                           std::uint64_t now_ms);

}  // namespace crawlstore::model
