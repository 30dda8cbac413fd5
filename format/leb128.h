// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers of 7 bits a byte, the lowest first: spec/frontier.md#numbers-of-7-bits. Pure functions
/// over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace crawlstore::format {

/// Bytes of the longest one.
inline constexpr std::size_t kLeb128BytesMax = 10;

inline void append_leb128(std::uint64_t number, std::vector<std::byte>& out) {
  for (; number >= 0x80; number >>= 7U) out.push_back(std::byte(number | 0x80));
  out.push_back(std::byte(number));
}

/// Takes a number off the front of hostile bytes; nothing, and no byte taken, if there is none of
/// at most 64 bits in its shortest form.
inline std::optional<std::uint64_t> take_leb128(std::span<const std::byte>& bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size() && i < kLeb128BytesMax; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
    if (i + 1 == kLeb128BytesMax && byte > 1) return std::nullopt;
    number |= (byte & 0x7F) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    if (byte == 0 && i != 0) return std::nullopt;
    bytes = bytes.subspan(i + 1);
    return number;
  }
  return std::nullopt;
}

}  // namespace crawlstore::format
