// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes of an auxiliary run: as they are, or in compressed blocks that are read one by one.
/// spec/drum.md#auxiliary-blocks. Hostile bytes are an ordinary answer. Threads: none is shared.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/error.h>

namespace crawlstore::format {

/// The codec by which an auxiliary run stores its bytes.
enum class AuxCodec : std::uint16_t { kRaw = 0, kLz4 = 1 };

/// The bytes of a block before it is compressed; the last one of a run may be shorter.
inline constexpr std::uint32_t kAuxBlockBytes = 65536;

constexpr std::uint64_t aux_block_count(std::uint64_t raw_bytes) {
  return raw_bytes / kAuxBlockBytes + (raw_bytes % kAuxBlockBytes != 0 ? 1 : 0);
}

/// Compressed blocks. Spans point into the caller's memory.
struct AuxBlocks {
  std::uint64_t raw_bytes = 0;             ///< of all of them, when they are read
  std::span<const std::uint32_t> lengths;  ///< stored; a block of its raw length is not compressed
  std::span<const std::byte> bytes;        ///< one block after the other
};

/// Blocks that own their bytes.
struct OwnedAuxBlocks {
  std::vector<std::uint32_t> lengths;
  std::vector<std::byte> bytes;
};
/// Nothing where that does not pay: the first block does not shrink by an eighth, or all fits one
/// unit of the file anyway.
///   cost  about 2 ns a byte; of bytes that cannot be compressed only the first block is tried
std::optional<OwnedAuxBlocks> compress_auxes(std::span<const std::byte> raw);

/// nullptr, or what is wrong with lengths that come from a file: with them nobody needs more than
/// 255 times the memory of the blocks.
const char* check_block_lengths(const AuxBlocks& blocks);

/// Reads every block: nullptr, or what is wrong. Stricter than AuxReader, which takes what the
/// library takes.
const char* check_blocks(const AuxBlocks& blocks);

/// Auxiliaries of a run, one after the other. Memory: a block and what next() had to put together.
class AuxReader {
 public:
  AuxReader() = default;
  /// One of both is empty. Blocks have passed check_block_lengths().
  AuxReader(std::span<const std::byte> raw, const AuxBlocks& blocks)
      : rest_(raw), blocks_(blocks) {}

  /// The next `length` bytes; they stay until forget().
  ///   errors  kSegmentInvalid: a block is broken, or there are no more bytes
  Result<std::span<const std::byte>> next(std::size_t length);
  /// Forgets the bytes that next() returned, if they are no longer needed.
  void forget() { kept_.clear(); }

 private:
  using Buffer = std::unique_ptr<std::byte[]>;
  Result<void> read_block();
  std::span<const std::byte> take(std::size_t length);

  std::span<const std::byte> rest_;  // of the raw bytes, or of the block that was read last
  AuxBlocks blocks_;                 // behind it
  Buffer block_;
  std::vector<Buffer> kept_;
};

}  // namespace crawlstore::format
