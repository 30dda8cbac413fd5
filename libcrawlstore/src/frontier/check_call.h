// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether what a program passes is in the ranges of the format. Pure functions; any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <crawlstore/frontier.h>

#include "format/frontier_table.h"
#include "format/steps.h"
#include "frontier/state.h"

namespace crawlstore::frontier {

/// errors  kInvalidArgument: it is beyond 2^48
Result<void> check_time(std::uint64_t time_ms);
/// errors  kTooLarge
Result<void> check_key(std::string_view group);
/// errors  as Frontier::put()
Result<void> check_item(const FrontierItem& item);
/// Checks that items have ids where the caller gives them, and that these are free.
///   errors  as Frontier::put()
Result<void> check_ids(std::span<const FrontierItem> items, const State& state, bool has_own_ids);
/// errors  as Frontier::set_rule()
Result<void> check_rule(const FrontierRule& rule);

/// Checks that the parent of a rule has none, and the group no children if it gets one.
///   errors  as Frontier::set_rule()
Result<void> check_parent(const GroupTable& groups, std::string_view group,
                          const FrontierRule& rule);

/// The same rule in the words of the format, and back. Fields that only a group has are left out.
format::GroupRule group_rule(const FrontierRule& rule);
FrontierRule frontier_rule(const format::GroupRule& rule);
/// A step that sets all of a rule.
format::RuleStep rule_step(std::uint32_t group, const FrontierRule& rule,
                           std::optional<std::uint32_t> parent);

}  // namespace crawlstore::frontier
