// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Single zstd frames, of the subset that spec/pages.md#origin-runs allows: the content size is
/// stated, there is neither a checksum nor the id of a dictionary, the window is at most 8 MiB.
/// Hostile frames are an ordinary answer. Threads: objects are used by one at a time.
/// source  Collet, Kucherawy, "Zstandard Compression and the 'application/zstd' Media Type",
///         RFC 8878, 2021

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <crawlstore/error.h>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace crawlstore::format {

inline constexpr std::uint64_t kFrameWindowBytesMax = std::uint64_t{8} << 20;
/// No frame becomes more than so many times as long: what is decompressed is bounded by what is
/// read.
inline constexpr std::uint64_t kFrameExpansionMax = 255;

/// Makes frames. Memory: about a megabyte, and twice the dictionary.
class FrameCompressor {
 public:
  /// `dictionary` is copied; it may be empty.
  FrameCompressor(std::span<const std::byte> dictionary, int level);

  /// Appends a frame of `raw`. false, and nothing is appended: `raw` is empty, or the frame would
  /// not be shorter than `raw`, or it would be more than 255 times shorter.
  bool compress(std::span<const std::byte> raw, std::vector<std::byte>& out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

/// Takes frames apart. Memory: about 160 KiB, and twice the dictionary.
class FrameDecompressor {
 public:
  /// `dictionary` is copied; it may be empty. One that begins with 37 a4 30 ec has the form of RFC
  /// 8878, section 6; any other one is content alone.
  ///   errors  kSegmentInvalid: it has neither form
  static Result<FrameDecompressor> make(std::span<const std::byte> dictionary);

  /// Fills `raw` from `frame`, whose bytes nobody may change meanwhile: zstd looks at them more
  /// than once. nullptr, or what is wrong.
  const char* decompress(std::span<const std::byte> frame, std::span<std::byte> raw);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  explicit FrameDecompressor(ZSTD_DCtx_s* context) : context_(context) {}
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

/// A dictionary for what is like the samples, which lie one after another in `samples`. Equal
/// samples give equal dictionaries (of one version of zstd). Empty: they are too few, or alike.
///   cost  about 50 ns a byte
std::vector<std::byte> train_dictionary(std::span<const std::byte> samples,
                                        std::span<const std::size_t> lengths,
                                        std::size_t dictionary_bytes_max);

}  // namespace crawlstore::format
