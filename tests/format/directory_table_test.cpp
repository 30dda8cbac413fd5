// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "container/kind.h"
#include "format/directory.h"
#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;
using Segments = std::vector<SegmentEntry>;

constexpr std::uint64_t kHighWater = std::uint64_t{1} << 40;
const ParseLimits kLimits{{10}, kHighWater, kDataStart, container::all_kinds().rules()};

RunRef run(std::uint64_t id, std::uint64_t payload_bytes = 100) {
  return {kDataStart + id * 65'536, {1 + id % 10}, {id}, payload_bytes, id * 3, id * 77};
}

/// A drum with one segment of each kind.
Segments valid_segments() {
  return {{{4}, SegmentKind::kDrum, StorageClass::kBlob, {0}, "urls", {run(1)}},
          {{5}, SegmentKind::kDrumPartition, StorageClass::kBlob, {4}, "", {run(2, 1 << 20)}},
          {{6}, SegmentKind::kDrumKeyLog, StorageClass::kLog, {4}, "", {run(20), run(22)}},
          {{7}, SegmentKind::kDrumAuxLog, StorageClass::kLog, {4}, "", {run(21)}},
          {{9}, SegmentKind::kDrumResults, StorageClass::kLog, {4}, "", {}}};
}

std::string verdict_after(const std::function<void(Segments&)>& change) {
  Segments segments = valid_segments();
  change(segments);
  return text_of(parse_table(encode_table(segments), kLimits));
}

TEST(SegmentTable, ReturnsWhatWasEncoded) {
  const auto parsed = parse_table(encode_table(valid_segments()), kLimits);
  ASSERT_TRUE(parsed) << parsed.error().text;
  EXPECT_EQ(*parsed, valid_segments());
}

TEST(SegmentTable, ReturnsRandomTablesAsTheyWere) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 200; ++i) {
    Segments segments;
    std::uint64_t run_id = 1;
    for (std::uint64_t id = 1 + random() % 9; segments.size() < 20; id += 1 + random() % 9) {
      SegmentEntry log{{id}, SegmentKind::kDrumKeyLog, StorageClass::kLog, {id + 1}, "", {}};
      for (auto left = random() % 8; left > 0; --left) {
        log.runs.push_back(run(run_id++, 1 + random() % 60'000));
      }
      segments.push_back(log);
    }
    const auto parsed = parse_table(encode_table(segments), kLimits);
    ASSERT_TRUE(parsed) << parsed.error().text;
    ASSERT_EQ(*parsed, segments);
  }
}

TEST(SegmentTable, Holds128SegmentsIn16KiB) {
  Segments segments;
  for (std::uint64_t id = 1; id <= kTableSegmentsMax; ++id) {
    segments.push_back(
        {{id}, SegmentKind::kDrumPartition, StorageClass::kBlob, {999}, "", {run(id)}});
  }
  const Bytes bytes = encode_table(segments);
  EXPECT_LE(bytes.size(), kTableBytesMax);
  EXPECT_TRUE(parse_table(bytes, kLimits));
}

TEST(SegmentTable, HoldsALogOf256RunsIn16KiB) {
  SegmentEntry log{{1}, SegmentKind::kDrumKeyLog, StorageClass::kLog, {2}, "", {}};
  for (std::uint64_t id = 1; id <= kRunsPerLogMax; ++id) log.runs.push_back(run(id));
  const Bytes bytes = encode_table(std::span(&log, 1));
  EXPECT_LE(bytes.size(), kTableBytesMax);
  EXPECT_TRUE(parse_table(bytes, kLimits));
}

// spec: container.md#directory rule 1
TEST(SegmentTable, RejectsWhatIsNoFlatBuffer) {
  constexpr auto kText = "a table is not a FlatBuffer of its schema";
  EXPECT_EQ(text_of(parse_table({}, kLimits)), kText);
  EXPECT_EQ(text_of(parse_table(Bytes(64), kLimits)), kText);
  EXPECT_EQ(text_of(parse_table(Bytes(64, std::byte{0xFF}), kLimits)), kText);
}

// spec: container.md#directory rule 1
TEST(SegmentTable, SurvivesEverySingleByteChange) {
  const Bytes whole = encode_table(valid_segments());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      const auto parsed = parse_table(with(whole, i, static_cast<std::uint8_t>(value)), kLimits);
      if (parsed) {
        ASSERT_LE(parsed->size(), kTableSegmentsMax);
      }
    }
  }
}

// spec: container.md#directory rule 1
TEST(SegmentTable, RejectsSharedParts) {
  Segments segments;
  for (std::uint64_t id = 1; id <= 3; ++id) {
    SegmentEntry log{{id}, SegmentKind::kDrumKeyLog, StorageClass::kLog, {9}, "", {run(id)}};
    while (id == 1 && log.runs.size() < 60) log.runs.push_back(run(log.runs.size() + 10));
    segments.push_back(log);
  }
  Bytes bytes = encode_table(segments);
  // The later segments are made to point at the 60 runs of the first one.
  const auto vector_of = [&bytes](const RunRef& first) {
    std::size_t at = 0;
    while (load<std::uint64_t>(bytes.data() + at) != first.offset_bytes) at += 8;
    return at - 4;  // where its length stands
  };
  for (const std::uint64_t id : {2u, 3u}) {
    std::size_t field = 0;
    while (field + load<std::uint32_t>(bytes.data() + field) != vector_of(run(id))) field += 4;
    bytes = with(bytes, field, static_cast<std::uint32_t>(vector_of(run(1)) - field));
  }
  EXPECT_EQ(text_of(parse_table(bytes, kLimits)), "parts of a table overlap");
}

