// SPDX-License-Identifier: Apache-2.0
//
// Random streams against a std::map. CRAWLSTORE_TEST_SEED shifts the seeds, CRAWLSTORE_LONG=1 runs
// two hundred times as many.

#include "drum/drum_stream.h"

#include <array>
#include <iostream>
#include <string>

#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

/// Streams of which each two of parallel, key_bytes and merge_scope meet; all three do in 60.
constexpr std::uint64_t kFew = 20;

/// Arrays of four requests, partitions of eight keys: everything happens in a hundred steps.
StreamPlan tiny_plan() {
  StreamPlan plan;
  plan.options.bucket_count = 4;
  plan.options.memory_bytes = 1 << 16;
  plan.options.array_elements = 4;
  plan.options.array_aux_bytes = 64;
  plan.options.bucket_bytes = 512;
  plan.options.partition_keys_max = 8;
  return plan;
}

StreamTotals run_many(StreamPlan plan, std::uint64_t count) {
  StreamTotals totals;
  const std::uint64_t first = test_seed();
  if (is_long()) count *= 200;
  for (plan.seed = first; plan.seed < first + count; ++plan.seed) {
    if (::testing::Test::HasFailure()) break;
    plan.options.parallel = plan.seed % 4 == 0;
    plan.options.key_bytes = plan.seed % 5 < 2 ? 16 : 8;
    plan.options.merge_scope = plan.seed % 3 == 0 ? MergeScope::kFull : MergeScope::kAll;
    totals += DrumStream(plan).run();
  }
  std::cout << "seeds from " << first << ": " << count << " streams, " << totals.requests
            << " requests, " << totals.answers << " answers, " << totals.merges << " merges, "
            << totals.transfers << " transfers, " << totals.splits << " splits, " << totals.reopens
            << " reopens, " << totals.kept_results << " kept results, " << totals.nested
            << " nested, " << totals.slices << " slices, " << totals.repeats << " repeats\n";
  return totals;
}

// covers: D1, D2, D3, D4, D11, D12
TEST(DrumStream, EqualsAMapWithoutValues) {
  const StreamTotals totals = run_many(tiny_plan(), 60);
  EXPECT_GT(totals.merges, 200U);
  EXPECT_GT(totals.transfers, 200U);
  EXPECT_GT(totals.splits, 200U);
}

TEST(DrumStream, EqualsAMapOfFixedValues) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  EXPECT_GT(run_many(plan, 60).splits, 150U);
}

TEST(DrumStream, EqualsAMapOfVariableValues) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = -1;
  plan.aux_bytes_max = 300;
  EXPECT_GT(run_many(plan, 60).splits, 150U);
}

TEST(DrumStream, EqualsAMapForSeveralConsumers) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  plan.consumer_count = 4;
  const StreamTotals totals = run_many(plan, 60);
  EXPECT_GT(totals.kept_results, 750U);
  EXPECT_GT(totals.reopens, 15U);
}

TEST(DrumStream, EqualsAMapWhenDispatchersSubmit) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = -1;
  plan.consumer_count = 2;
  plan.reentrant = true;
  EXPECT_GT(run_many(plan, 60).nested, 750U);
}

TEST(DrumStream, EqualsAMapWhenEachRequestIsCommitted) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  plan.options.durability = Durability::kRequest;
  plan.options.auto_merge = false;
  plan.step_count = 500;
  EXPECT_GT(run_many(plan, 6).requests, 2000U);
}

TEST(DrumStream, EqualsAMapWhenMergesPublishNothing) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = -1;
  plan.consumer_count = 3;
  plan.reentrant = true;
  plan.options.durability = Durability::kNone;
  plan.options.partition_keys_max = 1 << 20;
  EXPECT_GT(run_many(plan, 60).merges, 250U);
}

