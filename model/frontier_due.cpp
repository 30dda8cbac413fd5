// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_due.h"

#include <algorithm>
#include <utility>

#include "model/format_text.h"

namespace crawlstore::model {
namespace {

constexpr std::uint32_t kDoublingsMax = 6;
constexpr std::uint64_t kTimeMax = (std::uint64_t{1} << 48U) - 1;
constexpr std::uint64_t kNever = UINT64_MAX;
constexpr const char* kNotActive = "not active";

std::uint64_t stretched(std::uint64_t ms, std::uint32_t failure_count) {
  return std::min(kTimeMax, ms << std::min(failure_count, kDoublingsMax));
}

/// The time of a visit that is one of a burst, where `next_ms` is that of even visits.
std::uint64_t with_burst(std::uint64_t next_ms, std::uint64_t interval_ms, std::uint32_t burst) {
  if (burst <= 1 || interval_ms == 0) return next_ms;
  return burst - 1 > next_ms / interval_ms ? 0 : next_ms - (burst - 1) * interval_ms;
}

/// The time from which a lease may be made when at most `in_flight_max` are under way at a time; 0
/// if there is room, kNever if too many leases have no end.
std::uint64_t room_from(const std::vector<std::uint64_t>& lease_ends_ms,
                        std::uint32_t in_flight_max) {
  if (lease_ends_ms.size() < in_flight_max) return 0;
  const std::uint64_t end_ms = lease_ends_ms[lease_ends_ms.size() - in_flight_max];
  return end_ms == 0 ? kNever : end_ms;
}

/// A group, or a parent, by its own rule alone.
struct ByRule {
  const FrontierGroup& group;
  const FrontierRule& rule;
  std::uint64_t room_ms = 0;       ///< from which fewer than the most are in flight
  std::uint64_t hard_from_ms = 0;  ///< by the intervals, without what blocks it, as the next one
  std::uint64_t soft_from_ms = 0;

  /// Returns the time from which the rule allows a visit.
  [[nodiscard]] std::uint64_t due_ms() const {
    if (!rule.is_active) return kNever;
    return std::max({room_ms, rule.blocked_until_ms, hard_from_ms});
  }
  /// Orders rules by how long they make a visit wait from now on, then by how long they should.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> wait(std::uint64_t now_ms) const {
    const std::uint64_t from_ms = std::max(now_ms, due_ms());
    return {from_ms, std::max(from_ms, soft_from_ms)};
  }
};

template <class State>
ByRule by_rule(const State& state, const FrontierRule& default_rule) {
  const FrontierGroup& group = state.group;
  const FrontierRule& rule = group.rule ? *group.rule : default_rule;
  const auto from = [&](std::uint64_t next_ms, std::uint64_t interval_ms) {
    return with_burst(next_ms, stretched(interval_ms, group.failure_count), rule.burst);
  };
  const std::uint64_t hard_from_ms = from(group.hard_time_ms, rule.hard_ms);
  return {group, rule, room_from(state.lease_ends_ms, rule.in_flight_max), hard_from_ms,
          std::max(hard_from_ms, from(group.soft_time_ms, rule.delay_ms))};
}

/// Counts visits by `end_ms` at an interval from `even_ms` on, and those that a burst lets come
/// earlier.
std::uint64_t even_visits(std::uint64_t even_ms, std::uint64_t interval_ms, std::uint64_t burst,
                          std::uint64_t end_ms) {
  if (interval_ms == 0) return UINT64_MAX;
  if (even_ms <= end_ms) return burst + (end_ms - even_ms) / interval_ms;
  const std::uint64_t early = (even_ms - end_ms + interval_ms - 1) / interval_ms;
  return burst - std::min(burst, early);
}

std::uint64_t visits_by(const ByRule& by, const ForecastTime& time) {
  const std::uint64_t from_ms = std::max(time.now_ms, by.due_ms());
  if (from_ms > time.end_ms) return 0;
  const std::uint64_t even_ms = std::max(from_ms, by.group.hard_time_ms);
  const std::uint64_t interval_ms = by.rule.hard_ms;
  const std::uint64_t burst = by.rule.burst;
  if (by.group.failure_count == 0 || interval_ms == 0) {
    return even_visits(even_ms, interval_ms, burst, time.end_ms);
  }
  // The first visit is one by the interval after failures, and succeeds.
  const std::uint64_t longer_ms = stretched(interval_ms, by.group.failure_count);
  return 1 + even_visits(even_ms + longer_ms, interval_ms, burst, time.end_ms);
}

/// The time from which an item waits; 0: one does. kNever: none does by itself
std::uint64_t waits_from(const GroupState& state) {
  if (state.group.waiting_count > 0) return 0;
  return std::min(state.first_later_ms.value_or(kNever), state.first_return_ms.value_or(kNever));
}

std::string in_words(std::uint64_t ms) {
  return ms < 1000 ? format_count(ms) + " ms" : format_duration(static_cast<double>(ms) / 1000);
}

std::string format_from_now(std::uint64_t now_ms, std::uint64_t time_ms) {
  return format_cell(seconds_from(now_ms, time_ms), Unit::kFromNow);
}

std::string why_nothing_waits(const GroupState& state, std::uint64_t now_ms) {
  const std::uint64_t leased_count = state.group.leased_count;
  const std::string leased = leased_count == 0 ? "" : ", " + format_count(leased_count) + " leased";
  if (!state.first_later_ms) return "nothing waits" + leased;
  return "only later items, the first " + format_from_now(now_ms, *state.first_later_ms) + leased;
}

std::string why_full(const ByRule& by, std::uint64_t now_ms) {
  return "in-flight limit of " + format_count(by.rule.in_flight_max) + " reached, " +
         (by.room_ms != kNever ? "a lease ends " + format_from_now(now_ms, by.room_ms)
                               : "no lease has an end");
}

/// Returns why an active group may not be visited by its own rule, though an item waits; empty: it
/// may.
std::string why_by_rule(const ByRule& by, std::uint64_t now_ms) {
  if (by.room_ms > now_ms) return why_full(by, now_ms);
  const std::uint64_t blocked_ms = by.rule.blocked_until_ms;
  if (blocked_ms > std::max(now_ms, by.soft_from_ms)) {
    return "blocked until " + format_time(static_cast<std::int64_t>(blocked_ms * 1000));
  }
  if (by.soft_from_ms <= now_ms) return {};
  const std::uint32_t failure_count = by.group.failure_count;
  std::string delay = "delay of " + in_words(stretched(by.rule.delay_ms, failure_count));
  if (failure_count == 0) return delay;
  return "back-off after " + format_counted(failure_count, "failure") + ": " + delay;
}

std::string parent_says(const ByRule& parent, const std::string& why) {
  return "parent " + format_printable(parent.group.key) + ": " + why;
}

}  // namespace

