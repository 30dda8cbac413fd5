// SPDX-License-Identifier: Apache-2.0
#include "model/format_sizes.h"

#include <algorithm>
#include <bit>

namespace crawlstore::model {
namespace {

constexpr std::uint64_t kWordBits = 64;
constexpr std::uint64_t kKeyBlockHeaderBytes = 16;
constexpr std::uint64_t kPartitionFooterBytes = 64;
constexpr std::uint64_t kBlockOffsetBytes = 4;

/// Words of the two parts of an Elias-Fano code.
std::uint64_t words_of(std::uint64_t distance, std::uint64_t gap_count, std::uint32_t low_bits) {
  const std::uint64_t high = distance >> low_bits;  // high + gap_count may overflow
  const std::uint64_t upper = high / kWordBits + (high % kWordBits + gap_count - 1) / kWordBits + 1;
  return upper + (gap_count * low_bits + kWordBits - 1) / kWordBits;
}

}  // namespace

std::uint64_t extent_bytes(std::uint64_t payload_bytes) {
  constexpr std::uint64_t kChecksumBytes = 8;
  std::uint64_t level_bytes = round_up(payload_bytes, 8);
  std::uint64_t end_bytes = level_bytes;
  do {
    level_bytes = round_up(level_bytes, kChunkBytes) / kChunkBytes * kChecksumBytes;
    end_bytes += level_bytes;
  } while (level_bytes > kChunkBytes);
  constexpr std::uint64_t kRunEndBytes = 64;
  return round_up(end_bytes + kRunEndBytes, kUnitBytes);
}

std::uint64_t key_block_bytes(std::uint64_t distance, std::uint32_t key_count) {
  const std::uint64_t gap_count = key_count - 1;
  if (gap_count == 0) return kKeyBlockHeaderBytes;
  // The smallest lies near log2(distance / gap_count); of few keys rounding to words decides.
  constexpr std::uint64_t kManyGaps = 128;
  constexpr int kLowBitsMax = 63;
  const int middle = std::countl_zero(gap_count) - std::countl_zero(distance);
  const bool is_known = gap_count >= kManyGaps;
  const int from = is_known ? std::clamp(middle - 2, 0, kLowBitsMax) : 0;
  const int to = is_known ? std::clamp(middle + 2, 0, kLowBitsMax) : kLowBitsMax;
  std::uint64_t words = ~std::uint64_t{0};
  for (int low_bits = from; low_bits <= to; ++low_bits) {
    words = std::min(words, words_of(distance, gap_count, static_cast<std::uint32_t>(low_bits)));
  }
  return kKeyBlockHeaderBytes + words * 8;
}

std::uint64_t partition_tail_bytes(std::uint64_t block_count, std::uint32_t key_bytes) {
  return block_count * key_bytes + round_up(block_count * kBlockOffsetBytes, 8) +
         kPartitionFooterBytes;
}

}  // namespace crawlstore::model
