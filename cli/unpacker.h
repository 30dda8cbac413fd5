// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Unpacks gzip and zstd piece by piece. Members of gzip and frames of zstd may follow each other,
/// and their contents are joined. Unpacked bytes are handed on at once, so that the size of all of
/// them does not matter. gzip takes 40 KiB of memory, zstd the window that its frame asks for, of
/// at most 128 MiB. Threads: one.

#include <cstddef>
#include <memory>
#include <span>

#include <crawlstore/error.h>

#include "cli/input_kind.h"

namespace crawlstore::cli {

class Unpacker {
 public:
  Unpacker() = default;
  virtual ~Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Bytes of the packed and of the plain side.
  struct Step {
    std::size_t taken = 0;
    std::size_t written = 0;
  };
  /// Unpacks some of `packed` into `plain`. After it has written, it may hold more, which comes
  /// with `packed` empty too.
  ///   errors  kSegmentInvalid: the data are damaged; kTooLarge: the window is
  virtual Result<Step> step(std::span<char> packed, std::span<char> plain) = 0;
  /// Whether the packed data may end here.
  [[nodiscard]] virtual bool may_end() const = 0;
  /// The error when they end elsewhere.
  [[nodiscard]] virtual const char* cut_off_text() const = 0;
};

/// Returns an unpacker for kGzip or kZstd.
std::unique_ptr<Unpacker> make_unpacker(InputKind kind);

}  // namespace crawlstore::cli
