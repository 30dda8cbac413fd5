// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads an input for the verbs that take text or events. InputBytes looks at the first bytes:
/// it unpacks gzip and zstd, hands out plain bytes as they are, and refuses all other kinds by
/// name. Unpacked bytes are looked at in the same way, once. Ownership: does not own the
/// descriptor. Threads: one.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <crawlstore/error.h>

#include "cli/input_kind.h"
#include "cli/stop_signals.h"
#include "cli/unpacker.h"

namespace crawlstore::cli {

class InputBytes {
 public:
  /// The time to wait for input that is not there; nullopt = for ever.
  using Patience = std::function<std::optional<std::chrono::nanoseconds>()>;

  /// kPause: nothing came for as long as the patience is. kRefused: refusal() says why, and nothing
  /// was handed out. kStopped: a signal asks for the end.
  enum class Got : std::uint8_t { kBytes, kPause, kRefused, kStopped, kEnd };
  struct Read {
    Got got = Got::kEnd;
    std::size_t length = 0;  // of kBytes, at least 1
  };

  /// `patience` is asked before each wait; without it there is no kPause.
  InputBytes(int descriptor, const StopSignals& stop, Patience patience = {});

  /// Replaces the patience.
  void be_patient(Patience patience) { patience_ = std::move(patience); }

  /// Reads until it is known whether the input is refused, and keeps what was read for read().
  /// Returns kBytes then. errors as read()
  Result<Read> look();
  /// Fills the beginning of `into`, of at least 1 byte.
  ///   errors  kIo; kTruncated, kSegmentInvalid, kTooLarge: of packed data, with a text that says
  ///           what is wrong with the input
  Result<Read> read(std::span<char> into);
  /// Returns why the input is refused, or an empty text.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// Returns how many bytes were read from the descriptor.
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  Result<Read> look_at_head();
  void take_head(InputKind kind);
  Result<Read> read_layer(std::span<char> into);
  Result<Read> read_unpacked(std::span<char> into);
  Result<Read> read_descriptor(std::span<char> into);

  int descriptor_;
  const StopSignals* stop_;
  Patience patience_;
  std::uint64_t bytes_read_ = 0;
  std::vector<char> head_;       // what was read to tell the kind
  std::size_t head_length_ = 0;  // of it
  std::size_t head_taken_ = 0;   // of that, handed out
  bool is_known_ = false;        // the kind is
  std::string refusal_;
  std::optional<Error> look_error_;     // comes again
  std::unique_ptr<Unpacker> unpacker_;  // nullptr: nothing is packed
  std::vector<char> packed_;
  std::size_t packed_begin_ = 0;  // of what was not unpacked yet
  std::size_t packed_end_ = 0;
  bool may_hold_more_ = false;  // the unpacker may
  bool at_end_ = false;         // of the descriptor; a terminal would go on
};

}  // namespace crawlstore::cli
