// SPDX-License-Identifier: Apache-2.0
//
// The bounds on the cost of merges and lookups. A seek is a read or write of the storage that does
// not start where the last one of its kind ended, whatever it reads or writes: superblocks,
// directory and DRUM table are in it as well.

#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t>;
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;

std::vector<std::uint64_t> spread_keys(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = first; i < first + count; ++i) keys.push_back(i * kSpread);
  return keys;
}

DrumOptions sixteen_buckets() {
  DrumOptions options;
  options.bucket_count = 16;
  options.auto_merge = false;
  options.parallel = false;
  options.memory_bytes = 32 << 20;
  return options;
}

// covers: D10, D13
TEST(DrumCost, SeeksAtMostThreeTimesAPartition) {
  MemoryStore store;
  auto drum = must(Keys::open(*store, "keys", sixteen_buckets()));
  NullDispatcher nobody;
  drum.attach(nobody);
  must(drum.check_update(spread_keys(0, 200000)));
  must(drum.merge());
  must(drum.check_update(spread_keys(150000, 200000)));
  const MergeReport report = must(drum.merge());
  EXPECT_EQ(report.bucket_count, 16U);
  EXPECT_LE(report.partition_read_seeks, 2 * 16U) << "one to the log, one to the old partition";
  EXPECT_LE(report.partition_read_seeks + report.partition_write_seeks, 3 * 16 + 24U)
      << "one more to the new partition; 24 for directory, table and superblocks";
}

// covers: D13
TEST(DrumCost, ReadsAndWritesEachPartitionOnce) {
  MemoryStore store;
  auto drum = must(Keys::open(*store, "keys", sixteen_buckets()));
  NullDispatcher nobody;
  drum.attach(nobody);
  must(drum.check_update(spread_keys(0, 400000)));
  must(drum.merge());
  const std::uint64_t partitions = drum_info(*store, "keys").partition_bytes;
  must(drum.check_update(spread_keys(400000, 1000)));
  const auto before = store->counters().storage;
  must(drum.merge());
  const auto after = store->counters().storage;
  EXPECT_LE(after.bytes_read - before.bytes_read, partitions * 21 / 20 + (1 << 20));
  EXPECT_LE(after.bytes_written - before.bytes_written, partitions * 5 / 4 + (1 << 20));
}

TEST(DrumCost, LooksUpInConstantBytes) {
  MemoryStore store;
  auto drum = must(Keys::open(*store, "keys", sixteen_buckets()));
  NullDispatcher nobody;
  drum.attach(nobody);
  std::vector<std::uint64_t> bytes;
  for (const std::uint64_t count : {20000UL, 1000000UL}) {
    must(drum.check_update(spread_keys(0, count)));
    must(drum.merge());
    const Snapshot snapshot = must(store->snapshot());
    const DrumView view = must(DrumView::open(snapshot, "keys"));
    static_cast<void>(must(view.lookup(5 * kSpread)));  // opens the partition
    const auto before = snapshot.counters();
    for (std::uint64_t i = 0; i < 64; ++i) {
      EXPECT_TRUE(must(view.lookup((count / 64 * i) * kSpread)));
    }
    bytes.push_back((snapshot.counters().bytes_read - before.bytes_read) / 64);
  }
  EXPECT_LE(bytes[0], 4 * 65536U);
  EXPECT_LE(bytes[1], 4 * 65536U) << "fifty times the keys, no more bytes a lookup";
}

}  // namespace
}  // namespace crawlstore::testing
