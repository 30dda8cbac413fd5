// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Verdicts in the order in which merges decide them. None is printed before the commit that holds
/// it, so that a killed run has never printed a verdict that was not remembered.
/// Threads: one, that of the merges.

#include <cstdint>
#include <optional>
#include <span>

#include <crawlstore/drum_core.h>
#include <crawlstore/store.h>

#include "cli/spool.h"
#include "cli/verdict_line.h"
#include "model/report_view.h"

namespace crawlstore::cli {

class MergeOrderOutput {
 public:
  /// `counts`: where verdicts are counted. Both must outlive this.
  MergeOrderOutput(const Store& store, Spool& spool, model::LineCounts& counts, bool as_json);

  /// A sink for DrumCore::attach. Throws when output fails, which drops the transaction; failure()
  /// has the reason then.
  void accept(std::span<const RawAnswer> answers);

  /// After a merge that succeeded: prints all that waits.
  Result<void> finish();
  /// After one that failed: prints what was committed before, forgets the rest.
  void abandon();

  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  void add(std::span<const RawAnswer> answers);

  const Store* store_;
  Spool* spool_;
  model::LineCounts* counts_;
  bool as_json_;
  Generation spooled_at_;  // the generation that was current when the first waiting line came
  std::optional<Error> failure_;
};

/// Counts one verdict.
void count(model::LineCounts& counts, Verdict verdict);

}  // namespace crawlstore::cli
