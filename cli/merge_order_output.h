// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Verdicts in the order in which merges decide them, written out before the commit that holds
/// them. The requests are in the file's log by then (DrumOptions::log_first), so a run that ends in
/// between has lost nothing: the next merge answers them again.
/// Threads: one, that of the merges.

#include <optional>
#include <span>
#include <string>

#include <crawlstore/drum_core.h>

#include "cli/verdict_line.h"
#include "model/report_view.h"

namespace crawlstore::cli {

class MergeOrderOutput {
 public:
  /// `counts`: where verdicts are counted; must outlive this.
  MergeOrderOutput(model::LineCounts& counts, bool as_json);

  /// Answers of an interrupted --check: nothing was remembered, and who remembers now must not be
  /// told "unique" of them.
  void leave_out_checks(bool leaves_out) { leaves_out_checks_ = leaves_out; }
  /// A sink for DrumCore: returns when all lines are written out. Throws when output fails, which
  /// drops the transaction; failure() has the reason then.
  void accept(std::span<const RawAnswer> answers);

  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  model::LineCounts* counts_;
  bool as_json_;
  bool leaves_out_checks_ = false;
  std::string out_;
  std::optional<Error> failure_;
};

/// Counts one verdict.
void count(model::LineCounts& counts, Verdict verdict);

}  // namespace crawlstore::cli
