// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The progress of long work. A terminal that knows escapes gets a line with a bar, drawn over
/// itself; elsewhere a plain line comes every few seconds, and nothing when quiet. All on standard
/// error. Threads: one.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/store.h>

#include "cli/stop_signals.h"
#include "model/table.h"

namespace crawlstore::cli {

/// A line of at most `width` columns: a bar between `what` and `rest`, as far as there is room.
/// `fraction`: from 0 to 1; negative = not known, and no bar.
std::string progress_line(std::string_view what, double fraction, std::string_view rest,
                          std::size_t width);

class ProgressBar {
 public:
  /// `what`: "verify". `unit` of the numbers: kBytes, without a noun, or kCount of "lines".
  ProgressBar(std::string what, model::Unit unit, std::string noun, bool quiet);
  ~ProgressBar();  ///< takes the bar away
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Shows `done` now and then. `fraction` of the whole, from 0 to 1; negative = not known.
  /// `detail` stands behind it.
  void update(std::uint64_t done, double fraction, std::string_view detail = {});
  /// The same, of a known total.
  void update_of(std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string text(std::uint64_t done, double fraction, double seconds) const;
  [[nodiscard]] std::string amount(std::uint64_t value) const;

  std::string what_;
  model::Unit unit_;
  std::string noun_;
  bool quiet_;
  bool is_drawn_;  // over itself
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point next_;
};

/// Library calls that take long, one after another: shows a bar for each, and stops the one under
/// way when a signal came.
class WorkBar {
 public:
  /// `what`: "superstep". `noun`: of what is counted. `stop` outlives it.
  WorkBar(std::string what, const StopSignals& stop, bool quiet, std::string noun = "steps")
      : what_(std::move(what)), stop_(stop), quiet_(quiet), noun_(std::move(noun)) {}
  WorkBar(const WorkBar&) = delete;
  WorkBar& operator=(const WorkBar&) = delete;

  /// For the calls; ends with this.
  Progress progress() {
    return [this](std::uint64_t done, std::uint64_t total) { return update(done, total); };
  }

 private:
  bool update(std::uint64_t done, std::uint64_t total);

  std::string what_;
  const StopSignals& stop_;
  bool quiet_;
  std::string noun_;
  std::optional<ProgressBar> bar_;  // of the call under way
  std::uint64_t done_ = 0;          // of it
};

}  // namespace crawlstore::cli
