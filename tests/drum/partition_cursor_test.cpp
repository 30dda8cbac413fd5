// SPDX-License-Identifier: Apache-2.0
//
// Merges of partitions that are not what their DRUM says, or that have rotted.
#include <array>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/drum_statistics.h>

#include "container/drum_sample.h"
#include "drum/partition.h"

namespace crawlstore::testing {
namespace {

using Value = std::array<char, 2>;

/// The report of a merge of bucket 0; all its keys are taken along.
Result<MergeReport> merge(const Bytes& bytes) {
  auto store =
      must(Store::open(open_memory_storage(make_memory_file(bytes, 1 << 24), OpenMode::kWrite)));
  auto drum = must(Drum<std::uint64_t, Value>::open(store, "sample"));
  NullDispatcher nobody;
  drum.attach(nobody);
  must(drum.update(6, Value{'a', 'b'}));
  return drum.merge();
}

/// `payload` with its index replaced by a block of one key, behind all others, which a cursor that
/// counts keys alone would take for one. The footer is changed by `change`.
template <class Change>
Bytes with_block_as_index(Bytes payload, const Change& change) {
  format::PartitionFooter footer{};
  const std::size_t place = payload.size() - sizeof footer;
  std::memcpy(&footer, payload.data() + place, sizeof footer);
  Bytes block;
  const std::uint64_t key = kSplit - 1;
  format::encode_key_block(std::span(&key, 1), 2, Bytes(2), {}, block);
  const auto index = std::span(payload).subspan(footer.index_offset_bytes).first(block.size());
  EXPECT_EQ(index.size_bytes() + footer.index_offset_bytes, place);
  std::ranges::copy(block, index.begin());
  change(footer);
  std::memcpy(payload.data() + place, &footer, sizeof footer);
  return payload;
}

void expect_invalid(const Bytes& bytes, std::string_view text) {
  const auto merged = merge(bytes);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, Errc::kSegmentInvalid);
  EXPECT_EQ(std::string_view(merged.error().text), text);
  EXPECT_TRUE(merged.error().segment);
  EXPECT_NE(merged.error().offset, Error::kNoOffset);
}

constexpr auto kOtherCount = "the blocks of a partition do not hold as many keys as its DRUM says";

TEST(PartitionCursor, MergesTheSampleAsItIs) {
  const auto report = must(merge(sample_file([](DrumSample&) {})));
  EXPECT_EQ(report.new_key_count, 10U) << "6, and of ten that waited all but one";
}

TEST(PartitionCursor, LosesNoKeysThatTheBucketDoesNotCount) {
  // At the end of a block: nothing else tells.
  expect_invalid(sample_file([](DrumSample& made) { made.table.buckets[0].key_count = 1024; }),
                 kOtherCount);
}

TEST(PartitionCursor, TakesNoIndexForKeys) {
  const auto blocks_of = [](std::uint64_t footer_count) {
    return sample_file([&](DrumSample& made) {
      made.segments[kPartition0].payloads = {
          with_block_as_index(partition_of(keys_from(5, 1000, 700), 2),
                              [&](auto& footer) { footer.key_count = footer_count; })};
      made.segments[kPartition0].record_counts = {701};
      made.table.buckets[0].key_count = 701;
    });
  };
  expect_invalid(blocks_of(700), kOtherCount);
  expect_invalid(blocks_of(701), kOtherCount);
}

TEST(PartitionCursor, RefusesAFooterThatBreaksARule) {
  expect_invalid(sample_file([](DrumSample& made) {
                   made.segments[kPartition0].payloads[0].back() ^= std::byte{1};
                 }),
                 "the magic number of a partition is wrong");
}

TEST(PartitionCursor, RefusesAnotherLengthOfValues) {
  expect_invalid(sample_file([](DrumSample& made) {
                   auto& payload = made.segments[kPartition0].payloads[0];
                   payload[payload.size() - 20] = std::byte{3};  // value_bytes
                 }),
                 "a partition has keys or values of another size than its DRUM");
}

TEST(PartitionCursor, CallsRotDamageWhereverItIs) {
  const Bytes whole = sample_file([](DrumSample&) {});
  const auto snapshot = must(Snapshot::open(
      std::shared_ptr(open_memory_storage(make_memory_file(whole), OpenMode::kRead))));
  const auto view = must(DrumView::open(snapshot, "sample"));
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.id != view.buckets()[0].partition) continue;
    const RunInfo& run = segment.runs.front();
    for (std::uint64_t i = 0; i < run.payload_bytes; i += 7) {
      Bytes bytes = whole;
      bytes[run.extent.offset_bytes + i] ^= std::byte{0xFF};
      const auto merged = merge(bytes);
      ASSERT_FALSE(merged) << i;
      EXPECT_EQ(merged.error().code, Errc::kChunkDamaged) << i << ": " << merged.error().text;
      EXPECT_EQ(merged.error().offset, run.extent.offset_bytes) << "one chunk";
      EXPECT_EQ(merged.error().segment, segment.id);
    }
  }
}

TEST(PartitionCursor, NamesTheChunkThatHasRotted) {
  const auto keys = keys_from(5, 1000, 100'000);
  const Bytes whole = sample_file([&](DrumSample& made) {
    made.segments[kPartition0].payloads = {partition_of(keys, 2)};
    made.segments[kPartition0].record_counts = {keys.size()};
    made.table.buckets[0].key_count = keys.size();
  });
  const auto snapshot = must(Snapshot::open(
      std::shared_ptr(open_memory_storage(make_memory_file(whole), OpenMode::kRead))));
  const auto info = must(partition_info(must(DrumView::open(snapshot, "sample")), 0));
  ASSERT_GT(info.payload_bytes, 3 * format::kChunkBytes);
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.id != info.partition) continue;
    for (std::uint64_t chunk = 0; chunk < 3; ++chunk) {
      Bytes bytes = whole;
      const std::uint64_t offset =
          segment.runs.front().extent.offset_bytes + chunk * format::kChunkBytes;
      for (std::size_t i = 0; i < 4096; ++i) bytes[offset + 1000 + i] = std::byte{0xFF};
      const auto merged = merge(bytes);
      ASSERT_FALSE(merged);
      EXPECT_EQ(merged.error().code, Errc::kChunkDamaged) << merged.error().text;
      EXPECT_EQ(merged.error().offset, offset);
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
