// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SIGINT and SIGTERM as a wish: while one of these lives, the first signal asks to stop, and a
/// second one of its kind ends the process at once (the last commit stands).
/// Threads: requested() from any thread. One at a time in a process.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>

namespace crawlstore::cli {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The number of the signal that came; 0 = none.
  [[nodiscard]] int requested() const;

  enum class Wait : std::uint8_t { kReadable, kTimeout, kSignal };

  /// Waits until `descriptor` can be read (or has ended), or a signal comes, or `patience` is over;
  /// without patience for ever. A descriptor that can be read is kReadable, whatever the patience.
  [[nodiscard]] Wait wait(int descriptor, std::optional<std::chrono::nanoseconds> patience) const;
  /// The same, without end. False: a signal came first.
  [[nodiscard]] bool wait_readable(int descriptor) const {
    return wait(descriptor, std::nullopt) == Wait::kReadable;
  }

 private:
  struct sigaction earlier_interrupt_ = {};
  struct sigaction earlier_terminate_ = {};
};

}  // namespace crawlstore::cli
