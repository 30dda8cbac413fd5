// SPDX-License-Identifier: Apache-2.0
#include "format/packed_keys.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace crawlstore::format {
namespace {

using Numbers = std::vector<std::uint64_t>;
constexpr std::uint64_t kHighest = std::numeric_limits<std::uint64_t>::max();

Numbers packed_words_of(const Numbers& keys, PackedKeys packed) {
  Numbers words(packed_words(keys.size(), packed.bits));
  pack_keys(keys, packed, words);
  return words;
}

struct Unpacked {
  std::string broken;  // empty: nothing
  Numbers keys;
};
Unpacked unpacked(const Numbers& words, PackedKeys packed, std::size_t count) {
  Unpacked result{{}, Numbers(count)};
  if (const char* broken = unpack_keys(words, packed, result.keys)) result.broken = broken;
  return result;
}

/// `count` keys from `base` on whose differences to it have up to `bits` bits.
Numbers random_keys(std::mt19937_64& random, std::size_t count, unsigned bits, std::uint64_t base) {
  Numbers keys(count);
  for (auto& key : keys) key = base + (bits == 0 ? 0 : random() >> (64 - bits));
  return keys;
}

void expect_same_again(const Numbers& keys) {
  const PackedKeys packed = PackedKeys::of(keys);
  const Numbers words = packed_words_of(keys, packed);
  const Unpacked again = unpacked(words, packed, keys.size());
  ASSERT_EQ(again.broken, "") << keys.size() << " keys of " << packed.bits << " bits";
  ASSERT_EQ(again.keys, keys) << packed.bits;
}

TEST(PackedKeys, ReturnsRandomKeysOfEveryWidth) {
  std::mt19937_64 random(5);
  for (unsigned bits = 0; bits <= 64; ++bits) {
    for (const std::size_t count : {1u, 2u, 3u, 7u, 63u, 64u, 65u, 511u, 1000u}) {
      const std::uint64_t room =
          bits == 64 ? 0 : kHighest - (bits == 0 ? 0 : kHighest >> (64 - bits));
      for (const std::uint64_t base : {std::uint64_t{0}, room / 3, room}) {
        expect_same_again(random_keys(random, count, bits, base));
      }
    }
  }
}

TEST(PackedKeys, ReturnsTheEndsOfTheRange) {
  expect_same_again({0});
  expect_same_again({kHighest});
  expect_same_again({kHighest, 0});
  expect_same_again({kHighest - 1, kHighest, kHighest - 1});
  expect_same_again(Numbers(100, kHighest));
}

TEST(PackedKeys, StoresNoBitThatAllKeysShare) {
  std::mt19937_64 random(6);
  const Numbers keys = random_keys(random, 1000, 56, std::uint64_t{0xAB} << 56);
  const PackedKeys packed = PackedKeys::of(keys);
  EXPECT_EQ(packed.base, *std::min_element(keys.begin(), keys.end()));
  EXPECT_EQ(packed.bits, 56u);
  EXPECT_EQ(packed_words(keys.size(), packed.bits), 875u);
  EXPECT_EQ(PackedKeys::of(Numbers{9, 9}).bits, 1u);
}

// The words of the specification: bit p is bit p mod 64 of word p / 64.
TEST(PackedKeys, PutsTheFirstKeyIntoTheLowestBits) {
  EXPECT_EQ(packed_words_of({10, 15, 12}, {10, 3}), (Numbers{0b010'101'000}));
  Numbers keys(22, 1000);
  keys[21] = 1000 + 0b101;  // bits 63 to 65
  EXPECT_EQ(packed_words_of(keys, {1000, 3}), (Numbers{std::uint64_t{1} << 63, 0b10}));
}

// spec: drum.md#packed-keys rule 10
TEST(PackedKeys, FindsEveryUnusedBit) {
  const Numbers keys{10, 15, 12};
  const PackedKeys packed = PackedKeys::of(keys);
  for (unsigned bit = 9; bit < 64; ++bit) {
    Numbers words = packed_words_of(keys, packed);
    words.back() |= std::uint64_t{1} << bit;
    EXPECT_EQ(unpacked(words, packed, 3).broken, "unused bits of packed keys are not zero") << bit;
  }
}

// spec: drum.md#packed-keys rules 9 and 10
TEST(PackedKeys, RejectsEveryOtherBaseAndWidth) {
  const Numbers keys{10, 15, 12};
  constexpr auto kLoose = "keys are not packed as tightly as they must be";
  for (unsigned bits = 1; bits <= 64; ++bits) {
    for (const std::uint64_t base : {9u, 10u}) {
      if (bits < 3) continue;  // they would not fit
      const PackedKeys packed{base, bits};
      EXPECT_EQ(unpacked(packed_words_of(keys, packed), packed, 3).broken,
                bits == 3 && base == 10 ? "" : kLoose)
          << bits << ' ' << base;
    }
  }
  const Numbers words = packed_words_of(keys, {10, 3});
  EXPECT_EQ(unpacked(words, {kHighest - 5, 3}, 3).broken, "");
  EXPECT_EQ(unpacked(words, {kHighest - 4, 3}, 3).broken, "a packed key exceeds 64 bits");
}

}  // namespace
}  // namespace crawlstore::format
