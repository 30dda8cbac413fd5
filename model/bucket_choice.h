// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bucket count of a plan: the power of two that the forecast finds fastest.

#include "model/merge_forecast.h"

namespace crawlstore::model {

/// Requests that a bucket's merge sorts within the second-level cache.
inline constexpr std::uint64_t kCachedRequests = 131072;
/// Fewer keys a partition: padding to units is more than a hundredth.
inline constexpr std::uint64_t kPartitionKeysMin = 51200;
inline constexpr std::uint32_t kBucketsMax = 65536;

struct BucketChoice {
  std::uint32_t bucket_count = 0;
  bool has_small_partitions = false;  ///< fewer than kPartitionKeysMin keys, for speed
};

/// The power of two with the least predicted time. workload.bucket_count does not matter.
/// cost  up to 17 forecasts, coarse ones
BucketChoice choose_buckets(const MergeWorkload& workload);

}  // namespace crawlstore::model
