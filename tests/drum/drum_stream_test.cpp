// SPDX-License-Identifier: Apache-2.0
//
// Random streams against a std::map. CRAWLSTORE_TEST_SEED shifts the seeds, CRAWLSTORE_LONG=1 runs
// two hundred times as many.

#include "drum/drum_stream.h"

#include <algorithm>
#include <array>
#include <initializer_list>
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

/// A count that the streams of a test must bring about, more than `least` of it.
struct Wanted {
  std::uint64_t StreamTotals::*count;
  std::uint64_t least;
};

/// Runs `count` streams, and more of them, up to eight times as many, until there is enough of what
/// the test is about: how much that is hangs on the seed.
StreamTotals run_many(StreamPlan plan, std::uint64_t count, std::initializer_list<Wanted> wanted) {
  StreamTotals totals;
  const std::uint64_t first = test_seed();
  if (is_long()) count *= 200;
  const auto is_enough = [&] {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const Wanted& one) { return totals.*one.count > one.least; });
  };
  for (plan.seed = first; plan.seed < first + 8 * count; ++plan.seed) {
    if (::testing::Test::HasFailure()) break;
    if (plan.seed >= first + count && is_enough()) break;
    plan.options.parallel = plan.seed % 4 == 0;
    plan.options.key_bytes = plan.seed % 5 < 2 ? 16 : 8;
    plan.options.merge_scope = plan.seed % 3 == 0 ? MergeScope::kFull : MergeScope::kAll;
    totals += DrumStream(plan).run();
  }
  std::cout << "seeds from " << first << " to " << plan.seed << ": " << totals.requests
            << " requests, " << totals.answers << " answers, " << totals.merges << " merges, "
            << totals.transfers << " transfers, " << totals.splits << " splits, " << totals.reopens
            << " reopens, " << totals.kept_results << " kept results, " << totals.nested
            << " nested, " << totals.slices << " slices, " << totals.repeats << " repeats\n";
  EXPECT_TRUE(is_enough()) << "the streams do too little of what they are for";
  return totals;
}

// covers: D1, D2, D3, D4, D11, D12
TEST(DrumStream, EqualsAMapWithoutValues) {
  run_many(tiny_plan(), 60,
           {{&StreamTotals::merges, 200},
            {&StreamTotals::transfers, 200},
            {&StreamTotals::splits, 200}});
}

TEST(DrumStream, EqualsAMapOfFixedValues) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  run_many(plan, 60, {{&StreamTotals::splits, 150}});
}

TEST(DrumStream, EqualsAMapOfVariableValues) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = -1;
  plan.aux_bytes_max = 300;
  run_many(plan, 60, {{&StreamTotals::splits, 150}});
}

TEST(DrumStream, EqualsAMapForSeveralConsumers) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  plan.consumer_count = 4;
  run_many(plan, 60, {{&StreamTotals::kept_results, 750}, {&StreamTotals::reopens, 15}});
}

TEST(DrumStream, EqualsAMapWhenDispatchersSubmit) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = -1;
  plan.consumer_count = 2;
  plan.reentrant = true;
  run_many(plan, 60, {{&StreamTotals::nested, 750}});
}

TEST(DrumStream, EqualsAMapWhenEachRequestIsCommitted) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = 8;
  plan.options.durability = Durability::kRequest;
  plan.options.auto_merge = false;
  plan.step_count = 500;
  run_many(plan, 6, {{&StreamTotals::requests, 2000}});
}

TEST(DrumStream, EqualsAMapWhenMergesPublishNothing) {
  StreamPlan plan = tiny_plan();
  plan.value_bytes = -1;
  plan.consumer_count = 3;
  plan.reentrant = true;
  plan.options.durability = Durability::kNone;
  plan.options.partition_keys_max = 1 << 20;
  run_many(plan, 60, {{&StreamTotals::merges, 250}});
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
  run_many(plan, 1, {{&StreamTotals::slices, 1}});
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
constexpr std::array kRooms{Room{4096, 4}, Room{8192 + 512, 12}};

TEST(DrumStream, EqualsAMapWhenMergedFromMemory) {
  for (const Room& room : kRooms) {
    for (const std::int32_t value_bytes : {0, 8, -1}) {
      StreamPlan plan = memory_plan(room.memory_bytes);
      plan.value_bytes = value_bytes;
      run_many(plan, room.stream_count,
               {{&StreamTotals::merges, 100}, {&StreamTotals::splits, 10}});
    }
  }
}

TEST(DrumStream, AnswersInArrivalOrderWhenMergedFromMemory) {
  for (const Room& room : kRooms) {
    StreamPlan plan = memory_plan(room.memory_bytes);
    plan.options.partition_keys_max = plan.key_count;  // no splits between merges
    plan.consumer_count = 2;
    run_many(plan, room.stream_count, {{&StreamTotals::merges, 100}});
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
    const StreamTotals totals = run_many(plan, 10,
                                         {{&StreamTotals::merges, 35},
                                          {&StreamTotals::splits, 35},
                                          {&StreamTotals::transfers, 70},
                                          {&StreamTotals::kept_results, 350}});
    EXPECT_GT(totals.repeats, totals.requests / 10);
  }
}

TEST(DrumStream, EqualsAMapWhenMergedFromMemoryForDispatchersThatSubmit) {
  for (const Room& room : kRooms) {
    StreamPlan plan = memory_plan(room.memory_bytes);
    plan.value_bytes = -1;
    plan.consumer_count = 3;
    plan.reentrant = true;
    run_many(plan, room.stream_count, {{&StreamTotals::nested, 125}});
  }
}

TEST(DrumStream, EqualsAMapWhenMergedFromMemoryAndPublishedNever) {
  StreamPlan plan = memory_plan(kRooms.back().memory_bytes);
  plan.value_bytes = 8;
  plan.consumer_count = 2;
  plan.reentrant = true;
  plan.options.durability = Durability::kNone;
  run_many(plan, kFew, {{&StreamTotals::merges, 50}});
}

TEST(DrumStream, EqualsAMapWhenNobodyMergesButTheCaller) {
  StreamPlan plan = memory_plan(kRooms.back().memory_bytes);
  plan.value_bytes = 8;
  plan.options.auto_merge = false;
  run_many(plan, kFew, {{&StreamTotals::transfers, 200}});
}

}  // namespace
}  // namespace crawlstore::testing
