// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Blocks of sorted keys, Elias-Fano coded, with their values beside them:
/// spec/drum.md#key-block. Pure functions over bytes; any thread.
///
/// Source: P. Elias, "Efficient storage and retrieval by content and address of static files",
/// JACM 1974; S. Vigna, "Quasi-succinct indices", WSDM 2013. The code spends at most 2 +
/// log2(range / n) bits a key, within 0.5 bits of the entropy of a sorted uniform sample.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "endian.h"
#include "layout.h"

namespace crawlstore::format {

inline constexpr std::uint32_t kBlockKeysMax = 512;
/// More than the smallest coding of any block needs.
inline constexpr std::uint32_t kUpperWordsMax = 64;
/// value_bytes of keys without values, and of values of any length.
inline constexpr std::int32_t kNoValue = 0;
inline constexpr std::int32_t kVariableValue = -1;
inline constexpr std::uint32_t kValueBytesMax = 1 << 24;

/// Whether it is kVariableValue, kNoValue or a fixed length up to kValueBytesMax.
constexpr bool is_value_bytes(std::int32_t value_bytes) {
  return value_bytes >= kVariableValue && value_bytes <= static_cast<std::int32_t>(kValueBytesMax);
}

inline constexpr std::uint16_t kKeyBytes = 8;
inline constexpr std::uint16_t kWideKeyBytes = 16;
/// Whether it is one of the two lengths that keys may have.
constexpr bool is_key_bytes(std::uint16_t key_bytes) {
  return key_bytes == kKeyBytes || key_bytes == kWideKeyBytes;
}

/// The values beside the keys of a block.
///   bytes    as value_bytes of the partition
///   values   fixed: key count * value_bytes bytes; variable: all bytes one after another
///   lengths  variable only: one length a key
struct BlockValues {
  std::int32_t bytes = kNoValue;
  std::span<const std::byte> values;
  std::span<const std::uint32_t> lengths;
};

/// Appends one block of 8-byte keys to `out` (which grows; reuse it).
///   keys     1 to kBlockKeysMax, strictly ascending
void encode_key_block(std::span<const std::uint64_t> keys, std::int32_t value_bytes,
                      std::span<const std::byte> values, std::span<const std::uint32_t> lengths,
                      std::vector<std::byte>& out);

/// The same of 16-byte keys, which are a head (the first 8 bytes) and a tail; strictly ascending by
/// both.
void encode_wide_key_block(std::span<const std::uint64_t> heads,
                           std::span<const std::uint64_t> tails, const BlockValues& values,
                           std::vector<std::byte>& out);

/// Bytes that encode_key_block() writes for `key_count` keys without values whose last is
/// `distance` after their first.
std::uint64_t key_block_bytes(std::uint64_t distance, std::uint32_t key_count);

/// A parsed block: bounds proved, order proved by decode_keys().
struct KeyBlock {
  std::uint64_t first_key = 0;  ///< of the numbers that are coded: keys, heads or tails
  std::uint32_t key_count = 0;
  std::uint32_t block_bytes = 0;  ///< of the whole block, padding included; a multiple of 8
  std::uint8_t low_bits = 0;
  bool shares_head = false;  ///< tails are coded, and all have the one head in `halves`
  std::uint32_t upper_words = 0;
  std::span<const std::byte> upper;
  std::span<const std::byte> lower;
  std::span<const std::byte> halves;   ///< 16-byte keys only: the tails of the heads, or the head
  std::span<const std::byte> lengths;  ///< variable values only: key_count u32
  std::span<const std::byte> values;
};

/// The block at the start of `bytes`, which may go on behind it.
///   errors  kSegmentInvalid (offset = relative to `bytes`)
Result<KeyBlock> parse_key_block(std::span<const std::byte> bytes, std::int32_t value_bytes,
                                 std::uint16_t key_bytes = kKeyBytes);

/// The same for who looks for one key: bounds alone, so that no more memory is touched than that
/// needs. Padding and what its checksum covers are believed.
Result<KeyBlock> parse_key_block_bounds(std::span<const std::byte> bytes, std::int32_t value_bytes,
                                        std::uint16_t key_bytes);

using BlockNumbers = std::array<std::uint64_t, kBlockKeysMax>;

/// Decodes all keys of 8 bytes: writes key_count numbers to `out`, strictly ascending.
///   errors  kSegmentInvalid: the upper bits hold another count, order is broken, a sum overflows
Result<void> decode_keys(const KeyBlock& block, BlockNumbers& out);

/// Decodes keys of either length: of 8-byte keys the tails stay as they are.
///   errors  those, and of 16-byte keys: a block that ought to share its head does not
Result<void> decode_keys(const KeyBlock& block, BlockNumbers& heads, BlockNumbers& tails);

/// The place of a key of either length among those of its block, without decoding the others; their
/// order is believed. The tail of 8-byte keys is 0.
///   cost  a count of the bits of about half the upper words
std::optional<std::uint32_t> find_key(const KeyBlock& block, std::uint64_t head,
                                      std::uint64_t tail);

/// The value of key number `index` (< key_count), of any length; the values before it have
/// `begin_bytes` together. The lengths may lie in mapped memory: bounded again.
inline std::span<const std::byte> variable_value(const KeyBlock& block, std::uint32_t index,
                                                 std::size_t begin_bytes) {
  const std::size_t begin = std::min(begin_bytes, block.values.size());
  const std::size_t length = load<std::uint32_t>(block.lengths.data() + index * 4);
  return block.values.subspan(begin, std::min(length, block.values.size() - begin));
}

/// The value of key number `index` (< key_count). Variable values cost O(index).
std::span<const std::byte> value_at(const KeyBlock& block, std::uint32_t index,
                                    std::int32_t value_bytes);

}  // namespace crawlstore::format
