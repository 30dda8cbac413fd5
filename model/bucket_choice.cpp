// SPDX-License-Identifier: Apache-2.0
#include "model/bucket_choice.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace crawlstore::model {
namespace {

/// Simulated apart while choosing.
constexpr std::uint32_t kGroupsMax = 128;
/// More buckets than before must save so much time: each costs a table entry, a unit and a seek.
constexpr double kWorthwhile = 0.97;
/// And so much when their partitions are small.
constexpr double kWorthSmallPartitions = 0.9;
/// Fewer buckets, and one array may take a quarter of the memory: then it is merged on its own, out
/// of turn.
constexpr std::uint32_t kSweptBuckets = 8;
/// No partition may split soon, for that writes it once more.
constexpr double kPartitionKeysMax = 1 << 25;
/// Fewer keys a partition: padding is more than a thirtieth.
constexpr std::uint64_t kPartitionKeysLeast = 16384;

}  // namespace

BucketChoice choose_buckets(const MergeWorkload& workload) {
  const auto seconds_of = [&workload](std::uint32_t buckets) {
    MergeWorkload one = workload;
    one.bucket_count = buckets;
    one.groups_max = kGroupsMax;
    return forecast_merges(one).seconds;
  };
  const double keys = workload.key_count;
  const double request_bytes = static_cast<double>(workload.request_bytes());
  const bool fits_memory =
      workload.request_count * request_bytes < static_cast<double>(workload.memory_bytes) / 4;
  const double least =
      std::clamp<double>(keys / kPartitionKeysMax, fits_memory ? 1 : kSweptBuckets, kBucketsMax);
  std::uint32_t buckets = std::bit_ceil(static_cast<std::uint32_t>(std::ceil(least)));
  BucketChoice best{buckets, false};
  double best_seconds = seconds_of(buckets);
  while (buckets < kBucketsMax) {
    buckets *= 2;
    const double partition_keys = keys / buckets;
    if (partition_keys < kPartitionKeysLeast) break;
    const bool is_small = partition_keys < kPartitionKeysMin;
    const double seconds = seconds_of(buckets);
    if (seconds < best_seconds * (is_small ? kWorthSmallPartitions : kWorthwhile)) {
      best = {buckets, is_small};
      best_seconds = seconds;
    }
    if (seconds > 1.5 * best_seconds) break;
  }
  return best;
}

}  // namespace crawlstore::model
