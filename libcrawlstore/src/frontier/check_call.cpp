// SPDX-License-Identifier: Apache-2.0
#include "frontier/check_call.h"

#include <cmath>
#include <limits>

namespace crawlstore::frontier {

Result<void> check_time(std::uint64_t time_ms) {
  if (time_ms <= format::kItemTimeMax) return {};
  return fail(Errc::kInvalidArgument, "times of a frontier are below 2^48 milliseconds");
}

Result<void> check_key(std::string_view group) {
  if (group.size() <= format::kGroupKeyBytesMax) return {};
  return fail(Errc::kTooLarge, "the key of a group has at most 65,535 bytes");
}

Result<void> check_item(const FrontierItem& item) {
  if (std::isnan(item.priority)) {
    return fail(Errc::kInvalidArgument, "a priority is NaN, which has no place in an order");
  }
  if (item.body.size() > format::kItemBodyBytesMax) {
    return fail(Errc::kTooLarge, "the body of an item has at most 65,536 bytes");
  }
  CRAWLSTORE_TRY(check_key(item.group));
  return check_time(item.not_before_ms);
}

Result<void> check_rule(const FrontierRule& rule) {
  if (rule.hard_ms > rule.delay_ms) {
    return fail(Errc::kInvalidArgument, "the hard interval of a rule is above its delay");
  }
  if (rule.burst == 0 || rule.in_flight_max == 0) {
    return fail(Errc::kInvalidArgument, "a rule lets nothing be taken");
  }
  CRAWLSTORE_TRY(check_time(rule.blocked_until_ms));
  return check_time(rule.delay_ms);
}

namespace {

/// A limit in the words of the format, and back; no count comes to one beyond the highest number.
std::uint64_t limit(const std::optional<std::uint32_t>& count_max) {
  return count_max ? *count_max : format::kNoLimit;
}
std::optional<std::uint32_t> limit_of(std::uint64_t count_max) {
  if (count_max > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(count_max);
}

}  // namespace

format::GroupRule group_rule(const FrontierRule& rule) {
  return {.soft_ms = rule.delay_ms,
          .hard_ms = rule.hard_ms,
          .burst = rule.burst,
          .in_flight_max = rule.in_flight_max,
          .put_max = limit(rule.put_max),
          .finished_max = limit(rule.finished_max)};
}

FrontierRule frontier_rule(const format::GroupRule& rule) {
  return {.delay_ms = rule.soft_ms,
          .hard_ms = rule.hard_ms,
          .burst = rule.burst,
          .in_flight_max = rule.in_flight_max,
          .put_max = limit_of(rule.put_max),
          .finished_max = limit_of(rule.finished_max)};
}

format::RuleStep rule_step(std::uint32_t group, const FrontierRule& rule,
                           std::optional<std::uint32_t> parent) {
  format::RuleStep step{.group = group,
                        .mask = format::kRuleSoft | format::kRuleHard | format::kRuleBurst |
                                format::kRuleInFlight | format::kRulePut | format::kRuleFinished |
                                format::kRuleBlocked | format::kRuleActive | format::kRuleParent};
  step.soft_ms = rule.delay_ms;
  step.hard_ms = rule.hard_ms;
  step.burst = rule.burst;
  step.in_flight_max = rule.in_flight_max;
  step.put_max = rule.put_max;
  step.finished_max = rule.finished_max;
  step.blocked_until = rule.blocked_until_ms;
  step.parent = parent;
  step.is_active = rule.is_active;
  return step;
}

Result<void> check_parent(const GroupTable& groups, std::string_view group,
                          const FrontierRule& rule) {
  if (!rule.parent) return {};
  CRAWLSTORE_TRY(check_key(*rule.parent));
  const auto own = groups.find(group);
  const auto parent = groups.find(*rule.parent);
  if (*rule.parent == group) {
    return fail(Errc::kInvalidArgument, "a group cannot be its own parent: name another one");
  }
  if (parent && groups.setting(*parent).parent) {
    return fail(Errc::kInvalidArgument,
                "the parent that the rule names has a parent itself, and there is one level of "
                "parents: name that one, or take it from the parent first");
  }
  if (own && groups.families().find(*own) != nullptr) {
    return fail(Errc::kInvalidArgument,
                "the group is a parent of others, and there is one level of parents: give those "
                "another parent, or none, first");
  }
  return {};
}

Result<void> check_ids(std::span<const FrontierItem> items, const State& state, bool has_own_ids) {
  for (const FrontierItem& item : items) {
    if (item.id.has_value() != has_own_ids) {
      return fail(Errc::kInvalidArgument,
                  has_own_ids ? "an item for a frontier with ids of the caller's has none"
                              : "an item has an id, which this frontier gives itself");
    }
    if (!item.id) continue;
    if (*item.id > format::kItemIdMax) return fail(Errc::kInvalidArgument, "an id is 2^63 or more");
    if (state.leases().find(*item.id) != nullptr || state.leases().group_of_again(*item.id)) {
      return fail(Errc::kInvalidArgument, "an item with this id was taken, and is not finished");
    }
  }
  return {};
}

}  // namespace crawlstore::frontier
