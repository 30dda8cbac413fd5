// SPDX-License-Identifier: Apache-2.0
#include "drum/choose_buckets.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <crawlstore/tools/merge_rules.h>

#include "format/drum_table.h"

namespace crawlstore::drum {
namespace {

/// Requests that a bucket's merge sorts within the second-level cache.
constexpr double kCachedRequests = 131072;
/// Requests of 8 bytes that a merge of logs sorts at most: sorting more costs more than more
/// buckets do. For longer requests the sort is a smaller part of all costs.
constexpr double kLoggedRequests = 4 * kCachedRequests;
/// Content of the array that a sweep takes next, as a multiple of the mean: nearly twice.
constexpr double kSweepShare = 1.75;
/// Keys of a partition below which padding to units is more than a thirtieth.
constexpr double kPartitionKeysLeast = 16384;
/// Buckets at least when arrays are emptied in turn, so that none takes a quarter of the memory.
constexpr double kSweptBuckets = 8;
/// Requests assumed for each key.
constexpr double kRequestsPerKey = 4;

std::uint32_t power_of_two(double at_least) {
  constexpr double kMost = format::kBucketsMax;
  return std::bit_ceil(static_cast<std::uint32_t>(std::ceil(std::clamp(at_least, 1.0, kMost))));
}

}  // namespace

std::uint32_t choose_buckets(const DrumOptions& options, Shape shape) {
  // A value of any length counts as the 4 bytes of its length.
  const auto value = static_cast<std::uint64_t>(shape.value_bytes < 0 ? 4 : shape.value_bytes);
  const std::uint64_t beside = shape.key_bytes - std::uint64_t{8} + value;
  const double request = static_cast<double>(8 + beside);
  const double memory = static_cast<double>(options.memory_bytes);
  const double cached = kSweepShare * memory / request / kCachedRequests;
  if (options.expected_keys == 0) return power_of_two(std::clamp(std::floor(cached), 16.0, 128.0));

  const double keys = static_cast<double>(options.expected_keys);
  const double key_bytes = (64 - std::log2(keys) + 2.3) / 8 + static_cast<double>(beside);
  // A merge of logs pays once they hold twice the bytes of the partitions, which is `logged`
  // requests. Until then the requests of each bucket must fit one slice.
  const double logged = 2 * keys * key_bytes / request;
  const double slice = static_cast<double>(slice_requests_max(options.memory_bytes, beside));
  const double wanted = std::max({cached, logged / slice, logged / kLoggedRequests * 8 / request});
  const std::uint32_t most = std::bit_floor(
      std::max(1U, static_cast<std::uint32_t>(std::min(keys / kPartitionKeysLeast, 65536.0))));
  // No partition may split soon, as a split writes it once more.
  const double least = std::max(kRequestsPerKey * keys * request < memory / 4 ? 1 : kSweptBuckets,
                                2 * keys / static_cast<double>(options.partition_keys_max));
  return std::max(power_of_two(least), std::min(power_of_two(wanted), most));
}

}  // namespace crawlstore::drum
