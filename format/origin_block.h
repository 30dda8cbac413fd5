// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Blocks of an origin run: the URL, first linker and depth of some pages that follow each other.
/// spec/pages.md#origin-runs. Hostile bytes are an ordinary answer. Threads: objects are used by
/// one at a time, functions are pure.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <crawlstore/error.h>

#include "layout.h"
#include "zstd_frame.h"

namespace crawlstore::format {

/// The codec by which the blocks of an origin run store URLs.
enum class OriginCodec : std::uint16_t { kRaw = 0, kZstd = 1 };

inline constexpr std::uint32_t kUrlBytesMax = 1 << 24;
inline constexpr std::uint32_t kOriginBlockPagesMax = 64;
/// The bytes of a block of more than one page, before it is compressed.
inline constexpr std::uint32_t kOriginBlockRawMax = 1 << 18;
inline constexpr std::uint32_t kOriginDictionaryBytesMax = 1 << 16;

/// The facts about a page that never change.
struct Origin {
  std::string_view url;                      ///< any bytes, at most kUrlBytesMax
  std::optional<std::uint64_t> linked_from;  ///< the page that linked to it first, below its own
  std::uint32_t depth = 0;   ///< links on the way from a seed; at most kOriginDepthMax
  bool by_redirect = false;  ///< how linked_from led to it: no link more, then
};
inline constexpr std::uint32_t kOriginDepthMax = std::numeric_limits<std::uint32_t>::max() / 2;

/// Returns the depth of a page by that of the page that linked to it first.
constexpr std::uint32_t depth_from(std::uint32_t linker_depth, bool by_redirect) {
  return by_redirect || linker_depth == kOriginDepthMax ? linker_depth : linker_depth + 1;
}

/// Pages for one block, on their way into it.
class OriginBatch {
 public:
  /// For pages from `first_page` on.
  explicit OriginBatch(std::uint64_t first_page) : first_page_(first_page) {}

  /// Whether the block would keep its limits with a URL of `url_bytes` more; one always fits.
  [[nodiscard]] bool has_room(std::size_t url_bytes) const;
  /// The next page. There must be room.
  void add(const Origin& origin);

  [[nodiscard]] std::uint64_t first_page() const { return first_page_; }
  [[nodiscard]] std::size_t page_count() const { return lengths_.size(); }
  /// The bytes to be compressed: lengths, then URLs.
  [[nodiscard]] std::vector<std::byte> raw_section() const;
  /// Appends the block to `out`. `compressor` may be nullptr: codec 0.
  void encode(FrameCompressor* compressor, std::vector<std::byte>& out) const;

 private:
  [[nodiscard]] std::size_t length_bytes() const;

  std::uint64_t first_page_;
  std::uint32_t longest_ = 0;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint64_t> distances_;  // to linked_from; 0: none
  std::vector<std::uint32_t> depths_;     // twice, and 1 more by a redirect
  std::vector<std::byte> urls_;
};

/// Bytes of the block that begins so, without what it is in. No limit is checked.
std::uint64_t origin_block_bytes(const OriginBlockHeader& header);

/// The header of the block that begins `bytes`, which may go on behind the block.
///   errors  kSegmentInvalid, also when the block is longer than `bytes`
Result<OriginBlockHeader> parse_origin_block_header(std::span<const std::byte> bytes,
                                                    OriginCodec codec);

/// Decodes blocks, one after another. Memory: the longest block and what it becomes, which is at
/// most 255 times as long.
class OriginBlockDecoder {
 public:
  ///   errors  kSegmentInvalid: the dictionary is broken
  static Result<OriginBlockDecoder> make(OriginCodec codec, std::span<const std::byte> dictionary);

  /// Takes a copy of the block that begins `bytes`, and checks every rule of it.
  ///   errors  kSegmentInvalid (offset relative to `bytes`); there are no pages then
  ///   cost    some microseconds for 64 URLs
  Result<void> decode(std::span<const std::byte> bytes, std::uint64_t first_page);

  [[nodiscard]] std::uint64_t first_page() const { return first_page_; }
  [[nodiscard]] std::size_t page_count() const { return header_.page_count; }
  /// The bytes of the block; valid until the next decode().
  [[nodiscard]] std::span<const std::byte> block() const { return block_; }
  [[nodiscard]] std::uint64_t block_bytes() const { return block_.size(); }
  [[nodiscard]] std::uint64_t url_bytes() const {
    return header_.raw_bytes - std::uint64_t{header_.page_count} * header_.length_bytes;
  }
  /// The page first_page() + i, i < page_count(); valid until the next decode().
  [[nodiscard]] Origin origin(std::size_t i) const;

 private:
  OriginBlockDecoder(OriginCodec codec, FrameDecompressor decompressor)
      : codec_(codec), decompressor_(std::move(decompressor)) {}
  const char* decode_columns();
  const char* decode_urls();
  const char* cut_urls();

  OriginCodec codec_;
  FrameDecompressor decompressor_;
  std::uint64_t first_page_ = 0;
  OriginBlockHeader header_{};
  std::vector<std::byte> block_;
  std::vector<std::byte> raw_;
  std::vector<std::size_t> url_begins_;   // in raw_; one more than pages
  std::vector<std::uint64_t> distances_;  // to linked_from; 0: none
  std::vector<std::uint32_t> depths_;     // twice, and 1 more by a redirect
};

}  // namespace crawlstore::format
