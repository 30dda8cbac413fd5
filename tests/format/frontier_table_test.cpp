// SPDX-License-Identifier: Apache-2.0
#include "format/frontier_table.h"

#include <functional>

#include <gtest/gtest.h>

namespace crawlstore::format {
namespace {

FrontierTable sample() {
  FrontierTable table;
  table.has_own_ids = true;
  table.groups = {5};
  table.items = {6};
  table.steps = {7};
  table.group_count = 40;
  table.waiting_count = 900;
  table.leased_count = 12;
  table.next_id = 1000;
  table.step_count = 70;
  table.clock_ms = 1'700'000'000'000;
  table.default_rule = {4000, 1000, 3, 2, 500, 400};
  table.runs = {{{3}, 1, 0}, {{8}, 20, 70}, {{9}, 70, 0}};
  table.pieces = {{14}, {12}};
  table.pages = "pages";
  return table;
}

TEST(FrontierTable, RoundTrips) {
  FrontierTable largest = sample();
  largest.runs.clear();
  largest.pieces.clear();
  for (std::uint64_t i = 1; i <= kRunsPerLogMax; ++i) {
    largest.runs.push_back({{i}, 1, 0});
    largest.pieces.push_back({i});
  }
  for (const FrontierTable& table : {sample(), FrontierTable(), largest}) {
    const auto bytes = encode_frontier_table(table);
    EXPECT_EQ(bytes.size() % 8, 0U);
    EXPECT_LE(bytes.size(), kFrontierTableBytesMax);
    const auto parsed = parse_frontier_table(bytes);
    ASSERT_TRUE(parsed) << describe(parsed.error());
    EXPECT_EQ(*parsed, table);
  }
}

struct Case {
  const char* text;
  std::function<void(FrontierTable&)> spoil;
};

const std::vector<Case> kCases = {
    {"a frontier has steps without a log, or the other way round",
     [](FrontierTable& table) { table.steps = {}; }},
    {"a frontier has item runs without a log, or the other way round",
     [](FrontierTable& table) { table.items = {}; }},
    {"a frontier has item runs without a log, or the other way round",
     [](FrontierTable& table) { table.runs.clear(); }},
    {"a frontier without steps has groups, items or pieces",
     [](FrontierTable& table) {
       table = {};
       table.groups = {5};
     }},
    {"a frontier without steps has groups, items or pieces",
     [](FrontierTable& table) {
       table = {};
       table.pieces = {{5}};
     }},
    {"a frontier names a segment twice", [](FrontierTable& table) { table.groups = {6}; }},
    {"a frontier names a segment twice", [](FrontierTable& table) { table.steps = {6}; }},
    {"a frontier names a segment twice", [](FrontierTable& table) { table.groups = {7}; }},
    {"a frontier has too many items",
     [](FrontierTable& table) { table.waiting_count = kItemIdMax + 1; }},
    {"a frontier has too many items",
     [](FrontierTable& table) { table.leased_count = ~std::uint64_t{0}; }},
    {"a frontier of pages gives ids itself",
     [](FrontierTable& table) { table.has_own_ids = false; }},
    {"a frontier has the name of no page database",
     [](FrontierTable& table) { table.pages = "a\nb"; }},
    {"a frontier has items without groups", [](FrontierTable& table) { table.group_count = 0; }},
    {"the next id of a frontier is out of range",
     [](FrontierTable& table) { table.next_id = kItemIdMax + 2; }},
    {"the clock of a frontier is out of range",
     [](FrontierTable& table) { table.clock_ms = kItemTimeMax + 1; }},
    {"an interval of a frontier is out of range",
     [](FrontierTable& table) { table.default_rule.soft_ms = kItemTimeMax + 1; }},
    {"an interval of a frontier is out of range",
     [](FrontierTable& table) { table.default_rule.hard_ms = 4001; }},
    {"a rule of a frontier lets nothing be taken",
     [](FrontierTable& table) { table.default_rule.burst = 0; }},
    {"a rule of a frontier lets nothing be taken",
     [](FrontierTable& table) { table.default_rule.in_flight_max = 0; }},
    {"the item runs of a frontier do not ascend",
     [](FrontierTable& table) { table.runs[1].run = {3}; }},
    {"the item runs of a frontier do not ascend",
     [](FrontierTable& table) { table.runs[0].run = {}; }},
    {"an item run of a frontier begins with a step that is none",
     [](FrontierTable& table) { table.runs[0].first_step = 0; }},
    {"an item run of a frontier begins with a step that is none",
     [](FrontierTable& table) { table.runs[0].first_step = 71; }},
    {"an item run of a frontier ends with a step that is none",
     [](FrontierTable& table) { table.runs[1].last_step = 20; }},
    {"an item run of a frontier ends with a step that is none",
     [](FrontierTable& table) { table.runs[1].last_step = 71; }},
    {"a piece of a frontier is none, or named twice",
     [](FrontierTable& table) { table.pieces[0] = table.pieces[1]; }},
    {"a piece of a frontier is none, or named twice",
     [](FrontierTable& table) { table.pieces[0] = {}; }},
    {"a frontier has too many runs",
     [](FrontierTable& table) { table.pieces.resize(kRunsPerLogMax + 1); }},
};

/// spec: frontier.md#frontier-tables rules 2 to 6
TEST(FrontierTable, RefusesWhatBreaksARule) {
  for (const Case& each : kCases) {
    FrontierTable table = sample();
    each.spoil(table);
    const auto parsed = parse_frontier_table(encode_frontier_table(table));
    ASSERT_FALSE(parsed) << each.text;
    EXPECT_EQ(parsed.error().code, Errc::kSegmentInvalid);
    EXPECT_STREQ(parsed.error().text, each.text);
  }
}

/// spec: frontier.md#frontier-tables rule 1
TEST(FrontierTable, RefusesBytesThatAreNoTable) {
  const auto bytes = encode_frontier_table(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(parse_frontier_table(std::span(bytes).first(length))) << length;
  }
  const std::vector<std::byte> longer(kFrontierTableBytesMax + 8);
  EXPECT_STREQ(parse_frontier_table(longer).error().text, "a frontier table is too long");
}

}  // namespace
}  // namespace crawlstore::format
