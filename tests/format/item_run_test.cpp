// SPDX-License-Identifier: Apache-2.0
#include "format/item_run.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/item_samples.h"
#include "format/leb128.h"
#include "support/seeded.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// The error of a sample payload.
struct Verdict {
  const char* name;
  const char* text;
  std::uint64_t offset = 0;
};

void expect_verdicts(const std::vector<Verdict>& verdicts) {
  const auto payloads = sample_item_payloads();
  for (const Verdict& verdict : verdicts) {
    const auto found = check_item_run(payloads.at(verdict.name));
    EXPECT_EQ(text_of(found), verdict.text) << verdict.name;
    if (found) continue;
    EXPECT_EQ(found.error().code, Errc::kSegmentInvalid);
    EXPECT_EQ(found.error().offset, verdict.offset) << verdict.name;
  }
}

SampleItems joined(const std::vector<SampleItems>& blocks) {
  SampleItems all;
  for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

TEST(ItemRun, ReturnsWhatWasEncoded) {
  const Bytes payload = encoded_item_run(sample_item_blocks());
  EXPECT_EQ(payload.size(), 200U);
  const auto items = check_item_run(payload);
  ASSERT_TRUE(items) << text_of(items);
  EXPECT_EQ(*items, joined(sample_item_blocks()));
  const Bytes timed = encoded_item_run({sample_timed_items()});
  EXPECT_EQ(timed.size(), 136U);
  const auto timed_items = check_item_run(timed);
  ASSERT_TRUE(timed_items) << text_of(timed_items);
  EXPECT_EQ(*timed_items, sample_timed_items());
}

TEST(ItemRun, SaysOfEverySampleWhatItsNameSays) {
  for (const auto& [name, payload] : sample_item_payloads()) {
    const auto found = check_item_run(payload);
    EXPECT_EQ(found.has_value(), !name.starts_with("rule_")) << name << ": " << text_of(found);
  }
}

TEST(ItemRun, RejectsAnotherEnd) {
  constexpr auto kParts = "the parts of an item run do not fit its length";
  expect_verdicts({{"rule_1_length", "the length of an item run is out of range"},
                   {"rule_1_magic", "the magic number of an item run is wrong", 144},
                   {"rule_1_reserved", "reserved bytes of an item run are not zero", 144},
                   {"rule_1_flag", "a flag of an item run is unknown", 144},
                   {"rule_1_items", "an item run has no items", 144},
                   {"rule_1_blocks", "an item run has no blocks", 144},
                   {"rule_1_parts", kParts, 144},
                   {"rule_1_many", kParts, 144},
                   {"rule_1_long", kParts, 144}});
  EXPECT_EQ(text_of(check_item_run({})), "the length of an item run is out of range");
}

TEST(ItemRun, RejectsAnotherDirectory) {
  constexpr auto kGroups = "the group count of an item run is out of range";
  constexpr auto kNumber = "a number in the directory of an item run is broken";
  constexpr auto kCount = "the item count of a group of an item run is out of range";
  expect_verdicts({{"rule_2_none", kGroups, 144},
                   {"rule_2_many", kGroups, 144},
                   {"rule_2_timed", kGroups, 80},
                   {"rule_2_longer", "the directory of an item run is too long", 121},
                   {"rule_2_cut", kNumber, 121},
                   {"rule_2_long_number", kNumber, 121},
                   {"rule_2_no_items", kCount, 121},
                   {"rule_2_more", kCount, 121},
                   {"rule_2_sum", "the groups of an item run do not have its items", 119},
                   {"rule_2_group", "a group of an item run is out of range", 121}});
}

TEST(ItemRun, RejectsBlocksThatDoNotFitTogether) {
  constexpr auto kCount = "the item count of an item block is out of range";
  expect_verdicts(
      {{"rule_3_none", kCount, 128},
       {"rule_3_many", kCount, 128},
       {"rule_3_items", "the item count of an item run is not that of its blocks", 80},
       {"rule_3_bytes", "the block bytes of an item run are not those of its blocks", 144},
       {"rule_3_bodies", "the body bytes of an item run are not those of its blocks", 144},
       {"rule_6_blocks", "the items of a run do not ascend", 48},
       {"rule_7_padding", "padding of an item run is not zero", 123}});
}

TEST(ItemRun, RejectsBlocksOfAnotherShape) {
  constexpr auto kWidth = "a width of an item block is out of range";
  constexpr auto kLength = "an item block does not have the length of its parts";
  constexpr auto kBroken = "the compressed bodies of an item block are broken";
  constexpr auto kCannotBe = "the bodies of an item block have a compressed length that cannot be";
  expect_verdicts({{"rule_4_short", "an item block is shorter than its header"},
                   {"rule_4_reserved", "reserved bytes of an item block are not zero"},
                   {"rule_4_shift", kWidth},
                   {"rule_4_width", kWidth},
                   {"rule_4_time_width", kWidth},
                   {"rule_4_codec", "the codec of an item block is unknown"},
                   {"rule_4_bodies", "the bodies of an item block are too long"},
                   {"rule_4_length", kLength},
                   {"rule_4_columns", kLength},
                   {"rule_4_sum", "the body bytes of an item block are not those of its items"},
                   {"rule_4_lz4", kBroken},
                   {"rule_4_offset", kBroken},
                   {"rule_4_expansion", kCannotBe},
                   {"rule_4_no_gain", kCannotBe}});
}

TEST(ItemRun, RejectsItemsOutOfRange) {
  constexpr auto kOrder = "an order of an item block is of no priority";
  constexpr auto kLowest = "a lowest number of an item block is out of range";
  constexpr auto kTimes = "an item block by group has times or groups";
  expect_verdicts({{"rule_5_order", "the lowest order of an item block is of no priority"},
                   {"rule_5_gone", kOrder},
                   {"rule_5_nan", kOrder},
                   {"rule_5_sum", kOrder},
                   {"rule_5_id", "an id of an item block is out of range"},
                   {"rule_5_lowest_id", kLowest},
                   {"rule_5_time", "a time of an item block is out of range"},
                   {"rule_5_time_0", "an item block by time has time 0"},
                   {"rule_5_group", "a group of an item block is out of range"},
                   {"rule_5_timed", kTimes},
                   {"rule_5_grouped", kTimes},
                   {"rule_5_body", kLowest},
                   {"rule_5_length", "the length of a body of an item block is out of range"}});
}

TEST(ItemRun, RejectsItemsOfAnotherOrderOrLongerThanNeeded) {
  constexpr auto kOrder = "the items of a run do not ascend";
  expect_verdicts({{"rule_6_order", kOrder}, {"rule_6_equal", kOrder}, {"rule_6_timed", kOrder}});
  for (const auto& [name, payload] : sample_item_payloads()) {
    if (!name.starts_with("rule_8_")) continue;
    EXPECT_EQ(text_of(check_item_run(payload)), "an item block is not written the shortest way")
        << name;
  }
}

TEST(ItemRun, FindsGroupsAndBlocks) {
  ItemDirectory directory;
  directory.add(3, 4);
  directory.add(10, 1);
  EXPECT_EQ(directory.find_group(3), (ItemRange{0, 4}));
  EXPECT_EQ(directory.find_group(10), (ItemRange{4, 5}));
  for (const std::uint32_t group : {0U, 4U, 11U}) {
    EXPECT_EQ(directory.find_group(group), std::nullopt);
  }
  const ItemIndex index{.is_by_time = false, .offsets = {0, 62, 119}, .first_items = {0, 3, 5}};
  EXPECT_EQ(index.block_count(), 2U);
  EXPECT_EQ(index.block_of(0), 0U);
  EXPECT_EQ(index.block_of(2), 0U);
  EXPECT_EQ(index.block_of(3), 1U);
  EXPECT_EQ(index.block_of(4), 1U);
  EXPECT_EQ(index.frame(1).offset, 62U);
  EXPECT_EQ(index.frame(1).item_count, 2U);
}

/// Reads a directory one number after the other.
std::optional<ItemDirectory> slowly_read(std::span<const std::byte> bytes, std::uint32_t count) {
  ItemDirectory directory;
  std::uint64_t next_group = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto gap = take_leb128(bytes);
    const auto item_count = gap ? take_leb128(bytes) : std::nullopt;
    if (!item_count || *item_count == 0 || *gap > kGroupMax || next_group + *gap > kGroupMax) {
      return std::nullopt;
    }
    directory.add(static_cast<std::uint32_t>(next_group + *gap), *item_count);
    next_group += *gap + 1;
  }
  return bytes.empty() ? std::optional(directory) : std::nullopt;
}

