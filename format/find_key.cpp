// SPDX-License-Identifier: Apache-2.0
//
// One key in a block. Nothing is decoded but the lower parts of the few keys that share the upper
// part of the one that is looked for.
#include <algorithm>
#include <bit>

#include "endian.h"
#include "key_block.h"
#include "lower_bits.h"

namespace crawlstore::format {
namespace {

/// Behind how many bits `count` zeros are; behind all of them where there are fewer.
std::uint64_t skip_zeros(std::span<const std::byte> upper, std::uint64_t count) {
  const std::uint64_t end = upper.size() * 8;
  std::uint64_t bit = 0;
  std::uint64_t zeros = 0;
  for (; bit < end; bit += 64, count -= zeros) {
    zeros = static_cast<std::uint64_t>(std::popcount(~load<std::uint64_t>(upper.data() + bit / 8)));
    if (zeros >= count) break;
  }
  if (bit >= end || count == 0) return std::min(bit, end);
  std::uint64_t word = ~load<std::uint64_t>(upper.data() + bit / 8);
  while (--count != 0) word &= word - 1;
  return bit + static_cast<std::uint64_t>(std::countr_zero(word)) + 1;
}

bool is_set(std::span<const std::byte> upper, std::uint64_t bit) {
  return bit < upper.size() * 8 &&
         (std::to_integer<unsigned>(upper[bit / 8]) >> (bit % 8) & 1) != 0;
}

}  // namespace

std::optional<std::uint32_t> find_key(const KeyBlock& block, std::uint64_t head,
                                      std::uint64_t tail) {
  const bool has_tails = !block.halves.empty() && !block.shares_head;
  if (block.shares_head && head != load<std::uint64_t>(block.halves.data())) return std::nullopt;
  const std::uint64_t wanted = block.shares_head ? tail : head;
  const auto has_tail = [&](std::uint64_t place) {
    return !has_tails || load<std::uint64_t>(block.halves.data() + place * 8) == tail;
  };
  if (wanted < block.first_key) return std::nullopt;
  const std::uint64_t distance = wanted - block.first_key;
  if (distance == 0 && has_tail(0)) return 0;
  const std::uint64_t high = distance >> block.low_bits;
  const std::uint64_t low = distance & low_mask(block.low_bits);
  const LowerBits lower(block.lower, block.low_bits);
  // The bits behind the zero number `high` stand for the distances with these upper bits.
  for (std::uint64_t bit = skip_zeros(block.upper, high); is_set(block.upper, bit); ++bit) {
    const std::uint64_t index = bit - high;
    if (index + 1 >= block.key_count) return std::nullopt;
    const std::uint64_t found = lower.at(index);
    if (found > low) return std::nullopt;
    if (found == low && has_tail(index + 1)) return static_cast<std::uint32_t>(index + 1);
  }
  return std::nullopt;
}

}  // namespace crawlstore::format