TEST(DrumStream, EqualsAMapWhenBucketsAreMergedInSlices) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  plan.key_count = 5000;
  plan.step_count = 30000;
  plan.quiet = 10000;
  plan.options.bucket_count = 1;
  plan.options.memory_bytes = 4096;  // a slice is at least 4096 requests
  plan.options.array_elements = 500;
  plan.options.array_aux_bytes = 1 << 20;
  plan.options.bucket_bytes = 1 << 20;
  plan.options.partition_keys_max = 1 << 20;
  plan.options.auto_merge = false;
  EXPECT_GE(run_many(plan, 1).slices, 2U);
}

/// Arrays that are merged from memory: at each request, or when some hundred bytes have come.
StreamPlan memory_plan(std::uint64_t memory_bytes) {
  StreamPlan plan;
  plan.options.bucket_count = 8;
  plan.options.memory_bytes = memory_bytes;
  plan.options.partition_keys_max = 16;
  plan.step_count = 400;
  plan.key_count = 100;
  plan.quiet = 100;
  return plan;
}
/// With how much memory, and how many streams: what has no room starts a thread at each request.
struct Room {
  std::uint64_t memory_bytes;
  std::uint64_t stream_count;
};
constexpr std::array kRooms{Room{4096, 4}, Room{8192 + 512, 24}};

TEST(DrumStream, EqualsAMapWhenMergedFromMemory) {
  for (const Room& room : kRooms) {
    for (const std::int32_t value_bytes : {0, 8, -1}) {
      StreamPlan plan = memory_plan(room.memory_bytes);
      plan.value_bytes = value_bytes;
      const StreamTotals totals = run_many(plan, room.stream_count);
      EXPECT_GT(totals.merges, 100U);
      EXPECT_GT(totals.splits, 10U);
    }
  }
}

TEST(DrumStream, AnswersInArrivalOrderWhenMergedFromMemory) {
  for (const Room& room : kRooms) {
    StreamPlan plan = memory_plan(room.memory_bytes);
    plan.options.partition_keys_max = plan.key_count;  // no splits between merges
    plan.consumer_count = 2;
    EXPECT_GT(run_many(plan, room.stream_count).merges, 100U);
  }
}

TEST(DrumStream, EqualsAMapWhenRecentKeysRepeat) {
  for (const bool reentrant : {false, true}) {
    StreamPlan plan = memory_plan(1 << 15);
    plan.options.partition_keys_max = 4;
    plan.consumer_count = 4;
    plan.reentrant = reentrant;
    plan.key_count = 24;
    plan.step_count = 1500;
    plan.quiet = 200;
    const StreamTotals totals = run_many(plan, 10);
    EXPECT_GT(totals.repeats, totals.requests / 10);
    EXPECT_GT(totals.merges, 35U);
    EXPECT_GT(totals.splits, 35U);
    EXPECT_GT(totals.transfers, 70U);
    EXPECT_GT(totals.kept_results, 350U);
  }
}

TEST(DrumStream, EqualsAMapWhenMergedFromMemoryForDispatchersThatSubmit) {
  for (const Room& room : kRooms) {
    StreamPlan plan = memory_plan(room.memory_bytes);
    plan.value_bytes = -1;
    plan.consumer_count = 3;
    plan.reentrant = true;
    EXPECT_GT(run_many(plan, room.stream_count).nested, 125U);
  }
}

TEST(DrumStream, EqualsAMapWhenMergedFromMemoryAndPublishedNever) {
  StreamPlan plan = memory_plan(kRooms.back().memory_bytes);
  plan.value_bytes = 8;
  plan.consumer_count = 2;
  plan.reentrant = true;
  plan.options.durability = Durability::kNone;
  EXPECT_GT(run_many(plan, kFew).merges, 50U);
}

TEST(DrumStream, EqualsAMapWhenNobodyMergesButTheCaller) {
  StreamPlan plan = memory_plan(kRooms.back().memory_bytes);
  plan.value_bytes = 8;
  plan.options.auto_merge = false;
  EXPECT_GT(run_many(plan, kFew).transfers, 200U);
}

}  // namespace
}  // namespace crawlstore::testing
