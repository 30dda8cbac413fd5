// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The work of `seen` between opening and closing the store: lines in, verdicts out.
///
/// Two threads: this one reads lines and makes their keys, while SeenAsker asks for those before on
/// another. Waiting lines are also merged and printed when the input pauses, at its end, and when a
/// signal asks to stop.

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <string_view>

#include "cli/keyed_lines.h"
#include "cli/line_reader.h"
#include "cli/progress.h"
#include "cli/refused_inputs.h"
#include "cli/seen_asker.h"
#include "cli/seen_options.h"
#include "cli/unparsed_report.h"
#include "cli/url_session.h"
#include "model/report_view.h"

namespace crawlstore::cli {

class SeenRun {
 public:
  /// `looked` tells which inputs were refused before.
  SeenRun(const SeenOptions& options, UrlSession& session, UnparsedReport& unparsed,
          LookedInputs looked);

  /// Reads the inputs to their ends. An input that cannot be read is the last one: what was read
  /// before is answered. errors of the inputs, the store, the output
  Result<void> run(const StopSignals& stop);

  [[nodiscard]] const model::LineCounts& counts() const { return counts_; }
  /// The subject of a failure of run(): FILE, an input, standard output.
  [[nodiscard]] const std::string& subject() const { return subject_; }
  /// Whether it is about an input.
  [[nodiscard]] bool is_of_input() const { return is_of_input_; }
  /// The reason that standard output took no more, if that ended run(). The lines at hand were
  /// submitted then.
  [[nodiscard]] std::optional<Error> output_failure() const { return asker_.output_failure(); }

 private:
  Result<void> answer_inputs(const StopSignals& stop);
  Result<void> read(const std::string& path, const StopSignals& stop);
  Result<void> take_line(std::string_view line);
  void add_line(std::string_view line);
  Result<void> await_asked();
  Result<void> hand_over();
  Result<void> settle();
  Result<void> take_pause();
  void take_at_hand(LineReader& reader);
  void keep_unasked();
  [[nodiscard]] std::optional<std::chrono::nanoseconds> patience() const;
  [[nodiscard]] bool is_settled() const { return lines_.empty() && !asking_.valid(); }
  [[nodiscard]] std::optional<const char*> refusal_of(std::string_view url) const;
  void refuse(const char* why);
  /// The place of the line that was read last.
  [[nodiscard]] std::string place() const;

  const SeenOptions& options_;
  UrlSession& session_;
  UnparsedReport& unparsed_;
  LookedInputs looked_;
  UrlKeyer keyer_;
  model::LineCounts counts_;
  ProgressBar progress_;
  std::string subject_;
  std::string input_;  // the path of the one that is read; empty: standard input, not named
  std::uint64_t lines_before_input_ = 0;
  std::optional<Error> input_failure_;
  bool is_of_input_ = false;
  KeyedLines lines_;  // that were read last
  KeyedLines asked_;  // those before
  SeenAsker asker_;   // while asking_ is valid, of the other thread
  std::future<Result<void>> asking_;
};

}  // namespace crawlstore::cli
