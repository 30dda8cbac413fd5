// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "drum/merge_forecast.h"

namespace crawlstore::drum {

/// What a bucket's merge sorts within the second-level cache.
inline constexpr std::uint64_t kCachedRequests = 131072;
/// Fewer keys a partition: padding to units is more than a hundredth.
inline constexpr std::uint64_t kPartitionKeysMin = 51200;
/// Fewer: more than a thirtieth.
inline constexpr std::uint64_t kPartitionKeysLeast = 16384;
inline constexpr std::uint32_t kBucketsMax = 65536;
/// More keys are not planned for.
inline constexpr std::uint64_t kPlannedKeysMax = std::uint64_t{1} << 40;

struct BucketChoice {
  std::uint32_t bucket_count = 0;
  bool has_small_partitions = false;  ///< fewer than kPartitionKeysMin keys, for speed
};

/// The power of two with the least predicted time. workload.bucket_count does not matter.
/// cost  up to 17 forecasts, coarse ones
BucketChoice choose_buckets(const MergeWorkload& workload);

/// The same when nothing is known but the memory: so that sorts fit the cache, from 16 to 128.
std::uint32_t choose_buckets(std::uint64_t memory_bytes, std::uint64_t request_bytes);

}  // namespace crawlstore::drum
