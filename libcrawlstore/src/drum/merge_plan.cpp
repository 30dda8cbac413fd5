// SPDX-License-Identifier: Apache-2.0
#include "drum/merge_plan.h"

#include <algorithm>

#include "drum/log_rules.h"

namespace crawlstore::drum {
namespace {

/// Bytes of values in a piece of a partition; twice as many are cut, as the format ends at 32 GiB.
constexpr std::uint64_t kPieceValueBytes = std::uint64_t{8} << 30;

constexpr std::uint64_t divide_up(std::uint64_t count, std::uint64_t by) {
  return (count + by - 1) / by;
}

}  // namespace

std::vector<PlannedMerge> plan_slices(const BucketLoad& load, std::uint64_t slice_requests_max) {
  const PlannedMerge empty{load.first_key, 0, 0, false, nullptr, 0};
  std::vector<PlannedMerge> plan;
  PlannedMerge slice = empty;
  std::uint64_t requests = 0;
  const auto begin_slice = [&](std::uint64_t count) {
    if (requests != 0 && requests + count > slice_requests_max) {
      plan.push_back(slice);
      slice = empty;
      requests = 0;
    }
    requests += count;
  };
  for (const format::RunRef& run : load.key_runs) {
    begin_slice(run.record_count);
    ++slice.run_count;
    slice.request_bytes +=
        run.payload_bytes + packing_saves(run.record_count, load.last_key - load.first_key);
  }
  if (load.sealed_keys != 0) begin_slice(load.sealed_keys);
  slice.request_bytes += load.sealed_bytes;
  slice.is_last_slice = true;
  slice.filter = load.filter;
  slice.filtered_bytes = load.filtered_bytes;
  plan.push_back(slice);
  return plan;
}

std::size_t choose_flight(std::span<const PlannedMerge> plan, std::uint64_t flight_bytes,
                          std::uint64_t filtered_bytes_max) {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t filtered_bytes = 0;
  do {
    bytes += plan[count].request_bytes;
    filtered_bytes += plan[count].filtered_bytes;
  } while (plan[count++].is_last_slice && count < plan.size() && bytes < flight_bytes &&
           filtered_bytes < filtered_bytes_max && plan[count].is_last_slice);
  return count;
}

Pieces choose_pieces(const MergedSize& merged, bool may_cut, std::uint64_t partition_keys_max,
                     std::uint64_t count_max) {
  const bool is_wide = merged.shape.is_wide();
  Pieces pieces{1, merged.key_count, 0};
  if (may_cut && merged.key_count > partition_keys_max) pieces.keys_max = partition_keys_max / 2;
  if (may_cut && merged.value_bytes > 2 * kPieceValueBytes) {
    const std::uint64_t parts = merged.value_bytes / kPieceValueBytes + 1;
    pieces.keys_max = std::min(pieces.keys_max, divide_up(merged.key_count, parts));
  }
  if (pieces.keys_max < merged.key_count) {
    pieces.count = divide_up(merged.key_count, std::max<std::uint64_t>(1, pieces.keys_max));
  }
  if (pieces.count > count_max) {
    pieces.count = count_max;
    pieces.keys_max = divide_up(merged.key_count, count_max);
  }
  // Keys with one head go beyond keys_max: any piece may take all.
  const std::uint64_t reserved_keys =
      is_wide && pieces.count > 1 ? merged.key_count : pieces.keys_max;
  std::uint64_t value_bytes = merged.value_bytes;
  if (merged.shape.value_bytes >= 0) {
    value_bytes = static_cast<std::uint64_t>(merged.shape.value_bytes) * reserved_keys;
  }
  pieces.bytes_max = partition_bytes_max(reserved_keys, merged.key_range, value_bytes, is_wide);
  return pieces;
}

}  // namespace crawlstore::drum
