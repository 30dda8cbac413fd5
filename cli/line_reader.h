// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The lines of an input, read in large blocks, without a copy or an allocation for each line.
/// Packed inputs are unpacked (input_bytes.h).
///
/// A line ends with LF or with the input; a CR right before that end is not part of the line, nor
/// is a UTF-8 byte order mark at the start of the input.
/// Ownership: does not own the descriptor; a line lives until the next call. Threads: one.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>

#include "cli/input_bytes.h"
#include "cli/stop_signals.h"

namespace crawlstore::cli {

class LineReader {
 public:
  /// Lines that are longer are skipped. The length that a DRUM takes as an auxiliary.
  static constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;

  /// kPause: nothing came for as long as the patience is; go on with the next call. kRefused: the
  /// input has no lines that are read, refusal() says why; it comes before any line or not at all.
  enum class Next : std::uint8_t { kLine, kTooLong, kPause, kRefused, kEnd };

  using Patience = InputBytes::Patience;

  /// `stop`: reading ends, as at the end of the input, when a signal asks for it. `patience` is
  /// asked before each wait; without it there is no kPause.
  LineReader(int descriptor, const StopSignals& stop, Patience patience = {});

  /// Goes on with an input that was looked at.
  explicit LineReader(InputBytes input, Patience patience = {});

  /// errors  those of InputBytes::read()
  Result<Next> next(std::string_view& line) {
    const std::size_t length = end_ - begin_;
    const void* found = length == 0 ? nullptr : std::memchr(&buffer_[begin_], '\n', length);
    if (found == nullptr) return next_in_new_block(line);
    take(line, static_cast<std::size_t>(static_cast<const char*>(found) - &buffer_[begin_]));
    ++begin_;
    return Next::kLine;
  }

  /// A line that was read to its end already. False: there is none.
  bool next_at_hand(std::string_view& line);

  [[nodiscard]] const std::string& refusal() const { return input_.refusal(); }
  /// Bytes of the input file itself, packed or not.
  [[nodiscard]] std::uint64_t bytes_read() const { return input_.bytes_read(); }

 private:
  enum class Refill : std::uint8_t { kMore, kPause, kRefused, kEnd };

  void take(std::string_view& line, std::size_t length) {
    line = {&buffer_[begin_], length};
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin_ += length;
  }
  Result<Next> next_in_new_block(std::string_view& line);
  Result<Next> skip_line();
  void skip_mark();
  Result<Refill> refill();
  [[nodiscard]] std::size_t find_line_end(std::size_t from) const;

  InputBytes input_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what was not handed out yet
  std::size_t end_ = 0;
  bool at_start_ = true;  // no line was found yet
  bool at_end_ = false;
  bool skips_ = false;  // the rest of a line that is too long
};

}  // namespace crawlstore::cli
