// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rules of groups as people write them:
/// `delay=2s,hard=1s,burst=1,in-flight=1,limit=1000,
/// finished-limit=1000,until=TIME,active=no,parent=KEY`. Threads: pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/frontier.h>

namespace crawlstore::model {

/// Members of a rule that are set; the others stay.
struct RuleChange {
  std::optional<std::uint64_t> delay_ms{};
  std::optional<std::uint64_t> hard_ms{};
  std::optional<std::uint32_t> burst{};
  std::optional<std::uint32_t> in_flight_max{};
  std::optional<std::uint64_t> blocked_until_ms{};
  std::optional<bool> is_active{};
  std::optional<std::optional<std::uint32_t>> put_max{};
  std::optional<std::optional<std::uint32_t>> finished_max{};
  std::optional<std::string> parent{};  ///< empty: none
};

/// Takes `none` for a delay, a limit or an `until` that is none, and alone for a delay of none.
/// A parent takes all the rest of the text.
/// Returns what is wrong with the text, and what is taken instead; empty: nothing.
std::string parse_rule(std::string_view text, RuleChange& to);

/// Changes the rule. A delay alone sets the hard interval, too. Returns as parse_rule().
std::string change_rule(const RuleChange& change, FrontierRule& rule);

/// Returns a text that parse_rule() takes.
std::string format_rule(const FrontierRule& rule);

}  // namespace crawlstore::model
