// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The lower parts of the distances in a key block: spec/drum.md#key-block. Pure functions over
/// bytes, inside key_block.cpp and find_key.cpp.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "endian.h"

namespace crawlstore::format {

/// Up to here a lower part and a shift of at most 7 bits fit into one load or store of 8 bytes.
inline constexpr std::uint32_t kNarrowBitsMax = 56;

constexpr std::uint64_t low_mask(std::uint32_t low_bits) {
  return ~(~std::uint64_t{0} << low_bits);
}

/// The offsets of the eight lower parts of a group; a group of eight is exactly low_bits bytes
/// long.
struct GroupShape {
  static constexpr std::size_t kParts = 8;
  std::array<std::uint64_t, kParts> bytes{};
  std::array<std::uint8_t, kParts> shifts{};
  explicit GroupShape(std::uint64_t low_bits) {
    for (std::size_t k = 0; k < kParts; ++k) {
      bytes[k] = k * low_bits / 8;
      shifts[k] = static_cast<std::uint8_t>(k * low_bits % 8);
    }
  }
};

/// The lower parts of a block, of low_bits each.
class LowerBits {
 public:
  LowerBits(std::span<const std::byte> lower, std::uint32_t low_bits)
      : bytes_(lower.empty() ? kNone.data() : lower.data()),
        last_load_(lower.empty() ? 0 : lower.size() - 8),
        low_bits_(low_bits),
        mask_(low_mask(low_bits)),
        shape_(low_bits) {}

  /// The number of whole groups that have room for eight plain loads of 8 bytes.
  [[nodiscard]] std::size_t group_count(std::size_t count) const {
    if (low_bits_ > kNarrowBitsMax) return 0;
    const std::size_t all = count / GroupShape::kParts;
    return low_bits_ == 0 ? all : std::min<std::size_t>(all, last_load_ / low_bits_);
  }

  /// Part number `k` of the group that starts at byte `group_start`.
  [[nodiscard]] std::uint64_t in_group(std::size_t group_start, std::size_t k) const {
    return load<std::uint64_t>(bytes_ + group_start + shape_.bytes[k]) >> shape_.shifts[k] & mask_;
  }

  /// Any part, from one or two aligned words.
  [[nodiscard]] std::uint64_t at(std::size_t index) const {
    const std::uint64_t bit = index * low_bits_;
    const std::uint64_t byte = bit / 64 * 8;
    const std::uint64_t shift = bit % 64;
    std::uint64_t low = load<std::uint64_t>(bytes_ + byte) >> shift;
    if (shift != 0 && byte < last_load_) {
      low |= load<std::uint64_t>(bytes_ + byte + 8) << (64 - shift);
    }
    return low & mask_;
  }

 private:
  static constexpr std::array<std::byte, 8> kNone{};
  const std::byte* bytes_;
  std::uint64_t last_load_;
  std::uint64_t low_bits_;
  std::uint64_t mask_;
  GroupShape shape_;
};

}  // namespace crawlstore::format
