// SPDX-License-Identifier: Apache-2.0
//
// The rule by which the library chooses buckets against the choice of the simulation, in the
// seconds of the simulation.
#include "model/bucket_choice.h"

#include <gtest/gtest.h>

#include "drum/choose_buckets.h"

namespace crawlstore::testing {
namespace {

model::MergeWorkload workload_of(std::uint64_t keys, std::uint64_t memory_mib, drum::Shape shape) {
  model::MergeWorkload workload;
  workload.key_count = static_cast<double>(keys);
  workload.request_count = 4 * workload.key_count;
  workload.memory_bytes = memory_mib << 20;
  workload.key_bytes = shape.key_bytes;
  workload.value_bytes = static_cast<std::uint64_t>(shape.value_bytes);
  workload.read_bytes_per_second = 500e6;
  workload.write_bytes_per_second = 200e6;
  workload.groups_max = 128;
  return workload;
}

/// Seconds with the buckets of the rule, in those with the buckets of the simulation.
double cost_ratio(std::uint64_t keys, std::uint64_t memory_mib, drum::Shape shape) {
  DrumOptions options;
  options.expected_keys = keys;
  options.memory_bytes = memory_mib << 20;
  model::MergeWorkload by_rule = workload_of(keys, memory_mib, shape);
  by_rule.bucket_count = drum::choose_buckets(options, shape);
  model::MergeWorkload best = by_rule;
  best.bucket_count = model::choose_buckets(best).bucket_count;
  return model::forecast_merges(by_rule).seconds / model::forecast_merges(best).seconds;
}

/// Requests that fill the memory more often take long to simulate.
constexpr double kMemoriesMax = 100;

TEST(BucketChoice, IsHardlyBetterThanTheRuleOfTheLibrary) {
  constexpr double kWorseMax = 1.1;
  constexpr drum::Shape kShapes[] = {{8, 0}, {8, 8}, {16, 0}, {8, 64}, {8, 512}};
  for (const drum::Shape shape : kShapes) {
    for (std::uint64_t memory_mib = 16; memory_mib <= 8192; memory_mib *= 8) {
      for (std::uint64_t keys = 100'000; keys <= 10'000'000'000; keys *= 10) {
        const model::MergeWorkload workload = workload_of(keys, memory_mib, shape);
        const double bytes = workload.request_count * static_cast<double>(workload.request_bytes());
        if (bytes > kMemoriesMax * static_cast<double>(workload.memory_bytes)) continue;
        EXPECT_LT(cost_ratio(keys, memory_mib, shape), kWorseMax)
            << keys << " keys of " << shape.key_bytes << " with " << shape.value_bytes << " bytes, "
            << memory_mib << " MiB";
      }
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
