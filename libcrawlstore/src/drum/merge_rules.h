// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When arrays are emptied, how much at a time, and whether that merges or logs: the rules that
/// DrumCore::Impl follows and that plan_drum() foresees. Pure functions over bytes and requests.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "drum/sort_requests.h"
#include "format/layout.h"

namespace crawlstore::drum {

/// An array, and what a flight takes, has at least so many bytes.
inline constexpr std::uint64_t kArrayBytesMin = 4096;
/// Bytes that sorting and answering a request needs beside its own.
inline constexpr std::uint64_t kMergeBytesPerRequest = 48;
inline constexpr std::uint64_t kSliceRequestsMin = 4096;
/// A log that cannot be joined any more is merged before it has all its runs.
inline constexpr std::uint64_t kRunsUntilMerge = format::kRunsPerLogMax / 4 * 3;
/// A log with this many runs has its newest runs joined.
inline constexpr std::uint64_t kJoinRunCount = format::kRunsPerLogMax / 2;
/// How far joined runs may grow at least: they are read whole.
inline constexpr std::uint64_t kJoinedRequestsMin = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kJoinedBytesMin = std::uint64_t{64} << 20;
/// Of the memory: what one flight takes away, and what one bucket may have before it is merged.
inline constexpr std::uint64_t kFlightShare = 16;
inline constexpr std::uint64_t kHotShare = 4;

/// What one flight takes out of arrays.
constexpr std::uint64_t flight_bytes(std::uint64_t memory_bytes) {
  return std::max(kArrayBytesMin, memory_bytes / kFlightShare);
}

/// Do the arrays, what is in flight and what is landing fill the memory?
constexpr bool fills_memory(std::uint64_t array_bytes, std::uint64_t sealed_bytes,
                            std::uint64_t memory_bytes) {
  return array_bytes + std::max(sealed_bytes, 2 * flight_bytes(memory_bytes)) >= memory_bytes;
}

/// Does one array take too much of the memory?
constexpr bool is_hot(std::uint64_t array_bytes, std::uint64_t request_count,
                      std::uint64_t memory_bytes) {
  return array_bytes >= memory_bytes / kHotShare || request_count >= kSortCountMax / 2;
}

/// How many requests one slice of a merge takes. beside_bytes: of a value of fixed size, and of a
/// key behind its first 8 bytes.
constexpr std::uint64_t slice_requests_max(std::uint64_t memory_bytes, std::uint64_t beside_bytes) {
  return std::clamp(memory_bytes / (kMergeBytesPerRequest + 2 * beside_bytes), kSliceRequestsMin,
                    std::uint64_t{kSortCountMax});
}

/// What a bucket's logs hold.
struct LogSize {
  std::uint64_t run_count = 0;
  std::uint64_t request_count = 0;
  std::uint64_t newest_run_requests = 0;
  std::uint64_t key_bytes = 0;
  std::uint64_t aux_bytes = 0;
};

/// When logs call for a merge. One of the two is 0: the other one counts.
struct MergeThresholds {
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;
};

constexpr bool calls_for_merge(const LogSize& log, const MergeThresholds& thresholds) {
  if (log.run_count > kRunsUntilMerge) return true;
  if (thresholds.bytes != 0) {
    return log.key_bytes > thresholds.bytes || log.aux_bytes > thresholds.bytes;
  }
  // Before the next transfer takes the bucket over what one slice of a merge can hold.
  return log.run_count != 0 && log.request_count + log.newest_run_requests > thresholds.requests;
}

/// How near to that logs are: above 1 they call for it. Runs count only then, for up to there they
/// can be joined.
constexpr double merge_ratio(const LogSize& log, const MergeThresholds& thresholds) {
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  const double by_runs =
      log.run_count > kRunsUntilMerge ? ratio(log.run_count, kRunsUntilMerge) : 0;
  if (thresholds.bytes != 0) {
    return std::max(by_runs, ratio(std::max(log.key_bytes, log.aux_bytes), thresholds.bytes));
  }
  const std::uint64_t next = log.request_count + log.newest_run_requests;
  return thresholds.requests == 0 ? by_runs : std::max(by_runs, ratio(next, thresholds.requests));
}

/// Bytes that packing saves of the keys of a log, where the highest key of the bucket is
/// `key_range` above its lowest. The rules count keys as they are in memory.
constexpr std::uint64_t packing_saves(std::uint64_t request_count, std::uint64_t key_range) {
  return request_count * static_cast<std::uint64_t>(std::countl_zero(key_range)) / 8;
}

/// Is it cheaper to merge some buckets from memory now than to log their requests and merge them
/// with later ones? With partitions of P bytes, requests of R bytes in memory and of L in the logs,
/// a merge costs P for reading and P for writing. Logging costs R twice, and makes the merge wait
/// until the logs hold 2 P: spec/design.md, cost model.
constexpr bool pays_to_merge(std::uint64_t partition_bytes, std::uint64_t memory_bytes,
                             std::uint64_t log_bytes) {
  return 3 * memory_bytes >= 2 * partition_bytes || memory_bytes + log_bytes >= 2 * partition_bytes;
}

}  // namespace crawlstore::drum
