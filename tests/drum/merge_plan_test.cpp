// SPDX-License-Identifier: Apache-2.0
#include "drum/merge_plan.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::drum {
namespace {

std::vector<format::RunRef> runs_of(const std::vector<std::uint64_t>& request_counts) {
  std::vector<format::RunRef> runs;
  for (const std::uint64_t count : request_counts) {
    format::RunRef& run = runs.emplace_back();
    run.record_count = count;
    run.payload_bytes = count * 8;
  }
  return runs;
}

std::vector<PlannedMerge> plan_of(const std::vector<std::uint64_t>& request_counts,
                                  std::uint64_t sealed_keys, std::uint64_t slice_max) {
  const auto runs = runs_of(request_counts);
  return plan_slices({7, ~std::uint64_t{0}, runs, sealed_keys, sealed_keys * 8, nullptr, 0},
                     slice_max);
}

std::vector<std::size_t> run_counts(const std::vector<PlannedMerge>& plan) {
  std::vector<std::size_t> counts;
  for (const PlannedMerge& slice : plan) counts.push_back(slice.run_count);
  return counts;
}

using Counts = std::vector<std::size_t>;

TEST(PlanSlices, TakesAllAtOnceIfItFits) {
  const auto plan = plan_of({10, 20, 30}, 40, 100);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].run_count, 3U);
  EXPECT_EQ(plan[0].request_bytes, 800U);
  EXPECT_EQ(plan[0].first_key, 7U);
  EXPECT_TRUE(plan[0].is_last_slice);
}

TEST(PlanSlices, CutsBeforeTheRunThatDoesNotFit) {
  EXPECT_EQ(run_counts(plan_of({60, 40, 1, 99, 1}, 0, 100)), (Counts{2, 2, 1}));
  EXPECT_EQ(run_counts(plan_of({60, 40}, 1, 100)), (Counts{2, 0}));
  EXPECT_EQ(run_counts(plan_of({300, 300}, 0, 100)), (Counts{1, 1}));  // a run is never cut
  EXPECT_EQ(run_counts(plan_of({}, 300, 100)), (Counts{0}));
}

/// Slices take all runs in order, and only the last one is the last.
TEST(PlanSlices, TakesEachRunOnce) {
  testing::SeededRandom random;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> counts(random.below(40));
    for (auto& count : counts) count = 1 + random.below(80);
    const std::uint64_t sealed = random.below(2) * random.below(150);
    const auto plan = plan_of(counts, sealed, 100);
    const Counts taken = run_counts(plan);
    EXPECT_EQ(std::accumulate(taken.begin(), taken.end(), std::size_t{0}), counts.size());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      EXPECT_EQ(plan[i].is_last_slice, i + 1 == plan.size());
      bytes += plan[i].request_bytes;
      if (plan[i].run_count > 1) {
        EXPECT_LE(plan[i].request_bytes, (100 + sealed) * 8);
      }
    }
    EXPECT_EQ(bytes, 8 * std::accumulate(counts.begin(), counts.end(), sealed));
  }
}

PlannedMerge merge_of(std::uint64_t bytes, bool is_last_slice, std::uint64_t filtered_bytes = 0) {
  return {0, 1, bytes, is_last_slice, nullptr, filtered_bytes};
}

TEST(ChooseFlight, TakesWholeBucketsUntilTheyFillIt) {
  const std::vector<PlannedMerge> plan(5, merge_of(10, true));
  EXPECT_EQ(choose_flight(plan, 25, 100), 3U);
  EXPECT_EQ(choose_flight(plan, 5, 100), 1U);
  EXPECT_EQ(choose_flight(plan, 1000, 100), 5U);
}

TEST(ChooseFlight, TakesASliceAlone) {
  const PlannedMerge slice = merge_of(1, false);
  const PlannedMerge last = merge_of(1, true);
  EXPECT_EQ(choose_flight(std::vector{slice, last}, 100, 100), 1U);
  EXPECT_EQ(choose_flight(std::vector{last, slice, last}, 100, 100), 1U);
}

