// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Turns SIGINT, SIGTERM and SIGHUP into a request that work looks at when it can stop. While a
/// StopSignals lives, the first signal asks to stop, and another SIGINT or SIGTERM ends the process
/// at once (the last commit stands). Another SIGHUP has no effect: a shell that ends sends one, and
/// the kernel a second for its terminal. Signals that were ignored, by nohup for example, stay so.
/// Threads: requested() from any thread. One at a time in a process.

#include <array>
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

  /// Returns the number of the signal that came, or 0.
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
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> earlier_ = {};  // of kSignals
};

}  // namespace crawlstore::cli
