// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Verdicts in the order of the input (`--ordered`). The lines of a batch wait in a spool, two
/// bytes each in memory beside; answers come bucket by bucket, in arrival order inside a bucket, so
/// that line i has the next answer of its bucket. Merges keep the answers in the file, and they
/// leave it when the batch is written out. Threads: one, that of the merges.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/drum_core.h>
#include <crawlstore/store.h>

#include "cli/spool.h"
#include "cli/verdict_line.h"
#include "model/report_view.h"

namespace crawlstore::cli {

class InputOrderOutput {
 public:
  /// A batch is at most `batch_lines_max` lines.
  struct Options {
    std::string drum;
    std::uint64_t batch_lines_max = 0;
    bool as_json = false;
  };
  InputOrderOutput(Store& store, Spool& spool, model::LineCounts& counts, Options options);

  /// Before the first line of a batch: learns the buckets. errors of damage, I/O
  Result<void> start_batch();
  /// A line that is about to be submitted under `key`. errors kNoSpace and the like
  Result<void> add(std::uint64_t key, std::string_view url);
  [[nodiscard]] bool is_full() const { return buckets_.size() >= options_.batch_lines_max; }

  /// A sink for DrumCore::take_results, after the merge of the batch: returns from the last answer
  /// of the batch when all its lines are written out. Throws when output fails, so that the answers
  /// stay in the file; failure() has the reason then.
  void accept(std::span<const RawAnswer> answers);
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

  /// errors  kIo: the batch has another number of lines than answers that came
  [[nodiscard]] Result<void> check_complete() const;

 private:
  [[nodiscard]] std::size_t bucket_of(std::uint64_t key) const;
  Result<void> print_lines(std::string_view text);
  Result<void> print_batch();
  void take_line(std::string_view url);

  Store* store_;
  Spool* spool_;
  model::LineCounts* counts_;
  Options options_;
  std::vector<std::uint64_t> first_keys_;      // of the DRUM's buckets
  std::vector<std::uint16_t> buckets_;         // of each line of the batch
  std::vector<std::vector<Verdict>> answers_;  // of each bucket, in arrival order
  std::vector<std::size_t> taken_;             // of each bucket: so many were printed
  std::uint64_t answer_count_ = 0;
  std::size_t printed_ = 0;
  std::string partial_line_;
  std::string out_;
  std::optional<Error> failure_;
};

}  // namespace crawlstore::cli
