// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One LZ4 block: spec/drum.md#auxiliary-blocks. Pure functions over bytes; any thread. Memory:
/// the caller's alone.

#include <cstddef>
#include <cstdint>
#include <span>

namespace crawlstore::format {

/// No LZ4 block becomes more than so many times as long.
inline constexpr std::uint32_t kLz4ExpansionMax = 255;

/// Whether less than seven eighths of the bytes remain.
constexpr bool lz4_pays(std::uint64_t stored_bytes, std::uint64_t raw_bytes) {
  return stored_bytes < raw_bytes / 8 * 7;
}

/// Compresses into the front of `out`. Returns the length; 0 if it would be longer than `out`.
///   raw, out  below 2^31 bytes each
std::size_t compress_lz4(std::span<const std::byte> raw, std::span<std::byte> out);

/// Whether exactly raw.size() bytes came out of hostile bytes. Takes what the library takes.
///   stored, raw  below 2^31 bytes each
bool decompress_lz4(std::span<const std::byte> stored, std::span<std::byte> raw);

/// Whether a block that decompress_lz4() took has an offset of 0, for which the library gives
/// zeros.
bool has_lz4_offset_of_zero(std::span<const std::byte> stored);

}  // namespace crawlstore::format
