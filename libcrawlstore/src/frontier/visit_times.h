// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When a group may be visited: spec/frontier.md#step-runs, Rules of groups. Pure functions.

#include <algorithm>
#include <cstdint>

#include "frontier/group_table.h"
#include "frontier/intervals.h"

namespace crawlstore::frontier {

struct VisitTimes {
  std::uint64_t soft_from = 0;
  std::uint64_t hard_from = 0;  ///< at most soft_from
};

/// The times by the rule of the group itself.
inline VisitTimes own_visit_times(const Group& of, const GroupSetting& setting) {
  const auto from = [&](std::uint64_t next, std::uint64_t interval) {
    const auto ms = stretched(interval, of.failure_count);
    return std::max(setting.blocked_until, with_burst(next, ms, setting.rule.burst));
  };
  const std::uint64_t hard_from = from(of.hard_time, setting.rule.hard_ms);
  return {std::max(hard_from, from(of.soft_time, setting.rule.soft_ms)), hard_from};
}

/// The times by the rule of the group and of its parent.
inline VisitTimes visit_times(const GroupTable& groups, const Group& of,
                              const GroupSetting& setting) {
  VisitTimes times = own_visit_times(of, setting);
  if (!setting.parent) return times;
  const VisitTimes parent =
      own_visit_times(groups[*setting.parent], groups.setting(*setting.parent));
  return {std::max(times.soft_from, parent.soft_from), std::max(times.hard_from, parent.hard_from)};
}

/// Moves the times of a group that is visited at the clock.
inline void charge(Group& of, const format::GroupRule& rule, std::uint64_t clock) {
  const std::uint64_t soft_ms = stretched(rule.soft_ms, of.failure_count);
  const std::uint64_t hard_ms = stretched(rule.hard_ms, of.failure_count);
  of.soft_time = charged(of.soft_time, clock, soft_ms, rule.burst);
  of.hard_time = charged(of.hard_time, clock, hard_ms, rule.burst);
}

}  // namespace crawlstore::frontier
