// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When a group of a frontier may be visited, and why not now: what Frontier::take() goes by, as
/// spec/format.md#step-runs has it. Threads: pure functions. Times are milliseconds since 1970.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/frontier_view.h>

namespace crawlstore::model {

/// A group, and the times of its items. A lease without an end ends at 0.
struct GroupState {
  FrontierGroup group;
  std::optional<std::uint64_t> first_later_ms{};  ///< of the items whose time has not come
  std::vector<std::uint64_t> lease_ends_ms{};     ///< ascending, those without an end at last
};

/// Returns the time from which the group may be visited if nothing else happens: items come due and
/// leases end by themselves. By Frontier::next_due_ms(), too, a visit may come at the hard
/// interval, where no other group may be visited. nothing: never
std::optional<std::uint64_t> due_ms(const GroupState& state, const FrontierRule& default_rule);

/// Returns why the group may not be visited now, in plain words; empty: it may.
std::string why_not_now(const GroupState& state, const FrontierRule& default_rule,
                        std::uint64_t now_ms);

/// Returns when a time is, seen from now, in seconds; below 0: it has passed.
double seconds_from(std::uint64_t now_ms, std::uint64_t time_ms);

/// Returns "2 wait, 1 later, 1 leased; in 3.2 s: delay of 2.0 s", for a line about a group.
std::string describe_group(const GroupState& state, const FrontierRule& default_rule,
                           std::uint64_t now_ms);

}  // namespace crawlstore::model
