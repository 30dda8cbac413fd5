// SPDX-License-Identifier: Apache-2.0
//
// Invariants: begin_ <= end_ <= buffer_.size(); the bytes between them were read and not handed
// out.
#include "cli/line_reader.h"

#include <algorithm>
#include <span>
#include <utility>

namespace crawlstore::cli {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kNotFound = ~std::size_t{0};

}  // namespace

LineReader::LineReader(int descriptor, const StopSignals& stop, Patience patience)
    : input_(descriptor, stop, std::move(patience)), buffer_(kBlockBytes) {}

LineReader::LineReader(InputBytes input, Patience patience)
    : input_(std::move(input)), buffer_(kBlockBytes) {
  input_.be_patient(std::move(patience));
}

/// Reads what comes next behind what is there.
Result<LineReader::Refill> LineReader::refill() {
  if (at_end_) return Refill::kEnd;
  if (begin_ != 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    buffer_.resize(std::min(2 * buffer_.size(), kLineBytesMax + kBlockBytes));
  }
  CRAWLSTORE_TRY(const auto read, input_.read(std::span(buffer_).subspan(end_)));
  switch (read.got) {
    case InputBytes::Got::kBytes:
      end_ += read.length;
      return Refill::kMore;
    case InputBytes::Got::kPause:
      return Refill::kPause;
    case InputBytes::Got::kRefused:
      return Refill::kRefused;
    case InputBytes::Got::kStopped:
      end_ = begin_;  // a line that was read in part is not a line of the input: it is left out
      break;
    case InputBytes::Got::kEnd:
      break;
  }
  at_end_ = true;
  return Refill::kEnd;
}

std::size_t LineReader::find_line_end(std::size_t from) const {
  if (from == end_) return kNotFound;
  const void* found = std::memchr(&buffer_[from], '\n', end_ - from);
  if (found == nullptr) return kNotFound;
  return static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
}

void LineReader::skip_mark() {
  const std::string_view there(&buffer_[begin_], end_ - begin_);
  if (std::exchange(at_start_, false) && there.starts_with(kByteOrderMark)) {
    begin_ += kByteOrderMark.size();
  }
}

Result<LineReader::Next> LineReader::next_in_new_block(std::string_view& line) {
  if (skips_) return skip_line();
  std::size_t line_end = kNotFound;
  while (line_end == kNotFound) {
    const std::size_t searched = end_ - begin_;
    if (searched > kLineBytesMax) return skip_line();
    CRAWLSTORE_TRY(const auto refilled, refill());
    if (refilled == Refill::kPause) return Next::kPause;
    if (refilled == Refill::kRefused) return Next::kRefused;
    if (refilled == Refill::kEnd) break;
    line_end = find_line_end(begin_ + searched);
  }
  skip_mark();
  if (line_end == kNotFound) {
    if (begin_ == end_) return Next::kEnd;
    take(line, end_ - begin_);
    return Next::kLine;
  }
  if (line_end - begin_ > kLineBytesMax) {
    begin_ = line_end + 1;
    return Next::kTooLong;
  }
  take(line, line_end - begin_);
  ++begin_;
  return Next::kLine;
}

Result<LineReader::Next> LineReader::skip_line() {
  skips_ = true;
  at_start_ = false;
  while (skips_) {
    begin_ = end_;
    CRAWLSTORE_TRY(const auto refilled, refill());
    if (refilled == Refill::kPause) return Next::kPause;
    const std::size_t line_end = find_line_end(begin_);
    if (line_end != kNotFound) begin_ = line_end + 1;
    skips_ = refilled == Refill::kMore && line_end == kNotFound;
  }
  return Next::kTooLong;
}

bool LineReader::next_at_hand(std::string_view& line) {
  const std::size_t line_end = find_line_end(begin_);
  if (skips_ || line_end == kNotFound) return false;
  take(line, line_end - begin_);
  ++begin_;
  return true;
}

}  // namespace crawlstore::cli