std::optional<std::uint64_t> due_ms(const GroupState& state, const FrontierRule& default_rule) {
  std::uint64_t due = std::max(waits_from(state), by_rule(state, default_rule).due_ms());
  if (state.parent) due = std::max(due, by_rule(*state.parent, default_rule).due_ms());
  return due == kNever ? std::nullopt : std::optional(due);
}

std::uint64_t visit_count_max(const GroupState& state, const FrontierRule& default_rule,
                              const ForecastTime& time) {
  return visits_by(by_rule(state, default_rule), time);
}

std::uint64_t visit_count_max(const ParentState& state, const FrontierRule& default_rule,
                              const ForecastTime& time) {
  return visits_by(by_rule(state, default_rule), time);
}

std::string why_not_now(const GroupState& state, const FrontierRule& default_rule,
                        std::uint64_t now_ms) {
  const ByRule own = by_rule(state, default_rule);
  if (!own.rule.is_active) return kNotActive;
  std::optional<ByRule> parent;
  if (state.parent) parent.emplace(by_rule(*state.parent, default_rule));
  if (parent && !parent->rule.is_active) return parent_says(*parent, kNotActive);
  if (waits_from(state) > now_ms) return why_nothing_waits(state, now_ms);
  const bool is_parent = parent && parent->wait(now_ms) > own.wait(now_ms);
  const ByRule& longest = is_parent ? *parent : own;
  std::string text = why_by_rule(longest, now_ms);
  if (text.empty()) return text;
  if (is_parent) text = parent_says(*parent, text);
  return longest.due_ms() > now_ms ? text : text + ", now only if no other group is due";
}

double seconds_from(std::uint64_t now_ms, std::uint64_t time_ms) {
  return (static_cast<double>(time_ms) - static_cast<double>(now_ms)) / 1000;
}

Cell due_cell(const GroupState& state, const FrontierRule& default_rule, std::uint64_t now_ms) {
  const auto due = due_ms(state, default_rule);
  return due ? Cell(seconds_from(now_ms, std::max(*due, now_ms))) : Cell();
}

std::string describe_group(const GroupState& state, const FrontierRule& default_rule,
                           std::uint64_t now_ms) {
  const FrontierGroup& group = state.group;
  std::string text = format_count(group.waiting_count) + " wait, ";
  if (group.later_count > 0) text += format_count(group.later_count) + " later, ";
  text += format_count(group.leased_count) + " leased; ";
  const std::string why = why_not_now(state, default_rule, now_ms);
  const Cell due = due_cell(state, default_rule, now_ms);
  if (due == Cell()) return text + "never due by itself: " + why;
  text += "due " + format_cell(due, Unit::kFromNow);
  return why.empty() ? text : text + ": " + why;
}

}  // namespace crawlstore::model
