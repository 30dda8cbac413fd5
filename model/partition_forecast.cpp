// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <crawlstore/tools/merge_rules.h>

#include "model/file_forecast.h"
#include "model/format_sizes.h"
#include "model/merge_forecast.h"

namespace crawlstore::model {
namespace {

/// Seven equally likely values of the normal distribution.
constexpr std::array kNormal{-1.465, -0.792, -0.366, 0.0, 0.366, 0.792, 1.465};
constexpr double kKeySpace = 18446744073709551616.0;  // 2^64

/// A block of `count` keys that are `gap` apart on average: the distance from the first to the last
/// is a sum of count - 1 gaps.
double block_bytes(std::uint32_t count, double gap) {
  const double gaps = count - 1;
  double bytes = 0;
  for (const double deviation : kNormal) {
    const double distance = gap * std::max(gaps / 2, gaps + deviation * std::sqrt(gaps));
    const double bounded = std::clamp(distance, gaps, kKeySpace / 2);
    bytes += static_cast<double>(key_block_bytes(whole(bounded), count));
  }
  return bytes / kNormal.size();
}

double rounded_up_to_8(double bytes) {
  return std::ceil(bytes / 8) * 8;
}

}  // namespace

PartitionBytes partition_bytes(double key_count, const MergeWorkload& workload) {
  const double range = kKeySpace / workload.bucket_count;
  const double beside = static_cast<double>(workload.beside_bytes());
  if (key_count <= 0) return {};
  const double keys = std::max(1.0, key_count);
  const double gap = range / keys;
  constexpr double kBlock = drum::kPartitionBlockKeysMax;
  const double full = std::floor(keys / kBlock);
  const auto rest = static_cast<std::uint32_t>(keys - full * kBlock);
  double blocks = full;
  double payload = 0;
  if (full > 0)
    payload += full * (block_bytes(drum::kPartitionBlockKeysMax, gap) + kBlock * beside);
  if (rest > 0) {
    payload += block_bytes(rest, gap) + rounded_up_to_8(rest * beside);
    ++blocks;
  }
  payload += static_cast<double>(partition_tail_bytes(whole(blocks), workload.key_bytes));
  // Buckets differ, by the root of their keys: so do they in where the last unit ends.
  double extent = 0;
  const double spread = std::sqrt(keys) * payload / keys;
  for (const double deviation : kNormal) {
    extent += static_cast<double>(extent_bytes(whole(std::max(8.0, payload + deviation * spread))));
  }
  return {payload, extent / kNormal.size()};
}

RunBytes run_bytes(const MergeWorkload& workload, double requests, bool has_sequences) {
  // Packed keys: all bits but those that the bucket implies.
  const double key_bits = 65 - std::bit_width(workload.bucket_count);
  const double other_bytes =
      static_cast<double>(workload.beside_bytes() + (has_sequences ? sizeof(std::uint32_t) : 0));
  const auto aux_bytes = static_cast<double>(workload.aux_bytes);
  RunBytes bytes;
  bytes.keys = static_cast<double>(kKeyRunHeaderBytes) + requests * (key_bits / 8 + other_bytes);
  if (aux_bytes > 0) {
    const double raw = requests * aux_bytes;
    const double share = raw > kUnitBytes ? workload.aux_stored_share : 1;
    bytes.auxes = static_cast<double>(kAuxRunHeaderBytes) + raw * share;
  }
  bytes.unpacked = bytes.keys + bytes.auxes + requests * (8 - key_bits / 8);
  return bytes;
}

}  // namespace crawlstore::model
