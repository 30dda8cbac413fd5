// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace crawlstore::frontier {

/// The time, in milliseconds since 1970: the wall clock when it was made, and from then on the
/// clock of the system's uptime, which nobody sets. Threads: any number.
class UptimeClock {
 public:
  /// Begins no earlier than `earliest_ms`.
  explicit UptimeClock(std::uint64_t earliest_ms)
      : begin_ms_(std::max(earliest_ms, read(CLOCK_REALTIME))), uptime_ms_(read(CLOCK_BOOTTIME)) {}

  [[nodiscard]] std::uint64_t now_ms() const {
    return begin_ms_ + (read(CLOCK_BOOTTIME) - uptime_ms_);
  }

 private:
  static std::uint64_t read(clockid_t clock) {
    std::timespec time{};
    ::clock_gettime(clock, &time);
    if (time.tv_sec < 0) return 0;
    return static_cast<std::uint64_t>(time.tv_sec) * 1000 +
           static_cast<std::uint64_t>(time.tv_nsec) / 1'000'000;
  }

  std::uint64_t begin_ms_;
  std::uint64_t uptime_ms_;
};

}  // namespace crawlstore::frontier
