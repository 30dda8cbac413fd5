// SPDX-License-Identifier: Apache-2.0
#include "drum/file_forecast.h"

#include "format/checksum.h"

namespace crawlstore::drum {
namespace {

constexpr double kSegmentBytes = 104;  // of a directory table: a segment with one run
constexpr double kRunBytes = 48;
constexpr double kHeldBytes = 32;
constexpr double kTableRefBytes = 40;
constexpr double kBucketBytes = 48;  // of the DRUM table
constexpr double kHeaderBytes = 160;

double units(double bytes) {
  return std::ceil(bytes / format::kUnitBytes) * format::kUnitBytes;
}

}  // namespace

CommitBytes commit_bytes(const CommitWorkload& workload) {
  const double log_bytes =
      workload.logs == 0 ? 0 : kSegmentBytes + kRunBytes * (workload.runs / workload.logs - 1);
  const double all_bytes = kSegmentBytes * (1 + workload.partitions) + log_bytes * workload.logs;
  constexpr double kTableBytes =
      std::min<double>(format::kTableBytesMax, kSegmentBytes * format::kTableSegmentsMax);
  const double tables = std::max(1.0, std::ceil(all_bytes / kTableBytes));
  double changed_bytes = kSegmentBytes * workload.changed_buckets;
  if (workload.has_log_changes) changed_bytes += log_bytes * workload.changed_buckets;
  // Those of a flight lie in a row; the DRUM itself is in the first table.
  const double changed =
      std::min(tables, 1 + changed_bytes / kTableBytes + (workload.changed_buckets > 0 ? 1 : 0));
  const double held = 2 * (workload.changed_buckets + changed + 2);
  const double root = kHeaderBytes + kTableRefBytes * tables +
                      kHeldBytes * std::min<double>(held, format::kHeldInlineMax);
  CommitBytes bytes;
  bytes.extents = static_cast<double>(
      format::extent_bytes(whole(kHeaderBytes + kBucketBytes * workload.buckets)));
  bytes.extents += tables <= 1 ? units(all_bytes) : changed * units(kTableBytes);
  bytes.extents += units(root);
  if (held > format::kHeldInlineMax) bytes.extents += units(kHeldBytes * held);
  bytes.superblocks = 2 * static_cast<double>(format::kUnitBytes);
  return bytes;
}

}  // namespace crawlstore::drum
