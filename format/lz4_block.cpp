// SPDX-License-Identifier: Apache-2.0
#include "lz4_block.h"

#include <lz4.h>

#include "endian.h"

namespace crawlstore::format {

namespace {

constexpr std::size_t kOffsetBytes = 2;
constexpr unsigned kLongLength = 15;

/// LZ4's own bytes are char.
const char* chars(const std::byte* bytes) {
  return static_cast<const char*>(static_cast<const void*>(bytes));
}
char* chars(std::byte* bytes) {
  return static_cast<char*>(static_cast<void*>(bytes));
}

/// The end of a length that begins in a token; past the end when it is cut off.
std::size_t skip_length(std::span<const std::byte> stored, std::size_t at, unsigned begin,
                        std::size_t& length) {
  length = begin;
  if (begin != kLongLength) return at;
  while (at < stored.size()) {
    const auto more = std::to_integer<unsigned>(stored[at++]);
    length += more;
    if (more != 255) return at;
  }
  return stored.size() + 1;
}

}  // namespace

std::size_t compress_lz4(std::span<const std::byte> raw, std::span<std::byte> out) {
  const int written =
      LZ4_compress_default(chars(raw.data()), chars(out.data()), static_cast<int>(raw.size()),
                           static_cast<int>(out.size()));
  return written > 0 ? static_cast<std::size_t>(written) : 0;
}

bool decompress_lz4(std::span<const std::byte> stored, std::span<std::byte> raw) {
  const int length =
      LZ4_decompress_safe(chars(stored.data()), chars(raw.data()), static_cast<int>(stored.size()),
                          static_cast<int>(raw.size()));
  return length >= 0 && static_cast<std::size_t>(length) == raw.size();
}

bool has_lz4_offset_of_zero(std::span<const std::byte> stored) {
  std::size_t at = 0;
  while (at < stored.size()) {
    const auto token = std::to_integer<unsigned>(stored[at]);
    std::size_t literals = 0;
    at = skip_length(stored, at + 1, token >> 4, literals);
    at += literals;
    if (at + kOffsetBytes > stored.size()) return false;
    if (load<std::uint16_t>(stored.data() + at) == 0) return true;
    std::size_t match = 0;
    at = skip_length(stored, at + kOffsetBytes, token & kLongLength, match);
  }
  return false;
}

}  // namespace crawlstore::format
