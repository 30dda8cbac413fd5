// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>

#include "base/clock.h"
#include "format/frontier_layout.h"

namespace crawlstore::frontier {

/// Returns the time of a frontier when the wall clock shows `wall_us`: the wall clock, unless the
/// frontier has had a later time; then time goes on from there since the last commit.
///   clock_ms        of the frontier in the file
///   commit_time_us  the wall clock at the last commit of the store
inline std::uint64_t time_at(std::uint64_t clock_ms, std::int64_t commit_time_us,
                             std::int64_t wall_us) {
  const std::int64_t wall_ms = std::max<std::int64_t>(wall_us, 0) / 1000;
  if (static_cast<std::uint64_t>(wall_ms) >= clock_ms) return static_cast<std::uint64_t>(wall_ms);
  const std::int64_t commit_ms = std::max<std::int64_t>(commit_time_us, 0) / 1000;
  return clock_ms + static_cast<std::uint64_t>(std::max<std::int64_t>(wall_ms - commit_ms, 0));
}

/// The time of an open frontier in milliseconds since 1970: time_at() when it was opened, and from
/// then on the clock of the system's uptime, which nobody sets.
class FrontierClock {
 public:
  /// Begins with time_at().
  FrontierClock(std::uint64_t clock_ms, std::int64_t commit_time_us)
      : FrontierClock(clock_ms, commit_time_us, now_us()) {}

  [[nodiscard]] std::uint64_t now_ms() const { return begin_ms_ + (uptime_ms() - uptime_ms_); }
  /// The time that a caller told, who tells it from then on, or else now_ms().
  std::uint64_t time_ms(std::optional<std::uint64_t> told_ms) {
    if (told_ms) is_ahead_ = false;
    return std::min(told_ms.value_or(now_ms()), format::kItemTimeMax);
  }
  /// Whether it began ahead of the wall clock, and no caller tells another time.
  [[nodiscard]] bool is_ahead() const { return is_ahead_; }
  /// Whether it is ahead of a wall clock that was set back since the last commit: time would stand
  /// still for each process until there is another commit.
  [[nodiscard]] bool was_set_back() const { return is_ahead_ && was_set_back_; }

 private:
  FrontierClock(std::uint64_t clock_ms, std::int64_t commit_time_us, std::int64_t wall_us)
      : begin_ms_(time_at(clock_ms, commit_time_us, wall_us)),
        uptime_ms_(uptime_ms()),
        is_ahead_(static_cast<std::uint64_t>(wall_us) / 1000 < clock_ms),
        was_set_back_(wall_us < commit_time_us) {}

  static std::uint64_t uptime_ms() {
    std::timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000 +
           static_cast<std::uint64_t>(time.tv_nsec) / 1'000'000;
  }

  std::uint64_t begin_ms_;
  std::uint64_t uptime_ms_;
  bool is_ahead_;
  bool was_set_back_;
};

}  // namespace crawlstore::frontier
