// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Seconds of one core, measured with bench/seen_driver: spec/design.md, cost model.

#include <algorithm>
#include <cmath>

namespace crawlstore::model {

inline constexpr double kSubmitSeconds = 12e-9;        // a request into its array
inline constexpr double kDispatchSeconds = 7e-9;       // its answer
inline constexpr double kPayloadByteSeconds = 0.5e-9;  // a byte of value or auxiliary, both ways
inline constexpr double kLogSeconds = 6e-9;            // a request into a log and out of it
inline constexpr double kPackByteSeconds = 2e-9;       // of an auxiliary into a log, compressed
inline constexpr double kSortSeconds = 21e-9;          // a request of a sort within the L2 cache
inline constexpr double kSortRequests = 131072;        // that many do
inline constexpr double kSortSecondsADoubling = 13e-9;
inline constexpr double kSortSecondsMax = 75e-9;
inline constexpr double kKeySeconds = 9e-9;     // a key of the old partition into the new one
inline constexpr double kByteSeconds = 0.4e-9;  // a byte through the system, without the device
inline constexpr double kMergeSeconds = 40e-6;  // a bucket
inline constexpr double kCommitSeconds = 280e-6;

/// Seconds that so many requests of one merge take to be sorted.
inline double sort_seconds(double requests) {
  const double doublings = std::max(0.0, std::log2(std::max(1.0, requests) / kSortRequests));
  return requests * std::min(kSortSecondsMax, kSortSeconds + kSortSecondsADoubling * doublings);
}

}  // namespace crawlstore::model
