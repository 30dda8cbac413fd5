// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Looking at a payload through a window that moves forward: what lies behind it is given back, so
/// memory does not grow with the payload where the storage copies what is viewed (unmapped()).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

namespace crawlstore::container {

/// Gets the number of payload bytes that were checked; an error ends the check.
using ContentProgress = std::function<Result<void>(std::uint64_t bytes)>;

/// The bytes of a payload. Extents are relative to it, and lie inside; the bytes that `view`
/// returns are 8-byte aligned if the extent is.
struct PayloadSource {
  std::uint64_t length_bytes = 0;
  std::function<Result<const std::byte*>(Extent extent)> view;
  std::function<void(Extent extent)> forget;
};

/// A payload that lies in memory.
PayloadSource payload_in_memory(std::span<const std::byte> payload);

class PayloadWindow {
 public:
  static constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 20;

  /// For [begin, end) of the payload. Windows on pieces that touch do not take each other's bytes.
  PayloadWindow(const PayloadSource& source, Extent piece, const ContentProgress& progress)
      : source_(source), piece_(piece), progress_(progress), kept_from_(piece.offset_bytes) {}

  /// [offset, offset + length) of the payload, inside of the piece. Valid until the next call, of
  /// which no offset is lower. Whatever the length, it is loaded in windows, and `progress` is
  /// asked between them.
  Result<const std::byte*> at(std::uint64_t offset, std::uint64_t length) {
    if (offset < begin_ || offset + length > end_) CRAWLSTORE_TRY(move_to(offset, length));
    return data_ + (offset - begin_);
  }

 private:
  Result<void> move_to(std::uint64_t offset, std::uint64_t length);

  const PayloadSource& source_;
  const Extent piece_;
  const ContentProgress& progress_;
  std::uint64_t kept_from_;
  std::uint64_t begin_ = 0;  // what data_ shows
  std::uint64_t end_ = 0;
  const std::byte* data_ = nullptr;
};

}  // namespace crawlstore::container
