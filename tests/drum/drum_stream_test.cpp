// SPDX-License-Identifier: Apache-2.0
//
// Random streams against a std::map. CRAWLSTORE_TEST_SEED shifts the seeds, CRAWLSTORE_LONG=1 runs
// twenty times as many.

#include "drum/drum_stream.h"

#include <array>
#include <cstdlib>
#include <iostream>
#include <string>

namespace crawlstore::testing {
namespace {

std::uint64_t base_seed() {
  const char* const given = std::getenv("CRAWLSTORE_TEST_SEED");
  return given == nullptr ? 1 : std::stoull(given);
}

std::uint64_t scale() {
  return std::getenv("CRAWLSTORE_LONG") == nullptr ? 1 : 50;
}

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
  const std::uint64_t first = base_seed();
  for (std::uint64_t i = 0; i < count * scale() && !::testing::Test::HasFailure(); ++i) {
    plan.seed = first + i;
    plan.options.parallel = i % 4 == 0;
    plan.options.key_bytes = i % 5 < 2 ? 16 : 8;
    plan.options.merge_scope = i % 3 == 0 ? MergeScope::kFull : MergeScope::kAll;
    totals += DrumStream(plan).run();
  }
  std::cout << "seeds from " << first << ": " << count * scale() << " streams, " << totals.requests
            << " requests, " << totals.answers << " answers, " << totals.merges << " merges, "
            << totals.transfers << " transfers, " << totals.splits << " splits, " << totals.reopens
            << " reopens, " << totals.kept_results << " kept results, " << totals.nested
            << " nested, " << totals.slices << " slices, " << totals.repeats << " repeats\n";
  return totals;
}

// covers: D1, D2, D3, D4, D11, D12
TEST(DrumStream, EqualsAMapWithoutValues) {
  const StreamTotals totals = run_many(tiny_plan(), 300);
  EXPECT_GT(totals.merges, 1000U);
  EXPECT_GT(totals.transfers, 1000U);
  EXPECT_GT(totals.splits, 1000U);
}

TEST(DrumStream, EqualsAMapOfFixedValues) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  EXPECT_GT(run_many(plan, 200).splits, 500U);
}

TEST(DrumStream, EqualsAMapOfVariableValues) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = -1;
  plan.aux_bytes_max = 300;
  EXPECT_GT(run_many(plan, 200).splits, 500U);
}

TEST(DrumStream, EqualsAMapForSeveralConsumers) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  plan.consumer_count = 4;
  const StreamTotals totals = run_many(plan, 200);
  EXPECT_GT(totals.kept_results, 2500U);
  EXPECT_GT(totals.reopens, 50U);
}

TEST(DrumStream, EqualsAMapWhenDispatchersSubmit) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = -1;
  plan.consumer_count = 2;
  plan.reentrant = true;
  EXPECT_GT(run_many(plan, 160).nested, 2000U);
}

TEST(DrumStream, EqualsAMapWhenEachRequestIsCommitted) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  plan.options.durability = Durability::kRequest;
  plan.options.auto_merge = false;
  plan.step_count = 500;
  EXPECT_GT(run_many(plan, 12).requests, 4000U);
}

TEST(DrumStream, EqualsAMapWhenMergesPublishNothing) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = -1;
  plan.consumer_count = 3;
  plan.reentrant = true;
  plan.options.durability = Durability::kNone;
  plan.options.partition_keys_max = 1 << 20;
  EXPECT_GT(run_many(plan, 120).merges, 500U);
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
constexpr std::array kRooms{Room{4096, 8}, Room{8192 + 512, 30}};

TEST(DrumStream, EqualsAMapWhenMergedFromMemory) {
  for (const Room& room : kRooms) {
    for (const std::int32_t value_bytes : {0, 8, -1}) {
      StreamPlan plan = memory_plan(room.memory_bytes);
      plan.value_bytes = value_bytes;
      const StreamTotals totals = run_many(plan, room.stream_count);
      EXPECT_GT(totals.merges, 200U);
      EXPECT_GT(totals.splits, 20U);
    }
  }
}

TEST(DrumStream, AnswersInArrivalOrderWhenMergedFromMemory) {
  for (const Room& room : kRooms) {
    StreamPlan plan = memory_plan(room.memory_bytes);
    plan.options.partition_keys_max = plan.key_count;  // no splits between merges
    plan.consumer_count = 2;
    EXPECT_GT(run_many(plan, room.stream_count).merges, 200U);
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
    const StreamTotals totals = run_many(plan, 30);
    EXPECT_GT(totals.repeats, totals.requests / 10);
    EXPECT_GT(totals.merges, 100U);
    EXPECT_GT(totals.splits, 100U);
    EXPECT_GT(totals.transfers, 200U);
    EXPECT_GT(totals.kept_results, 1000U);
  }
}

TEST(DrumStream, EqualsAMapWhenMergedFromMemoryForDispatchersThatSubmit) {
  for (const Room& room : kRooms) {
    StreamPlan plan = memory_plan(room.memory_bytes);
    plan.value_bytes = -1;
    plan.consumer_count = 3;
    plan.reentrant = true;
    EXPECT_GT(run_many(plan, room.stream_count).nested, 250U);
  }
}

TEST(DrumStream, EqualsAMapWhenMergedFromMemoryAndPublishedNever) {
  StreamPlan plan = memory_plan(kRooms.back().memory_bytes);
  plan.value_bytes = 8;
  plan.consumer_count = 2;
  plan.reentrant = true;
  plan.options.durability = Durability::kNone;
  EXPECT_GT(run_many(plan, 40).merges, 100U);
}

TEST(DrumStream, EqualsAMapWhenNobodyMergesButTheCaller) {
  StreamPlan plan = memory_plan(kRooms.back().memory_bytes);
  plan.value_bytes = 8;
  plan.options.auto_merge = false;
  EXPECT_GT(run_many(plan, 30).transfers, 300U);
}

}  // namespace
}  // namespace crawlstore::testing
