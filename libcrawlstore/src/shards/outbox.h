// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Messages between shards, as streams of blocks (format/outbox_block.h).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/shard_exchange.h>

#include "format/outbox_block.h"
#include "format/zstd_frame.h"

namespace crawlstore::shards {

/// The key of what is exchanged: messages of other pages are not for these.
std::uint64_t crawl_key(std::uint64_t key_seed, std::string_view database,
                        std::string_view normalizer);

/// One message under way, to one shard.
class MessageWriter {
 public:
  /// `header` says step, key, shards, sender and receiver.
  MessageWriter(const format::OutboxHeader& header, format::FrameCompressor& compressor,
                const OutboxSink& sink, OutboxReport& report)
      : header_(header), compressor_(&compressor), sink_(&sink), report_(&report) {}

  Result<void> add(std::string_view url);
  /// Ends the message. Once.
  Result<void> finish() { return write(true); }

 private:
  Result<void> write(bool is_last);

  format::OutboxHeader header_;
  format::FrameCompressor* compressor_;
  const OutboxSink* sink_;
  OutboxReport* report_;
  std::string text_;  // URLs, one after another
  std::vector<std::size_t> ends_;
};

/// Messages of a source, block by block.
class MessageReader {
 public:
  explicit MessageReader(const EventSource& source) : source_(source) {}

  struct Block {
    format::OutboxHeader header;
    std::vector<std::string_view> urls;  ///< until the next call
  };
  /// The next block, which follows the one before if that was not the last of its message. Nothing:
  /// the source has ended behind a message.
  ///   errors  kTruncated, kChunkDamaged, kSegmentInvalid; those of the source
  Result<std::optional<Block>> next();

 private:
  /// Fills `into`; how many bytes there were.
  Result<std::size_t> fill(std::span<std::byte> into);

  const EventSource& source_;
  std::uint64_t offset_ = 0;                  // of the next block
  std::optional<format::OutboxHeader> open_;  // of the message under way: its block before
  std::vector<std::byte> header_bytes_;
  std::vector<std::byte> payload_;
  std::vector<std::byte> raw_;
};

}  // namespace crawlstore::shards
