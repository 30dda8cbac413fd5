// SPDX-License-Identifier: Apache-2.0
#include "format/group_run.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/group_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

TEST(GroupRun, ReturnsRandomKeys) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::string> keys(1 + below(random, 200));
    for (std::string& key : keys) {
      key.assign(below(random, random() % 50 == 0 ? 65'536 : 40), static_cast<char>(random()));
    }
    const Bytes payload = group_run(below(random, 1000), keys);
    const auto found = check_group_run(payload);
    ASSERT_TRUE(found) << text_of(found);
    ASSERT_EQ(*found, keys);
  }
}

TEST(GroupRun, CompressesWhereThatPays) {
  const Bytes payload = group_run(0, sample_hosts());
  const auto run = parse_group_run(payload);
  ASSERT_TRUE(run) << text_of(run);
  EXPECT_TRUE(run->keys.empty());
  EXPECT_EQ(run->blocks.lengths.size(), 2U);
  EXPECT_LT(payload.size(), run->blocks.raw_bytes / 2);
  EXPECT_EQ(*check_group_run(payload), sample_hosts());
}

TEST(GroupRun, WritesTheBytesOfTheSpec) {
  EXPECT_EQ(hex_of(sample_group_run()),
            "43 47 52 4f 55 50 53 31 09 00 00 00 03 00 00 00 05 00 00 00 00 00 00 00 "
            "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
            "03 00 00 00 02 00 00 00 61 2e 62 63 64 00 00 00");
}

TEST(GroupRun, AppendsBehindWhatIsThere) {
  const std::vector<std::uint16_t> lengths{1};
  Bytes out = pattern(16);
  encode_group_run({7, lengths, pattern(1)}, out);
  EXPECT_EQ(Bytes(out.begin(), out.begin() + 16), pattern(16));
  EXPECT_EQ(out.size(), 16 + 40 + 8 + 8U);
}

TEST(GroupRun, SaysOfEverySampleWhatItsNameSays) {
  for (const auto& [name, payload] : sample_group_payloads()) {
    const auto found = check_group_run(payload);
    EXPECT_EQ(found.has_value(), !name.starts_with("rule_")) << name << ' ' << text_of(found);
    EXPECT_EQ(code_of(found), found ? Errc{} : Errc::kSegmentInvalid) << name;
  }
  EXPECT_EQ(*check_group_run(sample_group_payloads().at("lz4_block")),
            std::vector{std::string(20, 'a') + "bcdef"});
}

std::string verdict(const char* name) {
  const auto found = check_group_run(sample_group_payloads().at(name));
  return found ? "accepted" : found.error().text + (" @" + std::to_string(found.error().offset));
}

TEST(GroupRun, RejectsOtherLengths) {
  EXPECT_EQ(verdict("rule_1_empty"), "the length of a group run is out of range @0");
  EXPECT_EQ(verdict("rule_1_length"), "the length of a group run is out of range @0");
  EXPECT_EQ(verdict("rule_1_cut"), "a group run is cut short @0");
  EXPECT_EQ(verdict("rule_1_cut_lengths"), "a group run is cut short @0");
  EXPECT_EQ(verdict("rule_1_long"), "a group run is too long @56");
}

TEST(GroupRun, RejectsOtherMagicReservedBytesAndPadding) {
  EXPECT_EQ(verdict("rule_2_magic"), "the magic number of a group run is wrong @0");
  EXPECT_EQ(verdict("rule_2_reserved_1"), "reserved bytes of a group run are not zero @0");
  EXPECT_EQ(verdict("rule_2_reserved_2"), "reserved bytes of a group run are not zero @0");
  EXPECT_EQ(verdict("rule_2_padding_lengths"), "padding of a group run is not zero @46");
  EXPECT_EQ(verdict("rule_2_padding_keys"), "padding of a group run is not zero @53");
}

TEST(GroupRun, RejectsGroupsOutOfRange) {
  for (const char* name : {"rule_3_none", "rule_3_first", "rule_3_last"}) {
    EXPECT_EQ(verdict(name), "the groups of a group run are out of range @0") << name;
  }
}

TEST(GroupRun, RejectsLengthsAndBlocksThatDoNotFit) {
  constexpr auto kLength = "the keys of a group run have another length than its header says @0";
  EXPECT_EQ(verdict("rule_4_key_bytes"), kLength);
  EXPECT_EQ(verdict("rule_4_lengths"), kLength);
  EXPECT_EQ(verdict("rule_4_codec"), "the codec of a group run is unknown @0");
  constexpr auto kCount = "the block count of a group run is not that of its keys @0";
  EXPECT_EQ(verdict("rule_4_blocks"), kCount);
  EXPECT_EQ(verdict("rule_4_no_blocks"), kCount);
  EXPECT_EQ(verdict("rule_4_no_keys"), kCount);
  constexpr auto kBlock = "a block of auxiliaries has a length that cannot be @48";
  EXPECT_EQ(verdict("rule_4_block_long"), kBlock);
  EXPECT_EQ(verdict("rule_4_block_short"), kBlock);
  EXPECT_EQ(verdict("rule_4_block"), "a block of auxiliaries is broken @0");
}

}  // namespace
}  // namespace crawlstore::format
