// SPDX-License-Identifier: Apache-2.0
//
// Invariants: packed_begin_ <= packed_end_ <= packed_.size(), head_taken_ <= head_length_ <=
// head_.size(). Before is_known_ nothing is handed out; after it no byte enters head_.
#include "cli/input_bytes.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <unistd.h>

namespace crawlstore::cli {
namespace {

constexpr std::size_t kPackedBytes = std::size_t{128} << 10;

/// The reason is the input's, not one of a crawl file.
tl::unexpected<Error> unreadable(int system_errno) {
  return tl::unexpected<Error>(
      Error{Errc::kIo, system_errno, {}, Error::kNoOffset, "the input cannot be read"});
}

}  // namespace

InputBytes::InputBytes(int descriptor, const StopSignals& stop, Patience patience)
    : descriptor_(descriptor),
      stop_(&stop),
      patience_(std::move(patience)),
      head_(kInputHeadBytes) {}

Result<InputBytes::Read> InputBytes::read(std::span<char> into) {
  if (!is_known_) {
    CRAWLSTORE_TRY(const Read looked, look());
    if (looked.got != Got::kBytes) return looked;
  }
  if (!refusal_.empty()) return Read{Got::kRefused};
  if (head_taken_ == head_length_) return read_layer(into);
  const std::size_t length = std::min(into.size(), head_length_ - head_taken_);
  std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(head_taken_), length, into.begin());
  head_taken_ += length;
  return Read{Got::kBytes, length};
}

Result<InputBytes::Read> InputBytes::look() {
  if (look_error_) return tl::unexpected<Error>(*look_error_);
  const auto looked = look_at_head();
  if (!looked) look_error_ = looked.error();
  return looked;
}

/// Reads until the kind is known; returns kBytes then.
Result<InputBytes::Read> InputBytes::look_at_head() {
  while (!is_known_) {
    CRAWLSTORE_TRY(const Read read, read_layer(std::span(head_).subspan(head_length_)));
    if (read.got != Got::kBytes && read.got != Got::kEnd) return read;
    head_length_ += read.length;
    const auto kind = find_input_kind({head_.data(), head_length_}, read.got == Got::kEnd);
    if (kind) take_head(*kind);
  }
  return Read{Got::kBytes};
}

/// Goes on by what the head is: hands it out, unpacks it, or refuses the input.
void InputBytes::take_head(InputKind kind) {
  const bool is_packed = kind == InputKind::kGzip || kind == InputKind::kZstd;
  if (is_packed && unpacker_ == nullptr) {
    unpacker_ = make_unpacker(kind);
    packed_ = std::exchange(head_, std::vector<char>(kInputHeadBytes));
    packed_end_ = std::exchange(head_length_, 0);
    packed_.resize(kPackedBytes);
    return;
  }
  is_known_ = true;
  if (kind == InputKind::kPlain) return;
  refusal_ = unpacker_ == nullptr ? "" : "once unpacked, ";
  refusal_ += refusal_of(kind);
}

Result<InputBytes::Read> InputBytes::read_layer(std::span<char> into) {
  return unpacker_ == nullptr ? read_descriptor(into) : read_unpacked(into);
}

Result<InputBytes::Read> InputBytes::read_unpacked(std::span<char> into) {
  while (stop_->requested() == 0) {
    if (packed_begin_ == packed_end_ && !may_hold_more_) {
      CRAWLSTORE_TRY(const Read read, read_descriptor(packed_));
      if (read.got == Got::kEnd && !unpacker_->may_end()) {
        return fail(Errc::kTruncated, unpacker_->cut_off_text());
      }
      if (read.got != Got::kBytes) return read;
      packed_begin_ = 0;
      packed_end_ = read.length;
    }
    const auto packed = std::span(packed_).subspan(packed_begin_, packed_end_ - packed_begin_);
    CRAWLSTORE_TRY(const auto step, unpacker_->step(packed, into));
    packed_begin_ += step.taken;
    may_hold_more_ = step.written != 0;
    if (step.written != 0) return Read{Got::kBytes, step.written};
  }
  return Read{Got::kStopped};
}

Result<InputBytes::Read> InputBytes::read_descriptor(std::span<char> into) {
  while (!at_end_) {
    const auto wait = stop_->wait(descriptor_, patience_ ? patience_() : std::nullopt);
    if (wait == StopSignals::Wait::kTimeout) return Read{Got::kPause};
    if (wait == StopSignals::Wait::kSignal) return Read{Got::kStopped};
    const ssize_t length = ::read(descriptor_, into.data(), into.size());
    if (length < 0 && errno != EINTR && errno != EAGAIN) return unreadable(errno);
    at_end_ = length == 0;
    if (length <= 0) continue;
    bytes_read_ += static_cast<std::uint64_t>(length);
    return Read{Got::kBytes, static_cast<std::size_t>(length)};
  }
  return Read{Got::kEnd};
}

}  // namespace crawlstore::cli
