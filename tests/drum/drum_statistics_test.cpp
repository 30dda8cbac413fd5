// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <random>

#include <gtest/gtest.h>

#include <crawlstore/tools/drum_statistics.h>

#include "base/inside.h"
#include "container/run_io.h"
#include "container/store_impl.h"
#include "drum/log_rules.h"
#include "drum/memory_store.h"
#include "format/drum_table.h"

namespace crawlstore::testing {
namespace {

/// A DRUM of keys in 4 buckets, merged.
template <class Key>
void fill(Store& store, const std::vector<Key>& keys) {
  DrumOptions options;
  options.bucket_count = 4;
  auto drum = must(Drum<Key>::open(store, "keys", options));
  NullDispatcher nobody;
  drum.attach(nobody);
  for (const Key& key : keys) must(drum.check_update(key));
  must(drum.merge());
  must(store.commit());
}

std::vector<std::uint64_t> random_keys(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> keys(count);
  for (auto& key : keys) key = random() >> 1;  // two buckets stay empty
  return keys;
}

TEST(PartitionInfo, AgreesWithTheSegmentTable) {
  MemoryStore store;
  fill(*store, random_keys(2000));
  const auto view = drum_view(*store, "keys");
  const auto segments = must(store->snapshot()).segments();
  for (std::size_t b = 0; b < 2; ++b) {
    const auto info = must(partition_info(view, b));
    const auto segment = std::find_if(segments.begin(), segments.end(),
                                      [&](const auto& s) { return s.id == info.partition; });
    ASSERT_NE(segment, segments.end());
    EXPECT_EQ(info.key_count, view.buckets()[b].key_count);
    EXPECT_EQ(info.block_count, (info.key_count + 511) / 512);
    EXPECT_EQ(info.payload_bytes, segment->payload_bytes());
    EXPECT_EQ(info.allocated_bytes, segment->allocated_bytes());
    EXPECT_NEAR(info.bits_per_key(), 56, 2);  // 2^62 / 1000: 52 bits and 2 to 4 more
  }
}

TEST(PartitionInfo, IsAllZerosWithoutKeys) {
  MemoryStore store;
  fill(*store, random_keys(10));
  const auto view = drum_view(*store, "keys");
  const auto info = must(partition_info(view, 3));
  EXPECT_FALSE(info.partition);
  EXPECT_EQ(info.key_count, 0U);
  EXPECT_EQ(info.bits_per_key(), 0);
  EXPECT_EQ(partition_info(view, 4).error().code, Errc::kInvalidArgument);
}

/// By sorting.
GapHistogram expected_gaps(std::vector<std::uint64_t> keys) {
  std::sort(keys.begin(), keys.end());
  GapHistogram expected;
  expected.key_count = keys.size();
  for (std::size_t i = 1; i < keys.size(); ++i) {
    ++expected.counts[static_cast<std::size_t>(std::bit_width(keys[i] - keys[i - 1]) - 1)];
  }
  return expected;
}

TEST(GapHistogram, CountsTheWholeDrumAcrossBuckets) {
  MemoryStore store;
  auto keys = random_keys(20'000);
  keys.push_back(~std::uint64_t{0});
  fill(*store, keys);
  const auto found = must(gap_histogram(drum_view(*store, "keys")));
  const auto expected = expected_gaps(keys);
  EXPECT_EQ(found.counts, expected.counts);
  EXPECT_EQ(found.key_count, expected.key_count);
  EXPECT_EQ(found.shared_head_count, 0U);
}

TEST(GapHistogram, CountsOneBucket) {
  MemoryStore store;
  auto keys = random_keys(5000);
  fill(*store, keys);
  GapOptions options;
  options.bucket = 1;
  const auto found = must(gap_histogram(drum_view(*store, "keys"), options));
  std::erase_if(keys, [](std::uint64_t key) { return key >> 62 != 1; });
  EXPECT_EQ(found.counts, expected_gaps(keys).counts);
  EXPECT_EQ(found.key_count, keys.size());
}

TEST(GapHistogram, CountsSharedHeadsOfWideKeys) {
  MemoryStore store;
  fill(*store, std::vector<Key16>{{0, 5}, {0, 6}, {8, 1}, {8, 2}, {8, 3}});
  const auto found = must(gap_histogram(drum_view(*store, "keys")));
  EXPECT_EQ(found.shared_head_count, 3U);
  EXPECT_EQ(found.counts[3], 1U);
  EXPECT_EQ(found.key_count, 5U);
}

TEST(GapHistogram, TellsHowFarItIsAndStopsWhenToldTo) {
  MemoryStore store;
  fill(*store, random_keys(50'000));
  const auto view = drum_view(*store, "keys");
  std::vector<std::uint64_t> told;
  GapOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, 50'000U);
    told.push_back(done);
    return true;
  };
  must(gap_histogram(view, options));
  EXPECT_GE(told.size(), 5U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 50'000U);
  options.progress = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_EQ(gap_histogram(view, options).error().code, Errc::kCancelled);
}

/// The fullest log of all buckets, as the file states it; nullopt = not stated.
std::optional<double> fullest_log(const Store& store) {
  const auto view = drum_view(store, "keys");
  std::optional<double> fullest;
  for (std::size_t b = 0; b < view.buckets().size(); ++b) {
    const BucketFill fill = must(bucket_fill(view, b));
    if (fill.merge_ratio) fullest = std::max(fullest.value_or(0), *fill.merge_ratio);
  }
  return fullest;
}

/// Requests until a bucket calls for a merge: the file says so then, and not a commit before.
void expect_ratio_foresees_merge(DrumOptions options) {
  MemoryStore store;
  options.bucket_count = 4;
  options.auto_merge = false;
  options.log_first = true;
  auto drum = must(Drum<std::uint64_t>::open(*store, "keys", options));
  const auto keys = random_keys(30'000);
  double last = 0;
  for (std::size_t at = 0; at < keys.size(); at += 300) {
    for (std::size_t i = at; i < at + 300; ++i) must(drum.check_update(keys[i]));
    must(store->commit());
    const double fullest = fullest_log(*store).value();
    ASSERT_GE(fullest, last);
    last = fullest;
    NullDispatcher nobody;
    drum.attach(nobody);
    const bool merged = must(drum.core().merge_if_full()).bucket_count != 0;
    ASSERT_EQ(merged, fullest > 1) << at << ": " << fullest;
    if (merged) return;
  }
  FAIL() << "no bucket was ever full";
}

TEST(BucketFill, IsAboveOneWhenTheWriterWouldMergeByBytes) {
  expect_ratio_foresees_merge({.bucket_bytes = 20'000});
}

TEST(BucketFill, IsAboveOneWhenTheWriterWouldMergeByRequests) {
  expect_ratio_foresees_merge({.memory_bytes = 65'536});
}

TEST(BucketFill, CountsRunsTooWhereLogsHaveManySmallOnes) {
  const drum::LogSize log{.run_count = drum::kRunsUntilMerge + 1, .request_count = 200};
  for (const auto& thresholds :
       {drum::MergeThresholds{.bytes = 1 << 30}, drum::MergeThresholds{.requests = 1 << 20}}) {
    EXPECT_TRUE(drum::calls_for_merge(log, thresholds));
    EXPECT_GT(drum::merge_ratio(log, thresholds), 1);
  }
}

TEST(BucketFill, IsOfTheWriterThatWroteTheDrumLast) {
  MemoryStore store;
  DrumOptions options;
  options.partition_keys_max = 4000;
  options.bucket_bytes = 1 << 20;
  auto drum = must(Drum<std::uint64_t>::open(*store, "keys", options));
  must(drum.check_update(1));
  must(store->commit());
  EXPECT_EQ(drum_info(*store, "keys").merge_bytes, 1U << 20);
  EXPECT_EQ(drum_info(*store, "keys").merge_requests, 0U);
  EXPECT_EQ(drum_info(*store, "keys").partition_keys_max, 4000U);
  options.bucket_bytes = 0;
  options.memory_bytes = 480'000;
  must(drum.core().tune(options));
  must(drum.check_update(2));
  must(store->commit());
  EXPECT_EQ(drum_info(*store, "keys").merge_bytes, 0U);
  EXPECT_EQ(drum_info(*store, "keys").merge_requests, 10'000U);  // 48 bytes each
}

TEST(BucketFill, TellsWhenAPartitionSplits) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 1;
  auto drum = must(Drum<std::uint64_t>::open(*store, "keys", options));
  for (const std::uint64_t key : random_keys(100)) must(drum.update(key));
  must(drum.merge());
  options.partition_keys_max = 80;
  must(drum.core().tune(options));
  must(drum.update(7));
  must(store->commit());
  EXPECT_EQ(must(bucket_fill(drum_view(*store, "keys"), 0)).split_ratio, 1.25);
  must(drum.merge());
  const auto view = drum_view(*store, "keys");
  ASSERT_GT(view.buckets().size(), 1U);
  EXPECT_LT(must(bucket_fill(view, 0)).split_ratio.value(), 1);
  EXPECT_EQ(bucket_fill(view, 99).error().code, Errc::kInvalidArgument);
}

TEST(BucketFill, StatesNothingWhereTheFileDoesNot) {
  MemoryStore store;
  format::DrumTable table;
  table.buckets.resize(1);
  table.consumers.resize(1);
  auto& writer = *Inside::of(*store).writer;
  const SegmentId id = writer.new_segment_id();
  const auto run =
      must(container::write_run(writer, {id, SegmentKind::kDrum, {}, writer.new_run_ids(1)},
                                format::encode_drum_table(table), 1));
  writer.put({id, SegmentKind::kDrum, StorageClass::kBlob, {}, "keys", {run}});
  must(writer.commit());
  const BucketFill fill = must(bucket_fill(drum_view(*store, "keys"), 0));
  EXPECT_EQ(fill.merge_ratio, std::nullopt);
  EXPECT_EQ(fill.split_ratio, std::nullopt);
}

}  // namespace
}  // namespace crawlstore::testing
