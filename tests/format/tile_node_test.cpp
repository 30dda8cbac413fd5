// SPDX-License-Identifier: Apache-2.0
#include "format/tile_node.h"

#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

constexpr std::uint64_t kHighWater = kDataStart + 1024 * kUnitBytes;

/// The reference to the sample.
RunRef self() {
  return {kDataStart, {9}, {500}, tile_node_bytes(3), 60, 1};
}

/// Three children with 10, 20 and 30 records.
TileNode sample(std::uint16_t level = 0) {
  TileNode node;
  node.level = level;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    node.children.push_back(
        {kDataStart + i * kUnitBytes, {i}, {100 + i}, tile_node_bytes(64), 10 * i, 77 * i});
  }
  return node;
}

Bytes encoded(const TileNode& node) {
  Bytes bytes;
  encode_tile_node(node, bytes);
  return bytes;
}

std::string verdict(const Bytes& bytes, const RunRef& ref = self()) {
  return text_of(parse_tile_node(bytes, ref, kHighWater));
}

std::string verdict_after(const std::function<void(TileNode&)>& change, std::uint16_t level = 0) {
  TileNode node = sample(level);
  change(node);
  RunRef ref = self();
  ref.record_count = node.record_count();
  ref.payload_bytes = tile_node_bytes(node.children.size());
  return verdict(encoded(node), ref);
}

TEST(TileNode, ReturnsWhatWasEncoded) {
  for (std::uint16_t level = 0; level <= kTileLevelMax; ++level) {
    const auto node = parse_tile_node(encoded(sample(level)), self(), kHighWater);
    ASSERT_TRUE(node) << node.error().text;
    EXPECT_EQ(*node, sample(level));
    EXPECT_EQ(node->record_count(), 60u);
  }
}

TEST(TileNode, FitsOneUnitWhenItIsFull) {
  EXPECT_EQ(extent_bytes(tile_node_bytes(kTileFanOut)), kUnitBytes);
}

TEST(TileNode, SaysWhichNodeIsBroken) {
  const auto node = parse_tile_node({}, self(), kHighWater);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, Errc::kDirectoryInvalid);
  EXPECT_EQ(node.error().offset, self().offset_bytes);
}

// spec: container.md#tiled-segments rule 1
TEST(TileNode, RejectsEveryOtherLength) {
  Bytes bytes = encoded(sample());
  bytes.resize(4096);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    if (length == tile_node_bytes(3)) continue;
    const auto node = parse_tile_node(std::span(bytes).first(length), self(), kHighWater);
    EXPECT_FALSE(node) << length;
  }
}

// spec: container.md#tiled-segments rule 2
TEST(TileNode, RejectsAWrongMagicAndReservedBytes) {
  EXPECT_EQ(verdict(with(encoded(sample()), 0, std::uint8_t{'X'})),
            "the magic number of a tile node is wrong");
  for (std::size_t i = 20; i < 24; ++i) {
    EXPECT_EQ(verdict(with(encoded(sample()), i, std::uint8_t{1})),
              "reserved bytes of a tile node are not zero");
  }
}

// spec: container.md#tiled-segments rule 3
TEST(TileNode, RejectsLevelsAndCountsOutOfRange) {
  EXPECT_EQ(verdict(with(encoded(sample()), 16, std::uint16_t{5})),
            "the level of a tile node is out of range");
  for (const unsigned count : {0u, 2u, 4u, 65u, 0xFFFFu}) {
    EXPECT_EQ(verdict(with(encoded(sample()), 18, static_cast<std::uint16_t>(count))),
              "the child count of a tile node does not fit its length");
  }
  Bytes many = with(encoded(sample()), 18, std::uint16_t{65});
  many.resize(tile_node_bytes(65));
  EXPECT_EQ(verdict(many), "the length of a tile node is out of range");
}

// spec: container.md#tiled-segments rule 4
TEST(TileNode, RejectsAnotherSumOfRecords) {
  const std::string wrong = "the record count of a tile node is not the sum of its children";
  EXPECT_EQ(verdict(with(encoded(sample()), 8, std::uint64_t{61})), wrong);
  RunRef ref = self();
  ref.record_count = 59;
  EXPECT_EQ(verdict(encoded(sample()), ref), wrong);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(verdict(with(encoded(sample()), 24 + 32, kMost)),
            "the children of a tile node have too many records");
}

// spec: container.md#tiled-segments rule 5
TEST(TileNode, RejectsChildrenThatBreakTheRulesOfReferences) {
  const auto child = [](const std::function<void(RunRef&)>& change) {
    return verdict_after([&](TileNode& node) { change(node.children[1]); });
  };
  EXPECT_EQ(child([](RunRef& run) { run.offset_bytes += 8; }),
            "an extent is not aligned to the unit");
  EXPECT_EQ(child([](RunRef& run) { run.offset_bytes = 0; }), "an extent lies outside the data");
  EXPECT_EQ(child([](RunRef& run) { run.offset_bytes = kHighWater; }),
            "an extent lies outside the data");
  EXPECT_EQ(child([](RunRef& run) { run.payload_bytes = 0; }),
            "the length of a payload is out of range");
  EXPECT_EQ(child([](RunRef& run) { run.payload_bytes = kPayloadBytesMax + 1; }),
            "the length of a payload is out of range");
  EXPECT_EQ(child([](RunRef& run) { run.payload_bytes = kHighWater; }),
            "an extent lies outside the data");
  EXPECT_EQ(child([](RunRef& run) { run.born = {0}; }), "an extent is born outside of time");
  EXPECT_EQ(child([](RunRef& run) { run.born = {10}; }), "an extent is born outside of time");
  const std::string ids = "a tile node does not have a greater run id than its children";
  EXPECT_EQ(child([](RunRef& run) { run.run_id = {0}; }), ids);
  EXPECT_EQ(child([](RunRef& run) { run.run_id = {500}; }), ids);
  EXPECT_EQ(child([](RunRef& run) { run.run_id = {499}; }), "accepted");
  EXPECT_EQ(child([](RunRef& run) { run.born = {9}; }), "accepted");
}

// spec: container.md#tiled-segments rule 6
TEST(TileNode, RejectsNodesBelowItOfAnImpossibleLength) {
  for (const std::uint64_t length : {8UL, 24UL, 71UL, 73UL, 3095UL, 3097UL, 3144UL, 1UL << 20}) {
    const auto change = [length](TileNode& node) { node.children[0].payload_bytes = length; };
    EXPECT_EQ(verdict_after(change, 1), "the length of a tile node is out of range") << length;
    EXPECT_EQ(verdict_after(change, 0), "accepted") << length;
  }
}

TEST(TileNode, SurvivesRandomBytes) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = encoded(sample(below<std::uint16_t>(random, 5)));
    for (int change = 0; change < 3; ++change) {
      bytes[below<std::size_t>(random, bytes.size())] = static_cast<std::byte>(random());
    }
    const auto node = parse_tile_node(bytes, self(), kHighWater);
    if (!node) continue;
    EXPECT_EQ(encoded(*node), bytes);
    for (const RunRef& child : node->children) EXPECT_LE(child.extent().end_bytes(), kHighWater);
  }
}

}  // namespace
}  // namespace crawlstore::format
