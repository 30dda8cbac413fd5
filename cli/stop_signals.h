// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SIGINT and SIGTERM as a wish: while one of these lives, the first signal asks to stop, and a
/// second one of its kind ends the process at once (the last commit stands).
/// Threads: requested() from any thread. One at a time in a process.

#include <csignal>

namespace crawlstore::cli {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The number of the signal that came; 0 = none.
  [[nodiscard]] int requested() const;

  /// Waits until `descriptor` can be read (or has ended). False: a signal came first.
  [[nodiscard]] bool wait_readable(int descriptor) const;

 private:
  struct sigaction earlier_interrupt_ = {};
  struct sigaction earlier_terminate_ = {};
};

}  // namespace crawlstore::cli
