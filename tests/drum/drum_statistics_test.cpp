// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <random>

#include <gtest/gtest.h>

#include <crawlstore/drum_statistics.h>

#include "drum/memory_store.h"

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
  must(drum.synchronize());
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

}  // namespace
}  // namespace crawlstore::testing
