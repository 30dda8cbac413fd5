// SPDX-License-Identifier: Apache-2.0
//
// The rule against its bounds; tests/model/bucket_choice_test.cpp holds it to the simulation.
#include "drum/choose_buckets.h"

#include <bit>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "drum/memory_store.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::uint32_t buckets_for(std::uint64_t keys, std::uint64_t memory_bytes,
                          std::int32_t value_bytes = 0) {
  DrumOptions options;
  options.expected_keys = keys;
  options.memory_bytes = memory_bytes;
  return drum::choose_buckets(options, {format::kKeyBytes, value_bytes});
}

// covers: D26
TEST(ChooseBuckets, DecidesForANewDrum) {
  MemoryStore store;
  const auto buckets_of = [&store](const char* name, std::uint64_t expected_keys) {
    DrumOptions options;
    options.expected_keys = expected_keys;
    return must(Drum<std::uint64_t>::open(*store, name, options)).status().bucket_count;
  };
  EXPECT_EQ(buckets_of("unknown", 0), 128U) << "64 MiB, sorts of at most 131072 requests";
  EXPECT_EQ(buckets_of("few", 1000), 1U);
  EXPECT_EQ(buckets_of("many", 50'000'000), buckets_for(50'000'000, 64 * kMiB));
}

TEST(ChooseBuckets, KeepsPartitionsBetweenTheirBounds) {
  for (std::uint64_t keys = 1; keys <= std::uint64_t{1} << 40; keys *= 4) {
    for (std::uint64_t memory = kMiB / 16; memory <= 16384 * kMiB; memory *= 16) {
      const std::uint64_t buckets = buckets_for(keys, memory, 8);
      EXPECT_TRUE(std::has_single_bit(buckets)) << keys << ' ' << memory;
      EXPECT_TRUE(buckets <= 8 || keys / buckets >= 16384) << keys << ' ' << memory;
      EXPECT_LE(buckets, 65536U) << keys << ' ' << memory;
      EXPECT_TRUE(buckets == 65536 || keys / buckets <= DrumOptions{}.partition_keys_max / 2);
    }
  }
}

TEST(ChooseBuckets, TakesFrom16To128WithoutKnowingKeys) {
  EXPECT_EQ(buckets_for(0, kMiB / 16), 16U);
  EXPECT_EQ(buckets_for(0, 32 * kMiB), 64U);
  EXPECT_EQ(buckets_for(0, 32 * kMiB, 24), 16U) << "fewer requests of 32 bytes fit";
  EXPECT_EQ(buckets_for(0, 16384 * kMiB), 128U);
}

TEST(ChooseBuckets, TakesMoreOnceLogsHaveToFitASlice) {
  EXPECT_EQ(buckets_for(10'000'000, 64 * kMiB), 128U) << "of the memory alone";
  EXPECT_GE(buckets_for(10'000'000'000, 64 * kMiB), 4096U);
}

}  // namespace
}  // namespace crawlstore::testing
