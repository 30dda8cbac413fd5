// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "format/step_run.h"

namespace crawlstore::frontier {

/// Steps that no commit has, in pieces that can be cut off at their ends. Threads: one at a time.
/// Memory: the bytes of the steps.
class StepLog {
 public:
  /// A place between two steps.
  using Mark = std::size_t;

  [[nodiscard]] bool is_empty() const { return closed_.empty() && !open_; }
  void append(const format::Step& step) {
    if (!open_) open_.emplace(format::journal_from(1));
    open_->append(step);
    if (open_->payload_bytes() >= kPieceBytes) close();
  }
  Mark mark() {
    close();
    return closed_.size();
  }
  /// Forgets the steps behind a mark.
  void cut(Mark mark) {
    open_.reset();
    closed_.resize(mark);
  }
  void clear() { cut(0); }

  /// The bytes of journals of all steps, about.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = open_ ? open_->payload_bytes() : 0;
    for (const auto& piece : closed_) sum += piece.size();
    return sum;
  }
  [[nodiscard]] std::uint64_t count() {
    close();
    std::uint64_t sum = 0;
    for (const auto& piece : closed_) {
      const auto reader = format::StepReader::open(piece);
      sum += reader ? reader->step_count() : 0;
    }
    return sum;
  }

  /// Calls of(Step) with each, until it fails.
  template <class Of>
  Result<void> for_each(const Of& of) {
    close();
    for (const std::vector<std::byte>& piece : closed_) {
      CRAWLSTORE_TRY(auto reader, format::StepReader::open(piece));
      for (format::Step step;;) {
        CRAWLSTORE_TRY(const bool is_there, reader.next(step));
        if (!is_there) break;
        CRAWLSTORE_TRY(of(step));
      }
    }
    return {};
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  void close() {
    if (!open_) return;
    closed_.push_back(open_->finish());
    open_.reset();
  }

  std::vector<std::vector<std::byte>> closed_;  // payloads of journals
  std::optional<format::StepWriter> open_;
};

}  // namespace crawlstore::frontier
