// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The half of `seen` that asks: lines with keys in, verdicts out.
///
/// First come the answers to requests that an earlier run left behind, in the order of merges. Then
/// lines are submitted; all that waits is merged and printed whenever a bucket or the memory calls
/// for it, or FlushEvery does. A request leaves the file, as pending request or as result, only
/// after its verdict was written to standard output.
/// Threads: one at a time. It writes only those of the counts that are of verdicts.

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/input_order_output.h"
#include "cli/keyed_lines.h"
#include "cli/merge_order_output.h"
#include "cli/seen_options.h"
#include "cli/spool.h"
#include "cli/url_session.h"

namespace crawlstore::cli {

class SeenAsker {
 public:
  /// All must outlive this.
  SeenAsker(const SeenOptions& options, UrlSession& session, model::LineCounts& counts);

  /// Answers what an interrupted run left; verdicts of lines come from then on.
  Result<void> start();
  /// Asks for all lines, and merges where that is due.
  Result<void> ask(const KeyedLines& lines);
  /// Merges everything, or only when a bucket calls for it, and prints what that answered.
  Result<void> merge(bool everything);
  /// Leaves lines in the file for the next run, after the output failed: those that ask() was
  /// given last and did not reach, or others. Stops at the first that the store does not take.
  void keep_rest(const KeyedLines& lines);
  void keep(const KeyedLines& lines);

  /// The time for which the next line may keep those that wait from being answered; nullopt: none
  /// waits.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> patience() const;
  /// The reason that standard output took no more.
  [[nodiscard]] std::optional<Error> output_failure() const;

 private:
  using Clock = std::chrono::steady_clock;

  Result<void> answer_leftovers();
  Result<void> ask_some(const KeyedLines& lines, std::size_t end);
  Result<void> submit(const KeyedLines& lines, std::size_t begin, std::size_t end);
  void count_unparsed(const KeyedLines& lines);
  Result<void> look();
  Result<void> print_batch();
  void note_answered(Clock::time_point merge_start);

  const SeenOptions& options_;
  UrlSession& session_;
  model::LineCounts& counts_;
  Spool spool_;
  MergeOrderOutput merge_order_;
  InputOrderOutput input_order_;
  bool ordered_ = false;         // off while leftovers are answered
  std::size_t asked_count_ = 0;  // of the lines at hand
  std::vector<RawRequest> requests_;
  std::uint64_t waiting_lines_ = 0;
  std::uint64_t waiting_bytes_ = 0;      // of requests, about
  std::uint64_t waiting_bytes_max_ = 0;  // with so many a merge is due
  Clock::time_point first_waiting_;      // when the first of the waiting lines was asked
  Clock::duration last_merge_{};         // how long it took
};

}  // namespace crawlstore::cli
