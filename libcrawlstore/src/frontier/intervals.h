// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Arithmetic of times and intervals, in milliseconds: spec/frontier.md#step-runs. Pure functions.

#include <algorithm>
#include <cstdint>

#include "format/frontier_layout.h"

namespace crawlstore::frontier {

/// An interval is doubled so often by failures.
inline constexpr std::uint32_t kDoublingsMax = 6;

/// A time that is so many milliseconds after another.
constexpr std::uint64_t after(std::uint64_t time, std::uint64_t ms) {
  return std::min(format::kItemTimeMax, time + ms);
}

/// An interval after so many failures.
constexpr std::uint64_t stretched(std::uint64_t ms, std::uint32_t failure_count) {
  return std::min(format::kItemTimeMax, ms << std::min(failure_count, kDoublingsMax));
}

/// The time from which a visit may be made when `next` is that of even visits.
constexpr std::uint64_t with_burst(std::uint64_t next, std::uint64_t interval,
                                   std::uint32_t burst) {
  if (burst == 1 || interval == 0) return next;
  return burst - 1 > next / interval ? 0 : next - (burst - 1) * interval;
}

/// The time of the next visit behind one at `clock`: an interval behind the last one or the clock,
/// but no further off than a burst of visits puts it, also after visits that came before it.
constexpr std::uint64_t charged(std::uint64_t next, std::uint64_t clock, std::uint64_t interval,
                                std::uint32_t burst) {
  const std::uint64_t burst_ms = interval != 0 && burst > format::kItemTimeMax / interval
                                     ? format::kItemTimeMax
                                     : burst * interval;
  return std::min(after(std::max(clock, next), interval), after(clock, burst_ms));
}

}  // namespace crawlstore::frontier
