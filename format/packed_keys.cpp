// SPDX-License-Identifier: Apache-2.0
#include "packed_keys.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace crawlstore::format {

namespace {

constexpr std::uint64_t ones(unsigned bits) {
  return ~std::uint64_t{0} >> (64 - bits);
}

/// Properties that the differences of a column have in common.
struct Seen {
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint64_t any = 0;  // the bits that some have
  bool overflows = false;
};

Seen unpack_all(std::span<const std::uint64_t> words, PackedKeys packed,
                std::span<std::uint64_t> keys) {
  const std::uint64_t mask = ones(packed.bits);
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint64_t any = 0;
  bool overflows = false;
  auto next = words.begin();
  std::uint64_t word = *next++;
  unsigned used = 0;  // bits of `word`; never 64
  for (std::uint64_t& key : keys) {
    std::uint64_t difference = word >> used;
    const unsigned end = used + packed.bits;
    if (end < 64) {
      used = end;
    } else {
      word = next != words.end() ? *next++ : 0;
      difference |= word << 1 << (63 - used);  // twice, for a shift by 64 is none
      used = end - 64;
    }
    difference &= mask;
    key = packed.base + difference;
    lowest = std::min(lowest, difference);
    any |= difference;
    overflows |= key < packed.base;
  }
  return {lowest, any, overflows};
}

}  // namespace

PackedKeys PackedKeys::of(std::span<const std::uint64_t> keys) {
  CRAWLSTORE_ASSERT(!keys.empty());
  std::uint64_t lowest = keys.front();
  std::uint64_t highest = keys.front();
  for (const std::uint64_t key : keys) {
    lowest = std::min(lowest, key);
    highest = std::max(highest, key);
  }
  const auto width = static_cast<unsigned>(std::bit_width(highest - lowest));
  return {lowest, std::max(width, kPackedBitsMin)};
}

void pack_keys(std::span<const std::uint64_t> keys, PackedKeys packed,
               std::span<std::uint64_t> words) {
  CRAWLSTORE_ASSERT(words.size() == packed_words(keys.size(), packed.bits));
  std::uint64_t word = 0;
  unsigned used = 0;  // bits of `word`; never 64
  auto next = words.begin();
  for (const std::uint64_t key : keys) {
    const std::uint64_t difference = key - packed.base;
    word |= difference << used;
    const unsigned end = used + packed.bits;
    if (end < 64) {
      used = end;
      continue;
    }
    *next++ = word;
    word = difference >> 1 >> (63 - used);  // what did not fit; twice, as below
    used = end - 64;
  }
  if (used != 0) *next = word;
}

const char* unpack_keys(std::span<const std::uint64_t> words, PackedKeys packed,
                        std::span<std::uint64_t> keys) {
  CRAWLSTORE_ASSERT(!keys.empty() && packed.bits >= kPackedBitsMin &&
                    packed.bits <= kPackedBitsMax &&
                    words.size() == packed_words(keys.size(), packed.bits));
  const Seen seen = unpack_all(words, packed, keys);
  const auto unused = static_cast<unsigned>(words.size() * 64 - keys.size() * packed.bits);
  if (unused != 0 && words.back() >> (64 - unused) != 0) {
    return "unused bits of packed keys are not zero";
  }
  if (seen.overflows) {
    return "a packed key exceeds 64 bits";
  }
  const auto width = static_cast<unsigned>(std::bit_width(seen.any));
  if (seen.lowest != 0 || packed.bits != std::max(width, kPackedBitsMin)) {
    return "keys are not packed as tightly as they must be";
  }
  return nullptr;
}

}  // namespace crawlstore::format
