// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_rule.h"

#include <chrono>

#include <fmt/format.h>

#include "model/format_text.h"
#include "model/parse_text.h"

namespace crawlstore::model {
namespace {

constexpr std::string_view kRuleNames =
    "delay, hard, burst, in-flight, until, active, limit, finished-limit and parent";

constexpr std::string_view kParent = "parent=";

std::optional<std::uint64_t> parse_interval(std::string_view text) {
  if (text == "none") return 0;
  const auto time = parse_duration(text);
  if (!time) return std::nullopt;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(*time).count());
}

std::optional<std::uint32_t> parse_places(std::string_view text) {
  const auto count = parse_count(text);
  if (!count || *count == 0 || *count > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}

/// The outer one is nothing where the text is none.
std::optional<std::optional<std::uint32_t>> parse_limit(std::string_view text) {
  if (text == "none") return std::optional<std::uint32_t>();
  const auto count = parse_count(text);
  if (!count || *count > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}

std::optional<std::uint64_t> parse_until(std::string_view text) {
  if (text == "none") return 0;
  const auto time_us = parse_time(text);
  if (!time_us) return std::nullopt;
  return static_cast<std::uint64_t>(*time_us) / 1000;
}

std::optional<bool> parse_yes_or_no(std::string_view text) {
  if (text == "yes") return true;
  if (text == "no") return false;
  return std::nullopt;
}

/// Sets one member; returns what is expected instead of the text, or nothing.
template <class Value>
std::string_view set_part(const std::optional<Value>& parsed, std::optional<Value>& to,
                          std::string_view expected) {
  to = parsed;
  return parsed ? std::string_view() : expected;
}

std::string parse_part(std::string_view part, RuleChange& to) {
  constexpr std::string_view kInterval = "a time such as 500ms, 2s or 1min, or none,";
  constexpr std::string_view kPlaces = "a number from 1 to 4294967295";
  constexpr std::string_view kLimit = "a number from 0 to 4294967295, or none,";
  const auto sign = part.find('=');
  const std::string_view name = part.substr(0, sign);
  const std::string_view text = sign == part.npos ? std::string_view() : part.substr(sign + 1);
  std::string_view expected;
  if (part == "none") {
    to.delay_ms = 0;
  } else if (name == "delay") {
    expected = set_part(parse_interval(text), to.delay_ms, kInterval);
  } else if (name == "hard") {
    expected = set_part(parse_interval(text), to.hard_ms, kInterval);
  } else if (name == "burst") {
    expected = set_part(parse_places(text), to.burst, kPlaces);
  } else if (name == "in-flight") {
    expected = set_part(parse_places(text), to.in_flight_max, kPlaces);
  } else if (name == "until") {
    expected = set_part(parse_until(text), to.blocked_until_ms,
                        "a time such as 2026-11-21T10:11:12Z, or none,");
  } else if (name == "active") {
    expected = set_part(parse_yes_or_no(text), to.is_active, "yes or no");
  } else if (name == "limit") {
    expected = set_part(parse_limit(text), to.put_max, kLimit);
  } else if (name == "finished-limit") {
    expected = set_part(parse_limit(text), to.finished_max, kLimit);
  } else {
    return fmt::format("a rule has no `{}`, it has {}: delay=2s,burst=1", name, kRuleNames);
  }
  if (expected.empty()) return {};
  return fmt::format("{} is expected after `{}=`, not `{}`", expected, name, text);
}

std::string format_interval(std::uint64_t ms) {
  if (ms == 0) return "none";
  if (ms % 3'600'000 == 0) return fmt::format("{}h", ms / 3'600'000);
  if (ms % 60'000 == 0) return fmt::format("{}min", ms / 60'000);
  if (ms % 1000 == 0) return fmt::format("{}s", ms / 1000);
  return fmt::format("{}ms", ms);
}

}  // namespace

std::string parse_rule(std::string_view text, RuleChange& to) {
  while (true) {
    if (text.starts_with(kParent)) {
      to.parent = text.substr(kParent.size());
      if (*to.parent == "none") to.parent->clear();
      return {};
    }
    const auto comma = text.find(',');
    std::string problem = parse_part(text.substr(0, comma), to);
    if (!problem.empty() || comma == text.npos) return problem;
    text.remove_prefix(comma + 1);
  }
}

std::string change_rule(const RuleChange& change, FrontierRule& rule) {
  if (change.delay_ms) rule.hard_ms = rule.delay_ms = *change.delay_ms;
  if (change.hard_ms) rule.hard_ms = *change.hard_ms;
  if (change.burst) rule.burst = *change.burst;
  if (change.in_flight_max) rule.in_flight_max = *change.in_flight_max;
  if (change.blocked_until_ms) rule.blocked_until_ms = *change.blocked_until_ms;
  if (change.is_active) rule.is_active = *change.is_active;
  if (change.put_max) rule.put_max = *change.put_max;
  if (change.finished_max) rule.finished_max = *change.finished_max;
  if (change.parent) rule.parent.reset();
  if (change.parent && !change.parent->empty()) rule.parent = change.parent;
  if (rule.hard_ms <= rule.delay_ms) return {};
  return fmt::format("hard={} is above delay={}: give a longer delay, or a shorter hard",
                     format_interval(rule.hard_ms), format_interval(rule.delay_ms));
}

std::string format_rule(const FrontierRule& rule) {
  std::string text =
      fmt::format("delay={},hard={},burst={},in-flight={}", format_interval(rule.delay_ms),
                  format_interval(rule.hard_ms), rule.burst, rule.in_flight_max);
  if (rule.blocked_until_ms != 0) {
    text += ",until=" + format_time(static_cast<std::int64_t>(rule.blocked_until_ms * 1000));
  }
  if (rule.put_max) text += fmt::format(",limit={}", *rule.put_max);
  if (rule.finished_max) text += fmt::format(",finished-limit={}", *rule.finished_max);
  if (!rule.is_active) text += ",active=no";
  if (rule.parent) text += ",parent=" + format_printable(*rule.parent);
  return text;
}

}  // namespace crawlstore::model