TEST(ItemRun, ReadsNumbersOfEveryLengthAndForm) {
  SeededRandom random;
  int accepted_count = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes;
    const auto count = static_cast<std::uint32_t>(1 + random.below(5));
    for (std::uint32_t i = 0; i < count; ++i) {
      append_leb128(random.below(1ULL << random.below(30)), bytes);
      append_leb128(1 + random.below(1ULL << random.below(58)), bytes);
    }
    if (round % 2 == 0) bytes[random.below(bytes.size())] = std::byte(random.below(3) * 0x40);
    const auto expected = slowly_read(bytes, count);
    ItemRunFooter footer{};
    footer.item_count = expected ? expected->begins.back() : 1ULL << 62U;
    footer.group_count = count;
    footer.directory_bytes = bytes.size();
    const auto found = parse_item_directory(bytes, footer);
    ASSERT_EQ(found.has_value(), expected.has_value()) << hex_of(bytes);
    if (!expected) continue;
    ++accepted_count;
    EXPECT_EQ(found->groups, expected->groups) << hex_of(bytes);
    EXPECT_EQ(found->begins, expected->begins) << hex_of(bytes);
  }
  EXPECT_GT(accepted_count, 10'000);
}

TEST(ItemRun, ReturnsLargeDirectories) {
  std::mt19937_64 random(5);
  ItemDirectory directory;
  std::uint32_t group = 0;
  for (int i = 0; i < 100'000; ++i) {
    directory.add(group, 1 + below(random, i % 100 == 7 ? 1'000'000 : 300));
    group += 1 + below(random, i % 100 == 0 ? 30'000 : 3);
  }
  directory.add(kGroupMax, 1);
  // Blocks of no bytes: the directory is all that is read.
  std::vector<ItemBlockPlace> places(directory.begins.back() / kBlockItemsMax,
                                     ItemBlockPlace{0, kBlockItemsMax});
  places.push_back({0, static_cast<std::uint32_t>(directory.begins.back() % kBlockItemsMax)});
  Bytes tail;
  encode_item_tail(places, directory, 0, tail);
  const auto footer = parse_item_footer(std::span(tail).last(sizeof(ItemRunFooter)), tail.size());
  ASSERT_TRUE(footer) << text_of(footer);
  const auto found = parse_item_directory(std::span(tail).first(footer->directory_bytes), *footer);
  ASSERT_TRUE(found) << text_of(found);
  EXPECT_EQ(found->groups, directory.groups);
  EXPECT_EQ(found->begins, directory.begins);
}

}  // namespace
}  // namespace crawlstore::format