// spec: container.md#directory rule 2
TEST(SegmentTable, RejectsMoreThan16KiB) {
  EXPECT_EQ(text_of(parse_table(Bytes(kTableBytesMax + 8), kLimits)), "a table is too long");
}

// spec: container.md#directory rule 5
TEST(SegmentTable, RejectsMoreThan128Segments) {
  Segments segments;
  for (std::uint64_t id = 1; id <= kTableSegmentsMax; ++id) {
    segments.push_back({{id}, SegmentKind::kDrumKeyLog, StorageClass::kLog, {999}, "", {}});
  }
  Bytes bytes = encode_table(segments);
  std::size_t vector = 0;
  while (load<std::uint32_t>(bytes.data() + vector) != kTableSegmentsMax) vector += 4;
  // One more element: the offset behind the vector is made to lead to the last segment again.
  const std::size_t last = vector + 4 * kTableSegmentsMax;
  const auto to_last = load<std::uint32_t>(bytes.data() + last);
  bytes = with(bytes, vector, kTableSegmentsMax + 1);
  bytes = with(bytes, last + 4, to_last - 4);
  EXPECT_EQ(text_of(parse_table(bytes, kLimits)), "a table is not a FlatBuffer of its schema");
}

// spec: container.md#directory rule 6
TEST(SegmentTable, RejectsIdsThatDoNotAscend) {
  constexpr auto kText = "segments are not in ascending order of ids";
  EXPECT_EQ(verdict_after([](auto& segments) { segments[0].id = {0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& segments) { segments[1].id = {4}; }), kText);
  EXPECT_EQ(verdict_after([](auto& segments) { std::swap(segments[1], segments[2]); }), kText);
}

// spec: container.md#directory rule 8
TEST(SegmentTable, RejectsRunsOutsideTheData) {
  constexpr auto kText = "an extent lies outside the data";
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs[0].offset_bytes = kHighWater; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs[0].offset_bytes = 4096; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs[0].payload_bytes = kHighWater; }), kText);
}

// spec: container.md#directory rule 8
TEST(SegmentTable, RejectsRunsThatAreNotAligned) {
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs[0].offset_bytes += 512; }),
            "an extent is not aligned to the unit");
}

// spec: container.md#directory rule 9
TEST(SegmentTable, RejectsRunsBornOutsideOfTime) {
  constexpr auto kText = "an extent is born outside of time";
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs[0].born = {0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs[0].born = {11}; }), kText);
}

// spec: container.md#directory rule 11
TEST(SegmentTable, RejectsUnknownKinds) {
  constexpr auto kText = "the kind of a segment is unknown";
  for (const int kind : {0, 23, 65'535}) {
    EXPECT_EQ(verdict_after([kind](auto& s) { s[1].kind = static_cast<SegmentKind>(kind); }),
              kText);
  }
}

// spec: container.md#directory rule 11
TEST(SegmentTable, RejectsAStorageClassThatIsNotTheKinds) {
  constexpr auto kText = "the storage class of a segment is not that of its kind";
  EXPECT_EQ(verdict_after([](auto& s) { s[1].storage_class = StorageClass::kLog; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[2].storage_class = StorageClass{0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[2].storage_class = StorageClass{3}; }), kText);
}

// spec: container.md#directory rule 12
TEST(SegmentTable, RejectsAnOwnerThatDoesNotFitTheKind) {
  constexpr auto kText = "the owner of a segment is not what its kind asks for";
  EXPECT_EQ(verdict_after([](auto& s) { s[0].owner = {1}; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[1].owner = {0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[1].owner = s[1].id; }), kText);
}

// spec: container.md#directory rule 13
TEST(SegmentTable, RejectsNamesThatAreNotValid) {
  constexpr auto kText = "the name of a segment is not valid";
  EXPECT_EQ(verdict_after([](auto& s) { s[0].name = "a\n"; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[0].name = std::string(256, 'a'); }), kText);
}

// spec: container.md#directory rule 13
TEST(SegmentTable, RejectsOwnersWithoutANameAndOthersWithOne) {
  constexpr auto kText = "a segment that owns others has no name, or one that is owned has one";
  EXPECT_EQ(verdict_after([](auto& s) { s[0].name.clear(); }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[3].name = "log"; }), kText);
}

// spec: container.md#directory rule 14
TEST(SegmentTable, RejectsRunCountsOutOfRange) {
  constexpr auto kText = "the run count of a segment is out of range";
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs.clear(); }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs.push_back(run(3)); }), kText);
  EXPECT_EQ(verdict_after([](auto& s) {
              for (std::uint64_t id = 1000; s[4].runs.size() <= 256; ++id) {
                s[4].runs.push_back(run(id));
              }
            }),
            kText);
}

// spec: container.md#directory rule 15
TEST(SegmentTable, RejectsRunIdsThatDoNotAscend) {
  constexpr auto kText = "runs are not in ascending order of run ids";
  EXPECT_EQ(verdict_after([](auto& s) { s[0].runs[0].run_id = {0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[2].runs[1].run_id = s[2].runs[0].run_id; }), kText);
}

// spec: container.md#directory rule 16
TEST(SegmentTable, RejectsPayloadLengthsOutOfRange) {
  constexpr auto kText = "the length of a payload is out of range";
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs[0].payload_bytes = 0; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs[0].payload_bytes = 1ull << 48; }), kText);
  EXPECT_EQ(verdict_after([](auto& s) { s[1].runs[0].payload_bytes = ~0ull; }), kText);
}

}  // namespace
}  // namespace crawlstore::format
