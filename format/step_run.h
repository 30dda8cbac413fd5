// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs of steps, journals and pieces: spec/frontier.md#step-runs. Threads: none is shared.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "steps.h"

namespace crawlstore::format {

/// Header of a run of steps.
///   first_step   of a journal: the number of its first step, at least 1; of a piece: of the last
///                step that is in its state, 0: none
///   first_group  of a piece: the state is that of the groups from here on
///   end_group    of a piece: to below here
struct StepRun {
  std::uint64_t first_step = 0;
  std::uint32_t first_group = 0;
  std::uint32_t end_group = 0;
  bool is_piece = false;
  bool operator==(const StepRun&) const = default;
};
constexpr StepRun journal_from(std::uint64_t first_step) {
  return {first_step, 0, 0, false};
}
constexpr StepRun piece_of(std::uint32_t first_group, std::uint32_t end_group,
                           std::uint64_t last_step) {
  return {last_step, first_group, end_group, true};
}

/// The steps of a run in front of another one.
struct StepsBefore {
  std::uint64_t count = 0;
  std::uint64_t last_id = 0;
  std::uint32_t last_group = 0;  ///< in a piece
};

/// Makes the payload of a run, step by step.
class StepWriter {
 public:
  explicit StepWriter(const StepRun& run);

  /// Copies a step to the end of the run, in which it may stand there. Its values are in the ranges
  /// of frontier.md#step-runs; -0 is written as 0.
  void append(const Step& step);

  [[nodiscard]] std::uint64_t step_count() const { return before_.count; }
  /// Bytes of the payload so far, without padding.
  [[nodiscard]] std::size_t payload_bytes() const { return payload_.size(); }

  /// The payload. A journal has a step at least. The writer can only be assigned to afterwards.
  [[nodiscard]] std::vector<std::byte> finish();

 private:
  StepRun run_;
  StepsBefore before_;
  std::vector<std::byte> payload_;
  std::vector<std::byte> numbers_;  // of the step that is appended
};

/// Step by step through a payload: hostile bytes, which may change meanwhile and lie at any
/// address. Borrows the payload. Memory: at most 65,536 numbers, or pairs, of one step.
class StepReader {
 public:
  /// errors  kSegmentInvalid, offset relative to the payload: the header is wrong
  static Result<StepReader> open(std::span<const std::byte> payload);

  [[nodiscard]] const StepRun& run() const { return run_; }
  /// Steps by the header; known to be right only when next() has come to the end.
  [[nodiscard]] std::uint64_t step_count() const { return step_count_; }

  /// The group that the last step of a piece is of, so far; before the first one 0.
  [[nodiscard]] std::uint32_t last_group() const { return before_.last_group; }

  /// Reads the next step; false after the last. Bytes of the step point into the payload, lists
  /// into the reader until the next call.
  ///   errors  kSegmentInvalid, offset of the record relative to the payload
  Result<bool> next(Step& step);

  /// Before next(): ends in front of the first step that is not wholly in so many first bytes of
  /// the payload, the header among them. Those behind may be any.
  void cut(std::size_t whole_bytes);

 private:
  StepReader(std::span<const std::byte> payload, const StepRun& run, std::uint64_t step_count);

  std::span<const std::byte> rest_;
  std::size_t payload_bytes_;
  StepRun run_;
  std::uint64_t step_count_;
  StepsBefore before_;
  bool is_cut_ = false;
  std::vector<std::uint64_t> numbers_;
  std::vector<RunCount> run_counts_;
};

}  // namespace crawlstore::format
