// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The lengths of parts of a file, as in spec/format.md, for forecasts of files. The codecs are
/// inside the library; format_sizes_test holds both to each other.

#include <cstdint>

namespace crawlstore::model {

inline constexpr std::uint64_t kUnitBytes = 4096;
inline constexpr std::uint64_t kChunkBytes = 65536;
inline constexpr std::uint64_t kKeyRunHeaderBytes = 48;
inline constexpr std::uint64_t kAuxRunHeaderBytes = 32;
/// Entries of a directory table, and of the held extents in a root.
inline constexpr std::uint64_t kTableSegmentsMax = 128;
inline constexpr std::uint64_t kTableBytesMax = 16384;
inline constexpr std::uint64_t kHeldInlineMax = 128;
/// Bytes of one value, and of one auxiliary.
inline constexpr std::uint64_t kValueBytesMax = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kAuxBytesMax = std::uint64_t{1} << 26;

/// `bytes` up to the next multiple.
constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// The bytes of the extent that holds `payload_bytes` (> 0) and its checksums.
std::uint64_t extent_bytes(std::uint64_t payload_bytes);

/// The bytes of a block of `key_count` keys, 1 to 512, without values, whose last is `distance`
/// after their first.
std::uint64_t key_block_bytes(std::uint64_t distance, std::uint32_t key_count);

/// The bytes of the index and the footer of a partition.
std::uint64_t partition_tail_bytes(std::uint64_t block_count, std::uint32_t key_bytes);

}  // namespace crawlstore::model
