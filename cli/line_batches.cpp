// SPDX-License-Identifier: Apache-2.0
#include "cli/line_batches.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::chrono::nanoseconds kBatchTime = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds kIdleTime = std::chrono::milliseconds(200);
constexpr std::size_t kBatchBytesMax = std::size_t{16} << 20;

}  // namespace

LineBatches::LineBatches(OpenInput& input, std::size_t lines_max)
    : reader_(std::move(input.bytes()), [this] { return patience(); }), lines_max_(lines_max) {}

std::optional<std::chrono::nanoseconds> LineBatches::patience() const {
  if (has_lines_) return std::max(kBatchTime - (Clock::now() - begun_), kBatchTime * 0);
  return is_urgent_ ? std::optional(kIdleTime) : std::nullopt;
}

Result<LineBatches::Why> LineBatches::next(LineBatch& batch, bool is_urgent) {
  batch.restart(line_count_ + 1);
  is_urgent_ = is_urgent;
  has_lines_ = false;
  std::string_view line;
  while (true) {
    CRAWLSTORE_TRY(const auto next, reader_.next(line));
    if (next == LineReader::Next::kEnd) return Why::kEnd;
    if (next == LineReader::Next::kRefused) return Why::kRefused;
    if (next == LineReader::Next::kPause) return Why::kPause;
    if (!std::exchange(has_lines_, true)) begun_ = Clock::now();
    ++line_count_;
    batch.add(next == LineReader::Next::kTooLong ? kTooLong : line);
    if (batch.size() == lines_max_ || batch.text_bytes() >= kBatchBytesMax) return Why::kFull;
    if (Clock::now() - begun_ >= kBatchTime) return Why::kPause;
  }
}

int fail_with_unopened(const std::string& path, int open_errno) {
  const Error error = fail_errno(open_errno, "the lines").value();
  if (error.system_errno == EISDIR) return fail_with(path, error);
  return fail_with(
      fmt::format("{}: {}", model::format_printable(path), std::strerror(error.system_errno)),
      exit_code(error.code));
}

}  // namespace crawlstore::cli
