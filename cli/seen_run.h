// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `seen` does between opening and closing the store: lines in, verdicts out.
///
/// First come the answers to requests that an earlier run left behind, in the order of merges. Then
/// lines are read, submitted, and merged whenever a bucket calls for it; at the end of the input,
/// or when a signal asks to stop, all that was read is merged and printed.
/// Threads: one.

#include <cstdint>
#include <string_view>

#include "cli/input_order_output.h"
#include "cli/line_reader.h"
#include "cli/merge_order_output.h"
#include "cli/progress.h"
#include "cli/spool.h"
#include "cli/url_session.h"
#include "model/report_view.h"

namespace crawlstore::cli {

struct SeenOptions {
  UrlSessionOptions session;
  DrumOperation operation = DrumOperation::kCheckUpdate;
  bool ordered = false;
  bool as_json = false;
  bool quiet = false;
};

class SeenRun {
 public:
  SeenRun(const SeenOptions& options, UrlSession& session);

  /// Reads standard input to its end. errors of the input, the store, the output
  Result<void> run(const StopSignals& stop);

  [[nodiscard]] const model::LineCounts& counts() const { return counts_; }

 private:
  Result<void> answer_leftovers();
  Result<void> take_line(std::string_view line);
  Result<void> ask(std::string_view url);
  Result<void> merge(bool everything);
  bool is_refused(std::string_view url);
  void tell_refused(const char* why);

  const SeenOptions& options_;
  UrlSession& session_;
  model::LineCounts counts_;
  Spool spool_;
  MergeOrderOutput merge_order_;
  InputOrderOutput input_order_;
  bool ordered_ = false;  // off while leftovers are answered
  std::uint64_t asked_since_look_ = 0;
};

}  // namespace crawlstore::cli
