// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The lines of an input that come slowly or fast, some at a time: a file that they change is open
/// only while there is something to do. Threads: one.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line_reader.h"
#include "cli/open_input.h"

namespace crawlstore::cli {

/// Lines that came one after another.
class LineBatch {
 public:
  void add(std::string_view line) {
    text_ += line;
    ends_.push_back(text_.size());
  }
  /// Begins anew with the line of that number.
  void restart(std::uint64_t first_number) {
    text_.clear();
    ends_.clear();
    first_number_ = first_number;
  }
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::size_t text_bytes() const { return text_.size(); }
  /// Lives until the batch changes.
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  /// Counted from 1.
  [[nodiscard]] std::uint64_t number(std::size_t i) const { return first_number_ + i; }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
  std::uint64_t first_number_ = 1;
};

class LineBatches {
 public:
  /// Stands for a line of more than 64 MiB; no verb takes it.
  static constexpr std::string_view kTooLong = "?";

  /// kFull: more lines may be at hand. kPause: a second has gone by since the first of these lines
  /// came, or there are none, and none came for a fifth of a second. kEnd: of the input, or a
  /// signal came.
  enum class Why : std::uint8_t { kFull, kPause, kRefused, kEnd };

  /// `lines_max`: of a batch.
  LineBatches(OpenInput& input, std::size_t lines_max);

  /// Replaces what the batch has. `is_urgent`: it is told when no line comes; else it waits for one
  /// without end. errors  those of LineReader::next(); the batch has what came before
  Result<Why> next(LineBatch& batch, bool is_urgent);

  [[nodiscard]] const std::string& refusal() const { return reader_.refusal(); }

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> patience() const;

  LineReader reader_;
  std::size_t lines_max_;
  bool is_urgent_ = false;
  bool has_lines_ = false;
  Clock::time_point begun_;  // the first line of the batch came
  std::uint64_t line_count_ = 0;
};

/// Says why an input could not be opened; returns the exit code.
int fail_with_unopened(const std::string& path, int open_errno);

}  // namespace crawlstore::cli
