// SPDX-License-Identifier: Apache-2.0
#include "format/directory.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "container/kind.h"
#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

constexpr std::uint64_t kHighWater = kDataStart + 256 * kUnitBytes;
const ParseLimits kLimits{{10}, kHighWater, kDataStart, container::all_kinds().rules()};

constexpr std::uint64_t unit(std::uint64_t index) {
  return kDataStart + index * kUnitBytes;
}

DirectoryRoot valid_root() {
  DirectoryRoot root;
  root.generation = {10};
  root.next_segment_id = 100;
  root.next_run_id = 200;
  root.tables = {{unit(1), {3}, 111, {1}, 800, 5}, {unit(2), {10}, 222, {6}, 5000, 94}};
  root.held = {{{unit(4), 2 * kUnitBytes}, {2}, {9}}, {{unit(6), kUnitBytes}, {1}, {10}}};
  root.held_tables = {{unit(7), {9}, 333, 1000, 30}};
  root.taken_back = {9};
  return root;
}

std::string verdict(const DirectoryRoot& root) {
  return text_of(parse_root(encode_root(root), kLimits));
}

/// The verdict on a valid root after `change` was made to it.
std::string verdict_after(const std::function<void(DirectoryRoot&)>& change) {
  DirectoryRoot root = valid_root();
  change(root);
  return verdict(root);
}

TEST(DirectoryRoot, ReturnsWhatWasEncoded) {
  const auto root = parse_root(encode_root(valid_root()), kLimits);
  ASSERT_TRUE(root) << root.error().text;
  EXPECT_EQ(root->generation, valid_root().generation);
  EXPECT_EQ(root->next_segment_id, 100u);
  EXPECT_EQ(root->next_run_id, 200u);
  EXPECT_EQ(root->tables, valid_root().tables);
  EXPECT_EQ(root->held, valid_root().held);
  EXPECT_EQ(root->held_tables, valid_root().held_tables);
  EXPECT_EQ(root->taken_back, Generation{9});
}

TEST(DirectoryRoot, AcceptsTheEmptyStore) {
  DirectoryRoot root;
  root.generation = {10};
  EXPECT_EQ(verdict(root), "accepted");
}

TEST(DirectoryRoot, GivesTheSameBytesForTheSameContent) {
  EXPECT_EQ(encode_root(valid_root()), encode_root(valid_root()));
  EXPECT_EQ(encode_root(valid_root()).size() % 8, 0u);
}

TEST(DirectoryRoot, ReadsBytesThatAreNotAligned) {
  Bytes bytes = encode_root(valid_root());
  bytes.insert(bytes.begin(), std::byte{0});
  EXPECT_TRUE(parse_root(std::span(bytes).subspan(1), kLimits));
}

TEST(DirectoryRoot, SaysWhereTheBrokenPieceLies) {
  const auto root = parse_root({}, kLimits);
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().code, Errc::kDirectoryInvalid);
  EXPECT_EQ(root.error().offset, kDataStart);
}

// spec: container.md#directory rule 1
TEST(DirectoryRoot, RejectsEveryTruncation) {
  const Bytes whole = encode_root(valid_root());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const auto root = parse_root(part, kLimits);
    // The last parts are the vectors' ends: what is cut there must be missed.
    ASSERT_FALSE(root) << length;
  }
}

// spec: container.md#directory rule 1
TEST(DirectoryRoot, RejectsAVectorThatIsNotAligned) {
  Bytes bytes = encode_root(valid_root());
  // The vector of table references, found by its first element; moved 4 bytes to the front.
  std::size_t at = 0;
  while (load<std::uint64_t>(bytes.data() + at) != unit(1)) at += 4;
  std::size_t field = 0;
  while (field + load<std::uint32_t>(bytes.data() + field) != at - 4) field += 4;
  bytes = with(bytes, field, load<std::uint32_t>(bytes.data() + field) - 4);
  bytes = with(bytes, at - 8, std::uint32_t{1});
  EXPECT_EQ(text_of(parse_root(bytes, kLimits)), "a vector is not aligned");
}

// spec: container.md#directory rule 2
TEST(DirectoryRoot, RejectsMoreThan64MiB) {
  EXPECT_EQ(text_of(parse_root(Bytes(kRootBytesMax + 8), kLimits)),
            "the directory root is too long");
}

// spec: container.md#directory rule 3
TEST(DirectoryRoot, RejectsAnotherGeneration) {
  EXPECT_EQ(verdict_after([](auto& root) { root.generation = {9}; }),
            "the directory root is of another generation");
}

// spec: container.md#directory rule 18
TEST(DirectoryRoot, RejectsAGenerationThatWasTakenBackBeforeItWasMade) {
  EXPECT_EQ(verdict_after([](auto& root) { root.taken_back = {10}; }),
            "a generation was taken back that had not been made");
}

// spec: container.md#directory rule 4
TEST(DirectoryRoot, RejectsANextIdOfZero) {
  EXPECT_EQ(verdict_after([](auto& root) { root.next_run_id = 0; }), "the next id is zero");
  EXPECT_EQ(verdict_after([](auto& root) {
              root.next_segment_id = 0;
              root.tables.clear();
            }),
            "the next id is zero");
}

// spec: container.md#directory rule 5
TEST(DirectoryRoot, RejectsASegmentCountOutOfRange) {
  constexpr auto kText = "the segment count of a table is out of range";
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[0].segment_count = 0; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[1].segment_count = 129; }), kText);
}