TEST(ChooseFlight, CountsThePartitionsOfFilters) {
  const std::vector<PlannedMerge> plan(5, merge_of(0, true, 60));
  EXPECT_EQ(choose_flight(plan, 100, 100), 2U);
}

TEST(ChooseSweep, TakesTheFullestBucket) {
  const std::vector<std::uint64_t> bytes{3, 9, 1, 9};
  const auto at = [&](std::size_t b) { return bytes[b]; };
  EXPECT_EQ(choose_fullest(bytes.size(), at).first, 1U);
  EXPECT_EQ(choose_fullest(bytes.size(), at).end, 2U);
  EXPECT_TRUE(choose_fullest(3, [](std::size_t) { return std::uint64_t{0}; }).empty());
}

TEST(ChooseSweep, GoesOnAroundTheEnd) {
  const std::vector<std::uint64_t> bytes{5, 0, 4, 6, 0, 8};
  const auto at = [&](std::size_t b) { return bytes[b]; };
  const auto next = [&](std::size_t start, std::uint64_t flight, std::size_t planned) {
    const BucketRange range =
        choose_next(bytes.size(), start, flight, at, [&](std::size_t b) { return b == planned; });
    return std::pair(range.first, range.end);
  };
  constexpr std::size_t kNone = 99;
  EXPECT_EQ(next(1, 7, kNone), std::pair(std::size_t{2}, std::size_t{3}));
  EXPECT_EQ(next(1, 8, kNone), std::pair(std::size_t{2}, std::size_t{4}));
  EXPECT_EQ(next(1, 11, kNone), std::pair(std::size_t{2}, std::size_t{5}));
  EXPECT_EQ(next(1, 100, 3), std::pair(std::size_t{2}, std::size_t{3}));
  EXPECT_EQ(next(4, 100, kNone), std::pair(std::size_t{5}, std::size_t{6}));
  EXPECT_EQ(next(6, 100, kNone), std::pair(std::size_t{0}, std::size_t{6}));
  EXPECT_TRUE(
      choose_next(
          4, 2, 9, [](std::size_t) { return std::uint64_t{0}; }, [](std::size_t) { return false; })
          .empty());
}

TEST(ChoosePieces, CutsAtTheLimitOfKeys) {
  const MergedSize merged{1000, 0, ~std::uint64_t{0}, {8, 0}};
  EXPECT_EQ(choose_pieces(merged, true, 1000, 100).count, 1U);
  EXPECT_EQ(choose_pieces(merged, true, 999, 100).count, 3U);
  EXPECT_EQ(choose_pieces(merged, true, 999, 100).keys_max, 499U);
  EXPECT_EQ(choose_pieces(merged, false, 2, 100).count, 1U);
  EXPECT_EQ(choose_pieces(merged, true, 10, 4).count, 4U);
  EXPECT_EQ(choose_pieces(merged, true, 10, 4).keys_max, 250U);
  EXPECT_EQ(choose_pieces({0, 0, 0, {8, 0}}, true, 10, 4).count, 1U);
}

TEST(ChoosePieces, CutsBeforeThePartitionsLimitOfBytes) {
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30;
  EXPECT_EQ(choose_pieces({1000, 16 * kGib, 9, {8, -1}}, true, 1000, 99).count, 1U);
  EXPECT_EQ(choose_pieces({1000, 17 * kGib, 9, {8, -1}}, true, 1000, 99).count, 3U);
}

/// A piece has room for all keys that it may get: with keys of 16 bytes those of one head.
TEST(ChoosePieces, ReservesForKeysThatShareAHead) {
  const auto bytes_max = [](std::uint16_t key_bytes) {
    return choose_pieces({1'000'000, 0, ~std::uint64_t{0}, {key_bytes, 0}}, true, 10'000, 999)
        .bytes_max;
  };
  EXPECT_LT(bytes_max(8), 10'000U * 9);
  EXPECT_GT(bytes_max(16), 1'000'000U * 8);
}

}  // namespace
}  // namespace crawlstore::drum
