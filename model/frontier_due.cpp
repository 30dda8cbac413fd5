// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_due.h"

#include <algorithm>
#include <cmath>

#include "model/format_text.h"

namespace crawlstore::model {
namespace {

constexpr std::uint32_t kDoublingsMax = 6;
constexpr std::uint64_t kTimeMax = (std::uint64_t{1} << 48U) - 1;

std::uint64_t stretched(std::uint64_t ms, std::uint32_t failure_count) {
  return std::min(kTimeMax, ms << std::min(failure_count, kDoublingsMax));
}

/// The time of a visit that is one of a burst, where `next_ms` is that of even visits.
std::uint64_t with_burst(std::uint64_t next_ms, std::uint64_t interval_ms, std::uint32_t burst) {
  if (burst <= 1 || interval_ms == 0) return next_ms;
  return burst - 1 > next_ms / interval_ms ? 0 : next_ms - (burst - 1) * interval_ms;
}

/// Times that the intervals of the rule allow, without what blocks it.
struct Intervals {
  std::uint64_t soft_from_ms = 0;
  std::uint64_t hard_from_ms = 0;
  std::uint64_t soft_ms = 0;
};

Intervals intervals_of(const FrontierGroup& group, const FrontierRule& rule) {
  const std::uint64_t soft_ms = stretched(rule.delay_ms, group.failure_count);
  const std::uint64_t hard_ms = stretched(rule.hard_ms, group.failure_count);
  const std::uint64_t hard_from_ms = with_burst(group.hard_time_ms, hard_ms, rule.burst);
  return {std::max(hard_from_ms, with_burst(group.soft_time_ms, soft_ms, rule.burst)), hard_from_ms,
          soft_ms};
}

/// The end of the lease after which fewer than the most are in flight; 0: there is room. nothing:
/// that lease has no end
std::optional<std::uint64_t> room_from(const GroupState& state, const FrontierRule& rule) {
  if (state.group.leased_count < rule.in_flight_max) return 0;
  const std::uint64_t last = state.group.leased_count - rule.in_flight_max;
  if (last >= state.lease_ends_ms.size() || state.lease_ends_ms[last] == 0) return std::nullopt;
  return state.lease_ends_ms[last];
}

/// The time from which an item waits; 0: one does. nothing: never
std::optional<std::uint64_t> waits_from(const GroupState& state) {
  if (state.group.waiting_count > 0) return 0;
  auto from = state.first_later_ms;
  if (!state.lease_ends_ms.empty() && state.lease_ends_ms.front() != 0) {
    from = std::min(from.value_or(state.lease_ends_ms.front()), state.lease_ends_ms.front());
  }
  return from;
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

std::string why_full(const FrontierRule& rule, const std::optional<std::uint64_t>& room_ms,
                     std::uint64_t now_ms) {
  return "in-flight limit of " + format_count(rule.in_flight_max) + " reached, " +
         (room_ms ? "a lease ends " + format_from_now(now_ms, *room_ms) : "no lease has an end");
}

}  // namespace

std::optional<std::uint64_t> due_ms(const GroupState& state, const FrontierRule& default_rule) {
  const FrontierRule rule = state.group.rule.value_or(default_rule);
  const auto waits_ms = waits_from(state);
  const auto room_ms = room_from(state, rule);
  if (!rule.is_active || !waits_ms || !room_ms) return std::nullopt;
  return std::max(
      {*waits_ms, *room_ms, rule.blocked_until_ms, intervals_of(state.group, rule).hard_from_ms});
}

std::string why_not_now(const GroupState& state, const FrontierRule& default_rule,
                        std::uint64_t now_ms) {
  const FrontierRule rule = state.group.rule.value_or(default_rule);
  if (!rule.is_active) return "not active";
  const auto waits_ms = waits_from(state);
  if (!waits_ms || *waits_ms > now_ms) return why_nothing_waits(state, now_ms);
  const auto room_ms = room_from(state, rule);
  if (!room_ms || *room_ms > now_ms) return why_full(rule, room_ms, now_ms);
  const Intervals intervals = intervals_of(state.group, rule);
  if (rule.blocked_until_ms > std::max(now_ms, intervals.soft_from_ms)) {
    return "blocked until " + format_time(static_cast<std::int64_t>(rule.blocked_until_ms * 1000));
  }
  if (intervals.soft_from_ms <= now_ms) return {};
  std::string text = "delay of " + in_words(intervals.soft_ms);
  if (state.group.failure_count > 0) {
    text = "back-off after " + format_counted(state.group.failure_count, "failure") + ": " + text;
  }
  if (std::max(intervals.hard_from_ms, rule.blocked_until_ms) > now_ms) return text;
  return text + ", now only if no other group is due";
}

double seconds_from(std::uint64_t now_ms, std::uint64_t time_ms) {
  return (static_cast<double>(time_ms) - static_cast<double>(now_ms)) / 1000;
}

std::string describe_group(const GroupState& state, const FrontierRule& default_rule,
                           std::uint64_t now_ms) {
  const FrontierGroup& group = state.group;
  std::string text = format_count(group.waiting_count) + " wait, ";
  if (group.later_count > 0) text += format_count(group.later_count) + " later, ";
  text += format_count(group.leased_count) + " leased; ";
  const std::string why = why_not_now(state, default_rule, now_ms);
  const auto due = due_ms(state, default_rule);
  if (!due) return text + "never due by itself: " + why;
  text += "due " + format_from_now(now_ms, std::max(*due, now_ms));
  return why.empty() ? text : text + ": " + why;
}

}  // namespace crawlstore::model
