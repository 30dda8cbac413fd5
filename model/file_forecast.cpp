// SPDX-License-Identifier: Apache-2.0
#include "model/file_forecast.h"

#include "model/format_sizes.h"

namespace crawlstore::model {
namespace {

constexpr double kSegmentBytes = 104;  // of a directory table: a segment with one run
constexpr double kRunBytes = 48;
constexpr double kHeldBytes = 32;
constexpr double kTableRefBytes = 40;
constexpr double kTableBucketBytes = 48;  // of the DRUM table
constexpr double kHeaderBytes = 160;

double units(double bytes) {
  return std::ceil(bytes / kUnitBytes) * kUnitBytes;
}

/// By how much a file grows when no free extent has `length_bytes`.
std::uint64_t growth_step(std::uint64_t file_bytes, std::uint64_t length_bytes) {
  constexpr std::uint64_t kGrowthMin = std::uint64_t{64} << 10;
  constexpr std::uint64_t kGrowthMax = std::uint64_t{256} << 20;
  const std::uint64_t step = std::clamp(file_bytes / 8, kGrowthMin, kGrowthMax);
  return round_up(std::max(step, length_bytes), kUnitBytes);
}

}  // namespace

FileForecast::Offsets::iterator FileForecast::forget(Offsets::iterator place) {
  by_length_.erase({place->second, place->first});
  return free_.erase(place);
}

void FileForecast::release(Extent extent) {
  if (extent.length_bytes == 0) return;
  auto next = free_.lower_bound(extent.offset_bytes);
  if (next != free_.end() && next->first == extent.end_bytes()) {
    extent.length_bytes += next->second;
    next = forget(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == extent.offset_bytes) {
      extent = {before->first, before->second + extent.length_bytes};
      forget(before);
    }
  }
  free_.emplace(extent.offset_bytes, extent.length_bytes);
  by_length_.emplace(extent.length_bytes, extent.offset_bytes);
}

Extent FileForecast::reserve(double bytes) {
  const std::uint64_t length = round_up(whole(bytes), kUnitBytes);
  Extent extent{file_bytes_, 0};
  if (const auto fit = by_length_.lower_bound({length, 0}); fit != by_length_.end()) {
    extent = {fit->second, fit->first};
    forget(free_.find(extent.offset_bytes));
  } else {
    extent.length_bytes = growth_step(file_bytes_, length);
    file_bytes_ += extent.length_bytes;
  }
  give_back(extent, static_cast<double>(length));
  return extent;
}

void FileForecast::give_back(Extent& extent, double bytes) {
  const std::uint64_t used = std::min(extent.length_bytes, round_up(whole(bytes), kUnitBytes));
  release({extent.offset_bytes + used, extent.length_bytes - used});
  extent.length_bytes = used;
}

void FileForecast::commit(double bytes) {
  const Extent directory = reserve(bytes);
  for (const Extent extent : held_) release(extent);
  held_ = std::exchange(retired_, {directory});
}

CommitBytes commit_bytes(const CommitWorkload& workload) {
  const double log_bytes =
      workload.logs == 0 ? 0 : kSegmentBytes + kRunBytes * (workload.runs / workload.logs - 1);
  const double all_bytes = kSegmentBytes * (1 + workload.partitions) + log_bytes * workload.logs;
  constexpr double kTableBytes =
      std::min<double>(kTableBytesMax, kSegmentBytes * kTableSegmentsMax);
  const double tables = std::max(1.0, std::ceil(all_bytes / kTableBytes));
  double changed_bytes = kSegmentBytes * workload.changed_buckets;
  if (workload.has_log_changes) changed_bytes += log_bytes * workload.changed_buckets;
  // Those of a flight lie in a row; the DRUM itself is in the first table.
  const double changed =
      std::min(tables, 1 + changed_bytes / kTableBytes + (workload.changed_buckets > 0 ? 1 : 0));
  const double held = 2 * (workload.changed_buckets + changed + 2);
  const double root =
      kHeaderBytes + kTableRefBytes * tables + kHeldBytes * std::min<double>(held, kHeldInlineMax);
  CommitBytes bytes;
  bytes.extents =
      static_cast<double>(extent_bytes(whole(kHeaderBytes + kTableBucketBytes * workload.buckets)));
  bytes.extents += tables <= 1 ? units(all_bytes) : changed * units(kTableBytes);
  bytes.extents += units(root);
  if (held > kHeldInlineMax) bytes.extents += units(kHeldBytes * held);
  bytes.superblocks = 2 * static_cast<double>(kUnitBytes);
  return bytes;
}

}  // namespace crawlstore::model
