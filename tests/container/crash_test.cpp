// SPDX-License-Identifier: Apache-2.0
//
// T1 and T2 of spec/features.md: after a crash at any moment the store is whole, and is what was
// acknowledged, or one commit more. CRAWLSTORE_LONG=1 looks at a million images.
#include <cstdio>
#include <unordered_set>

#include <gtest/gtest.h>

#include "container/crash_workloads.h"
#include "support/crash_images.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kSeed = 20261121;
constexpr std::uint64_t kImagesPerWorkloadMin = 1000;
constexpr std::uint64_t kImagesMin = 20'000;
constexpr std::uint64_t kImagesMinLong = 1'000'000;

CrashBudget budget_of(std::uint64_t round) {
  CrashBudget budget;
  budget.subset_effects_max = is_long() ? 12 : 7;
  budget.pairs_max = is_long() ? 2000 : 40;
  budget.random_count = is_long() ? 4096 : 40;
  budget.tears_per_write = is_long() ? 32 : 4;
  budget.seed = kSeed + round;
  return budget;
}

struct Counts {
  std::uint64_t distinct = 0;
  OracleCounts oracle;
};

/// Checks images of a workload until there are enough different ones.
Counts crash(const CrashWorkload& workload, std::uint64_t wanted) {
  Counts counts;
  Scenario scenario;
  try {
    workload.record(scenario);
  } catch (const std::exception& error) {
    ADD_FAILURE() << workload.name << " could not be recorded: " << error.what();
    return counts;
  }
  const OperationLog log = scenario.recorder().log();
  if (const Fault fault = check_allocated(log)) ADD_FAILURE() << workload.name << ": " << *fault;
  OracleOptions options;
  options.damaged_generation = scenario.damaged_generation;
  options.fallback_digest = scenario.fallback_digest;
  options.deep = workload.use != nullptr;
  options.use = workload.use;
  options.double_crash_every = is_long() ? 101 : 61;
  options.double_crash_sample = is_long() ? 8 : 64;
  options.verify_every = is_long() ? 4 : 1;
  options.use_every = 4;
  CrashOracle oracle(log, options);
  std::unordered_set<std::uint64_t> images;
  std::unordered_set<std::uint64_t> cases;
  for (std::uint64_t round = 0; round < 64 && images.size() < wanted; ++round) {
    CrashImages enumeration(log, budget_of(round));
    const bool right = enumeration.enumerate([&](const CrashImage& image) {
      images.insert(image.hash);
      if (!cases.insert(image.hash ^ (image.mark_count * 0x9E3779B97F4A7C15)).second) return true;
      const Fault fault = oracle.check(image.bytes, image.point);
      if (fault) ADD_FAILURE() << workload.name << ": " << *fault << "\n" << image.describe();
      return !fault;
    });
    if (!right) break;
  }
  counts.distinct = images.size();
  counts.oracle = oracle.counts();
  return counts;
}

std::vector<CrashWorkload> all_workloads() {
  std::vector<CrashWorkload> all(writer_workloads().begin(), writer_workloads().end());
  all.insert(all.end(), drum_workloads().begin(), drum_workloads().end());
  all.insert(all.end(), page_workloads().begin(), page_workloads().end());
  all.insert(all.end(), queue_workloads().begin(), queue_workloads().end());
  all.insert(all.end(), frontier_workloads().begin(), frontier_workloads().end());
  return all;
}

TEST(CrashImages, EachLeavesAWholeStore) {
  const auto workloads = all_workloads();
  const std::uint64_t wanted = is_long() ? kImagesMinLong : kImagesMin;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  OracleCounts sum;
  std::uint64_t distinct = 0;
  for (const CrashWorkload& workload : workloads) {
    const Counts counts =
        crash(workload, std::max(kImagesPerWorkloadMin, wanted / workloads.size() + 1));
    std::printf(
        "%8llu distinct images, %7llu cases, %7llu verified, %6llu used, %6llu crashed "
        "twice: %s\n",
        static_cast<unsigned long long>(counts.distinct),
        static_cast<unsigned long long>(counts.oracle.images),
        static_cast<unsigned long long>(counts.oracle.verified),
        static_cast<unsigned long long>(counts.oracle.continued),
        static_cast<unsigned long long>(counts.oracle.double_crashes),
        std::string(workload.name).c_str());
    std::fflush(stdout);
    EXPECT_GE(counts.distinct, kImagesPerWorkloadMin) << workload.name;
    distinct += counts.distinct;
    sum.double_crashes += counts.oracle.double_crashes;
  }
  std::printf("%8llu distinct images of %zu workloads, %llu double crashes\n",
              static_cast<unsigned long long>(distinct), workloads.size(),
              static_cast<unsigned long long>(sum.double_crashes));
  EXPECT_GE(distinct, wanted);
  EXPECT_GE(sum.double_crashes, is_long() ? 200'000U : 2'000U);
}

}  // namespace
}  // namespace crawlstore::testing
