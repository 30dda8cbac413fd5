// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The blocks of the messages that the shards of a crawl send to each other after a superstep:
/// spec/shards.md#outbox-blocks. Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crawlstore/error.h>

#include "zstd_frame.h"

namespace crawlstore::format {

inline constexpr std::uint64_t kOutboxMagic = 0x3142445241485343;  // "CSHARDB1"
inline constexpr std::uint32_t kOutboxShardsMax = 4096;
inline constexpr std::uint32_t kOutboxUrlsMax = 65'536;                      ///< of a block
inline constexpr std::uint32_t kOutboxRawBytesMax = std::uint32_t{1} << 25;  ///< of a block
inline constexpr std::uint32_t kOutboxIsLast = 1;                            ///< bit 0 of flags

/// The first bytes of a block; its payload follows.
struct OutboxBlockHeader {
  std::uint64_t magic;
  std::uint64_t step;
  std::uint64_t crawl_key;
  std::uint32_t shard_count;
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t number;
  std::uint32_t url_count;
  std::uint32_t raw_bytes;
  std::uint32_t payload_bytes;
  std::uint32_t flags;
  std::uint64_t checksum;
};
static_assert(sizeof(OutboxBlockHeader) == 64 && offsetof(OutboxBlockHeader, checksum) == 56);
static_assert(std::has_unique_object_representations_v<OutboxBlockHeader>);

/// A header without the fields that only a codec needs.
struct OutboxHeader {
  std::uint64_t step = 0;         ///< number of the superstep, from 1 on
  std::uint64_t crawl_key = 0;    ///< of the pages that are exchanged
  std::uint32_t shard_count = 0;  ///< 2 to kOutboxShardsMax
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t number = 0;         ///< of the block in its message, from 0 on
  std::uint32_t url_count = 0;      ///< at most kOutboxUrlsMax; 0 in a last block alone
  std::uint32_t raw_bytes = 0;      ///< bytes of the URLs with their lengths
  std::uint32_t payload_bytes = 0;  ///< bytes between this header and the next one
  bool is_last = false;

  friend bool operator==(const OutboxHeader&, const OutboxHeader&) = default;
};

/// Bytes that a URL of `url_bytes` bytes adds to `raw_bytes`, of which a block has at most
/// kOutboxRawBytesMax.
std::size_t outbox_url_bytes(std::size_t url_bytes);

/// Appends a block.
///   of          step to number, and is_last; the other fields are not looked at
///   urls        as many as fit; of 1 to kUrlBytesMax bytes each
///   compressor  without a dictionary, of a level up to 19: a window has at most 8 MiB
void append_outbox_block(const OutboxHeader& of, std::span<const std::string_view> urls,
                         FrameCompressor& compressor, std::vector<std::byte>& out);

/// Checks all rules that need no payload. Its checksum is not among them: until
/// parse_outbox_urls() has seen it, the header may be damaged.
///   bytes   64
///   errors  kSegmentInvalid (offset relative to the header)
Result<OutboxHeader> parse_outbox_header(std::span<const std::byte> bytes);

/// Checks a block and returns its URLs, which are views into `raw`. Takes memory only after the
/// checksum and the header were right: kFrameExpansionMax times the payload at most, and 16 bytes
/// a URL.
///   header, payload  bytes that nobody changes meanwhile
///   raw              overwritten
///   errors           kChunkDamaged: the checksum; kSegmentInvalid (offset relative to the header)
Result<std::vector<std::string_view>> parse_outbox_urls(std::span<const std::byte> header,
                                                        std::span<const std::byte> payload,
                                                        std::vector<std::byte>& raw);

}  // namespace crawlstore::format