// spec: container.md#directory rule 6
TEST(DirectoryRoot, RejectsTablesThatOverlapInIds) {
  constexpr auto kText = "tables are not in ascending order of segment ids";
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[1].first_segment = {5}; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[0].first_segment = {0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { std::swap(root.tables[0], root.tables[1]); }), kText);
}

// spec: container.md#directory rule 6
TEST(DirectoryRoot, RejectsTablesBeyondTheNextSegmentId) {
  constexpr auto kText = "a segment id is not below next_segment_id";
  EXPECT_EQ(verdict_after([](auto& root) { root.next_segment_id = 99; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[1].first_segment = {~0ull}; }), kText);
}

// spec: container.md#directory rule 2
TEST(DirectoryRoot, RejectsAPieceLengthOutOfRange) {
  constexpr auto kText = "the length of a table is out of range";
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[0].payload_bytes = 0; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[0].payload_bytes = 801; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held_tables[0].payload_bytes = 16'392; }), kText);
}

// spec: container.md#directory rule 7
TEST(DirectoryRoot, RejectsAnEntryCountOutOfRange) {
  constexpr auto kText = "the entry count of a held table is out of range";
  EXPECT_EQ(verdict_after([](auto& root) { root.held_tables[0].entry_count = 0; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held_tables[0].entry_count = 385; }), kText);
}

// spec: container.md#directory rule 8
TEST(DirectoryRoot, RejectsExtentsThatAreNotAligned) {
  constexpr auto kText = "an extent is not aligned to the unit";
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[0].offset_bytes += 8; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held[0].extent.length_bytes += 512; }), kText);
}

// spec: container.md#directory rule 8
TEST(DirectoryRoot, RejectsExtentsOutsideTheData) {
  constexpr auto kText = "an extent lies outside the data";
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[0].offset_bytes = 77'824; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[0].offset_bytes = kHighWater; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held_tables[0].offset_bytes = 0ull - 4096; }),
            kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held[0].extent.length_bytes = 0; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held[0].extent.length_bytes = 0ull - 4096; }),
            kText);
}

// spec: container.md#directory rule 9
TEST(DirectoryRoot, RejectsExtentsBornOutsideOfTime) {
  constexpr auto kText = "an extent is born outside of time";
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[0].born = {0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held_tables[0].born = {11}; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held[0].born = {0}; }), kText);
}

// spec: container.md#directory rule 9
TEST(DirectoryRoot, RejectsHeldExtentsRetiredOutsideOfTime) {
  constexpr auto kText = "a held extent is retired outside of time";
  EXPECT_EQ(verdict_after([](auto& root) { root.held[0].retired = {11}; }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held[0].born = {9}; }), kText);
}

// spec: container.md#directory rule 10
TEST(DirectoryRoot, RejectsOverlappingExtents) {
  constexpr auto kText = "two extents overlap";
  EXPECT_EQ(verdict_after([](auto& root) { root.tables[1].offset_bytes = unit(1); }), kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held_tables.push_back(root.held_tables[0]); }),
            kText);
  EXPECT_EQ(verdict_after([](auto& root) { root.held[1].extent.offset_bytes = unit(5); }), kText);
}

TEST(HeldTable, ReturnsWhatWasEncoded) {
  std::vector<HeldExtent> entries;
  for (std::uint64_t i = 0; i < kHeldTableEntriesMax / 2; ++i) {
    entries.push_back({{unit(i), kUnitBytes}, {1 + i % 8}, {9 + i % 2}});
  }
  const auto parsed = parse_held_table(encode_held_table(entries), kLimits);
  ASSERT_TRUE(parsed) << parsed.error().text;
  EXPECT_EQ(*parsed, entries);
}

TEST(HeldTable, FitsItsLimitWhenFull) {
  const std::vector<HeldExtent> entries(kHeldTableEntriesMax, {{unit(0), kUnitBytes}, {1}, {9}});
  EXPECT_LE(encode_held_table(entries).size(), kTableBytesMax);
}

// spec: container.md#directory rule 2
TEST(HeldTable, RejectsMoreThan16KiB) {
  EXPECT_EQ(text_of(parse_held_table(Bytes(kTableBytesMax + 8), kLimits)),
            "a held table is too long");
}

// spec: container.md#directory rule 1
TEST(HeldTable, RejectsWhatIsNoFlatBuffer) {
  EXPECT_EQ(text_of(parse_held_table(Bytes(64), kLimits)),
            "a held table is not a FlatBuffer of its schema");
}

// spec: container.md#directory rule 9
TEST(HeldTable, RejectsABrokenEntry) {
  const std::vector<HeldExtent> entries{{{unit(0), kUnitBytes}, {9}, {9}}};
  EXPECT_EQ(text_of(parse_held_table(encode_held_table(entries), kLimits)),
            "a held extent is retired outside of time");
}

// spec: container.md#directory rule 10
TEST(Extents, AreDisjointInAnyOrder) {
  std::vector<Extent> extents{{unit(3), kUnitBytes}, {unit(0), 3 * kUnitBytes}};
  EXPECT_TRUE(check_disjoint(extents));
  extents.push_back({unit(2), kUnitBytes});
  const auto overlap = check_disjoint(extents);
  ASSERT_EQ(code_of(overlap), Errc::kDirectoryInvalid);
  EXPECT_EQ(overlap.error().offset, unit(2));
}

// spec: container.md#directory rule 10
TEST(Extents, AreNotDisjointWhenEqual) {
  std::vector<Extent> extents{{unit(3), kUnitBytes}, {unit(3), kUnitBytes}};
  EXPECT_FALSE(check_disjoint(extents));
}

}  // namespace
}  // namespace crawlstore::format
