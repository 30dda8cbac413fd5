// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `seen` does between opening and closing the store: lines in, verdicts out.
///
/// First come the answers to requests that an earlier run left behind, in the order of merges. Then
/// lines are read and submitted. All that waits is merged and printed whenever a bucket or the
/// memory calls for it, when FlushEvery or a pause of the input does, and at the end of the inputs
/// or when a signal asks to stop.
/// A request leaves the file, as pending request or as result, only after its verdict was written
/// to standard output. Threads: one.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input_order_output.h"
#include "cli/line_reader.h"
#include "cli/merge_order_output.h"
#include "cli/progress.h"
#include "cli/spool.h"
#include "cli/unparsed_report.h"
#include "cli/url_session.h"
#include "model/report_view.h"

namespace crawlstore::cli {

/// When lines that wait are answered, beside what the memory calls for. Without a time: when the
/// input pauses for a second.
struct FlushEvery {
  std::uint64_t lines = ~std::uint64_t{0};
  std::optional<std::chrono::nanoseconds> time;  // since the first line that waits
};

struct SeenOptions {
  UrlSessionOptions session;
  DrumOperation operation = DrumOperation::kCheckUpdate;
  std::vector<std::string> inputs;  // none: standard input
  FlushEvery flush_every;
  std::string unparsed;  // a file that lists what is no URL; empty: none
  bool ordered = false;
  bool as_json = false;
  bool quiet = false;
};

class SeenRun {
 public:
  SeenRun(const SeenOptions& options, UrlSession& session, UnparsedReport& unparsed);

  /// Reads the inputs to their ends. An input that cannot be read is the last one: what was read
  /// before is answered. errors of the inputs, the store, the output
  Result<void> run(const StopSignals& stop);

  [[nodiscard]] const model::LineCounts& counts() const { return counts_; }
  /// What a failure of run() is about: FILE, an input, standard output.
  [[nodiscard]] const std::string& subject() const { return subject_; }
  /// Why standard output took no more, if that ended run(). The lines at hand were submitted then.
  [[nodiscard]] std::optional<Error> output_failure() const;

 private:
  using Clock = std::chrono::steady_clock;

  Result<void> answer_leftovers();
  Result<void> answer_inputs(const StopSignals& stop);
  Result<void> read(const std::string& path, const StopSignals& stop);
  Result<void> take_line(std::string_view line);
  Result<void> ask(std::string_view url);
  Result<void> submit(std::string_view url, Key16 key);
  Result<void> look();
  Result<void> merge(bool everything);
  Result<void> print_batch();
  void keep_unasked(LineReader& reader);
  [[nodiscard]] std::optional<std::chrono::nanoseconds> patience() const;
  [[nodiscard]] std::optional<const char*> refusal_of(std::string_view url) const;
  void refuse(const char* why);
  /// Of the line that was read last.
  [[nodiscard]] std::string place() const;
  void note_answered(Clock::time_point merge_start);

  const SeenOptions& options_;
  UrlSession& session_;
  UnparsedReport& unparsed_;
  model::LineCounts counts_;
  Spool spool_;
  MergeOrderOutput merge_order_;
  InputOrderOutput input_order_;
  ProgressBar progress_;
  std::string subject_;
  bool ordered_ = false;  // off while leftovers are answered
  std::string input_;     // the path of the one that is read; empty: standard input, not named
  std::uint64_t lines_before_input_ = 0;
  std::optional<Error> input_failure_;
  std::uint64_t asked_since_look_ = 0;
  std::uint64_t waiting_lines_ = 0;
  std::uint64_t waiting_bytes_ = 0;      // of requests, about
  std::uint64_t waiting_bytes_max_ = 0;  // with so many a merge is due
  Clock::time_point first_waiting_;      // when the first of the waiting lines was asked
  Clock::duration last_merge_{};         // how long it took
};

}  // namespace crawlstore::cli
