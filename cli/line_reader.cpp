// SPDX-License-Identifier: Apache-2.0
//
// Invariants: begin_ <= end_ <= buffer_.size(); the bytes between them were read and not handed
// out.
#include "cli/line_reader.h"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

namespace crawlstore::cli {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kNotFound = ~std::size_t{0};

/// Whatever the reason, it is the input that failed, not a crawl file.
tl::unexpected<Error> unreadable(int system_errno) {
  return tl::unexpected<Error>(
      Error{Errc::kIo, system_errno, {}, Error::kNoOffset, "the input cannot be read"});
}

}  // namespace

LineReader::LineReader(int descriptor, const StopSignals& stop)
    : descriptor_(descriptor), stop_(&stop), buffer_(kBlockBytes) {}

/// Reads what comes next behind what is there. False: the input has ended.
Result<bool> LineReader::refill() {
  if (at_end_) return false;
  if (begin_ != 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    buffer_.resize(std::min(2 * buffer_.size(), kLineBytesMax + kBlockBytes));
  }
  ssize_t length = -1;
  while (length < 0) {
    if (!stop_->wait_readable(descriptor_)) {
      // A line that was read in part is not a line of the input: it is left out.
      at_end_ = true;
      end_ = begin_;
      return false;
    }
    length = ::read(descriptor_, &buffer_[end_], buffer_.size() - end_);
    if (length < 0 && errno != EINTR && errno != EAGAIN) return unreadable(errno);
  }
  at_end_ = length == 0;
  end_ += static_cast<std::size_t>(length);
  bytes_read_ += static_cast<std::uint64_t>(length);
  return !at_end_;
}

std::size_t LineReader::find_line_end(std::size_t from) const {
  if (from == end_) return kNotFound;
  const void* found = std::memchr(&buffer_[from], '\n', end_ - from);
  if (found == nullptr) return kNotFound;
  return static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
}

Result<LineReader::Next> LineReader::next_in_new_block(std::string_view& line) {
  std::size_t line_end = kNotFound;
  while (line_end == kNotFound) {
    const std::size_t searched = end_ - begin_;
    if (searched > kLineBytesMax) return skip_line();
    CRAWLSTORE_TRY(const auto more, refill());
    if (!more) break;
    line_end = find_line_end(begin_ + searched);
  }
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
  while (true) {
    begin_ = end_;
    CRAWLSTORE_TRY(const auto more, refill());
    if (!more) return Next::kTooLong;
    if (const std::size_t line_end = find_line_end(begin_); line_end != kNotFound) {
      begin_ = line_end + 1;
      return Next::kTooLong;
    }
  }
}

}  // namespace crawlstore::cli
