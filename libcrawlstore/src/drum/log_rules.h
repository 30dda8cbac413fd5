// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules by which a bucket's logs call for a merge: pure functions over bytes and requests. The
/// other rules are in merge_rules.h.

#include <algorithm>
#include <bit>
#include <cstdint>

#include <crawlstore/tools/merge_rules.h>

namespace crawlstore::drum {

/// The content of a bucket's logs.
struct LogSize {
  std::uint64_t run_count = 0;
  std::uint64_t request_count = 0;
  std::uint64_t newest_run_requests = 0;
  std::uint64_t key_bytes = 0;
  std::uint64_t aux_bytes = 0;
};

/// Limits above which logs call for a merge. One of the two is 0, and the other one counts.
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

/// Returns the fill of the logs; above 1 they call for a merge. Runs count only above
/// kRunsUntilMerge, as fewer can be joined.
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

/// Returns the bytes that packing the keys of a log saves, in a bucket whose highest key is
/// `key_range` above its lowest. The rules count keys as they are in memory.
constexpr std::uint64_t packing_saves(std::uint64_t request_count, std::uint64_t key_range) {
  return request_count * static_cast<std::uint64_t>(std::countl_zero(key_range)) / 8;
}

}  // namespace crawlstore::drum
