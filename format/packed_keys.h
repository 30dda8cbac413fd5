// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The keys of a request run, in arrival order, without the bits that they share: differences to
/// the lowest key, each with as many bits as the largest needs. spec/drum.md#packed-keys. Pure
/// functions over words; any thread.

#include <cstddef>
#include <cstdint>
#include <span>

namespace crawlstore::format {

/// A column of packed keys without its words.
struct PackedKeys {
  std::uint64_t base = 0;  ///< the lowest key
  unsigned bits = 1;       ///< of each difference: 1 to 64

  /// That of `keys`; there must be one.
  static PackedKeys of(std::span<const std::uint64_t> keys);
};

/// Bounds what a column of few words can claim: a key takes a bit at least.
inline constexpr unsigned kPackedBitsMin = 1;
inline constexpr unsigned kPackedBitsMax = 64;

/// Length of the column in words of 8 bytes. bits <= 64, key_count <= 2^56.
constexpr std::uint64_t packed_words(std::uint64_t key_count, unsigned bits) {
  return (key_count * bits + 63) / 64;
}

/// Writes packed_words() words. `packed` must be that of the keys.
///   cost  about a nanosecond a key
void pack_keys(std::span<const std::uint64_t> keys, PackedKeys packed,
               std::span<std::uint64_t> words);

/// Fills `keys` from hostile words; there must be packed_words() of them, and a key.
///   returns  nullptr, or what is wrong: unused bits that are set, keys above 2^64 - 1, another
///            base or more bits than needed (so that equal keys have equal bytes)
///   cost     about a nanosecond a key
const char* unpack_keys(std::span<const std::uint64_t> words, PackedKeys packed,
                        std::span<std::uint64_t> keys);

}  // namespace crawlstore::format
