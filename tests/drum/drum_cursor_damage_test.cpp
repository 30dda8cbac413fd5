// SPDX-License-Identifier: Apache-2.0
//
// Windows into DRUMs that no writer of ours makes, or that are broken in one place.
#include <gtest/gtest.h>

#include <crawlstore/tools/drum_cursor.h>
#include <crawlstore/tools/drum_statistics.h>

#include "container/drum_sample.h"

namespace crawlstore::testing {
namespace {

/// The keys in blocks of these lengths, values of 2 bytes; the footer says `key_count`.
Bytes partition_in_blocks(std::span<const std::uint64_t> keys,
                          const std::vector<std::size_t>& lengths, std::uint64_t key_count) {
  Bytes payload;
  format::PartitionIndex index;
  auto rest = keys;
  for (const std::size_t length : lengths) {
    index.first_keys.push_back(rest.front());
    index.block_offsets.push_back(static_cast<std::uint32_t>(payload.size() / 8));
    format::encode_key_block(rest.first(length), 2, Bytes(length * 2), {}, payload);
    rest = rest.subspan(length);
  }
  const std::uint64_t blocks_bytes = payload.size();
  format::encode_partition_tail(index, key_count, keys.back(), 2, blocks_bytes, payload);
  return payload;
}

/// A view of the sample after `change`; the store in which it lies goes with it.
struct Sample {
  explicit Sample(const std::function<void(DrumSample&)>& change) : store(sample_file(change)) {}
  [[nodiscard]] DrumView view() const {
    return must(DrumView::open(must(Snapshot::open(store.storage(OpenMode::kRead))), "sample"));
  }
  ContainerStore store;
};

template <class T>
Error error_of(const Result<T>& result) {
  if (result) throw std::runtime_error("no error");
  return result.error();
}

TEST(DrumCursorDamage, CountsKeysInBlocksOfAnyLength) {
  const Sample sample([](DrumSample& made) {
    const auto keys = keys_from(5, 1000, 1500);
    made.segments[kPartition0].payloads = {
        partition_in_blocks(keys, {1, 512, 300, 7, 512, 168}, 1500)};
  });
  EXPECT_TRUE(sample.store.verified(VerifyLevel::kDeep).findings.empty());
  const auto view = sample.view();
  for (std::uint64_t row = 0; row < 1500; row += 3) {
    const auto rows = must(keys_at(view, row, 3));
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[1].row, row + 1);
    EXPECT_EQ(rows[1].key, Key16{5 + (row + 1) * 1000});
    EXPECT_EQ(must(row_of(view, 5 + row * 1000)), row);
    EXPECT_EQ(must(row_of(view, 6 + row * 1000)), row + 1);
  }
}

TEST(DrumCursorDamage, RefusesBlocksThatHoldAnotherNumberOfKeys) {
  for (const std::uint64_t key_count : {1499U, 1501U}) {
    const Sample sample([&](DrumSample& made) {
      made.segments[kPartition0].payloads = {
          partition_in_blocks(keys_from(5, 1000, 1500), {500, 500, 500}, key_count)};
      made.table.buckets[0].key_count = key_count;
    });
    EXPECT_EQ(error_of(keys_at(sample.view(), 0, 1)).code, Errc::kSegmentInvalid);
    EXPECT_EQ(error_of(row_of(sample.view(), 700)).code, Errc::kSegmentInvalid);
  }
}

TEST(DrumCursorDamage, ChecksEachBlockThatIsAssumedFull) {
  // The last block explains what is missing, but the two before it do not hold 512 keys each.
  const Sample sample([](DrumSample& made) {
    made.segments[kPartition0].payloads = {
        partition_in_blocks(keys_from(5, 1000, 1500), {500, 500, 476}, 1500)};
  });
  const auto error = error_of(keys_at(sample.view(), 0, 1));
  EXPECT_EQ(error.code, Errc::kSegmentInvalid);
  EXPECT_STREQ(error.text, "a key block holds another number of keys than its partition needs");
  EXPECT_NE(error.offset, Error::kNoOffset);
}

TEST(DrumCursorDamage, RefusesAnotherKeyCountThanTheBuckets) {
  const Sample sample([](DrumSample& made) { made.table.buckets[0].key_count = 1501; });
  EXPECT_EQ(error_of(keys_at(sample.view(), 3, 1)).code, Errc::kSegmentInvalid);
  EXPECT_EQ(must(keys_at(sample.view(), 1501, 1)).at(0).key, Key16{kSplit});
}

TEST(DrumCursorDamage, RefusesKeyCountsThatOverflow) {
  const Sample sample([](DrumSample& made) {
    for (auto& bucket : made.table.buckets) bucket.key_count = std::uint64_t{1} << 63;
  });
  const auto snapshot = must(Snapshot::open(sample.store.storage(OpenMode::kRead)));
  EXPECT_EQ(error_of(DrumView::open(snapshot, "sample")).code, Errc::kSegmentInvalid);
}

TEST(DrumCursorDamage, TellsWhereAPartitionIsDamaged) {
  const Sample sample([](DrumSample&) {});
  auto bytes = sample.store.bytes();
  const auto offset = must(keys_at(sample.view(), 0, 1)).at(0).block_offset_bytes;
  bytes[offset + 20] ^= std::byte{1};
  const auto snapshot =
      must(Snapshot::open(open_memory_storage(make_memory_file(bytes), OpenMode::kRead)));
  const auto view = must(DrumView::open(snapshot, "sample"));
  for (const Error& error : {error_of(keys_at(view, 0, 1)), error_of(gap_histogram(view))}) {
    EXPECT_EQ(error.code, Errc::kChunkDamaged);
    EXPECT_EQ(error.segment, view.buckets()[0].partition);
    EXPECT_EQ(error.offset, offset);
  }
  EXPECT_EQ(must(keys_at(view, 1500, 1)).at(0).key, Key16{kSplit}) << "the other bucket is whole";
}

TEST(DrumCursorDamage, RefusesARunWithAnotherCount) {
  const Sample sample([](DrumSample& made) { made.segments[kKeyLog].record_counts = {9, 11}; });
  EXPECT_EQ(error_of(pending_at(sample.view(), 1, 0, 1)).code, Errc::kSegmentInvalid);
  EXPECT_EQ(error_of(find_key(sample.view(), kSplit)).code, Errc::kSegmentInvalid);
}

TEST(DrumCursorDamage, RefusesAuxiliariesWithAnotherCount) {
  const Sample sample([](DrumSample& made) {
    made.segments[kAuxLog].payloads = {aux_run_of(9)};
    made.segments[kAuxLog].record_counts = {9};
  });
  EXPECT_EQ(error_of(pending_at(sample.view(), 1, 10, 1)).code, Errc::kSegmentInvalid);
  EXPECT_EQ(must(pending_at(sample.view(), 1, 9, 1)).at(0).index, 9U) << "the first run has none";
}

// An auxiliary log may have no runs: then all auxiliaries are empty (drum.md#drum).
TEST(DrumCursorDamage, ReadsRequestsBesideAnAuxiliaryLogWithoutRuns) {
  const Sample sample([](DrumSample& made) {
    made.segments[kAuxLog].payloads.clear();
    made.segments[kAuxLog].run_ids.clear();
    made.segments[kAuxLog].record_counts.clear();
  });
  const auto rows = must(pending_at(sample.view(), 1, 0, 100));
  ASSERT_EQ(rows.size(), 20u);
  for (const PendingRow& row : rows) EXPECT_EQ(row.aux_bytes, 0u);
  EXPECT_EQ(must(bucket_fill(sample.view(), 1)).aux_log_bytes, 0u);
}

}  // namespace
}  // namespace crawlstore::testing
