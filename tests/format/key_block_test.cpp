// SPDX-License-Identifier: Apache-2.0
#include "format/key_block.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;
using Keys = std::vector<std::uint64_t>;

Bytes block_of(const Keys& keys) {
  Bytes out;
  encode_key_block(keys, kNoValue, {}, {}, out);
  return out;
}

/// The keys of the block at the start of `bytes`, or nothing when it is rejected.
std::optional<Keys> keys_of(const Bytes& bytes, std::int32_t value_bytes = kNoValue) {
  const auto block = parse_key_block(bytes, value_bytes);
  std::array<std::uint64_t, kBlockKeysMax> out{};
  if (!block || !decode_keys(*block, out)) return std::nullopt;
  return Keys(out.begin(), out.begin() + block->key_count);
}

/// Up to 512 keys whose distances have about `width` bits each.
Keys random_keys(std::mt19937_64& random, unsigned width, std::size_t count) {
  std::set<std::uint64_t> keys;
  const std::uint64_t range = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t first = random() & ~range;
  while (keys.size() < std::min<std::uint64_t>(count, range))
    keys.insert(first + (random() & range));
  return {keys.begin(), keys.end()};
}

/// A block put together by hand, for what the encoder never writes.
Bytes raw_block(std::uint64_t first_key, std::uint16_t count, unsigned low_bits,
                const std::vector<std::uint64_t>& upper, const std::vector<std::uint64_t>& lower) {
  KeyBlockHeader header{};
  header.first_key = first_key;
  header.key_count = count;
  header.low_bits = static_cast<std::uint8_t>(low_bits);
  header.upper_words = static_cast<std::uint16_t>(upper.size());
  Bytes bytes = bytes_of_struct(header);
  for (const auto& words : {upper, lower}) {
    for (const std::uint64_t word : words) {
      bytes.resize(bytes.size() + 8);
      store(bytes.data() + bytes.size() - 8, word);
    }
  }
  return bytes;
}

std::string verdict(const Bytes& bytes, std::int32_t value_bytes = kNoValue) {
  return text_of(parse_key_block(bytes, value_bytes));
}

TEST(KeyBlock, ReturnsKeysOfEveryDensity) {
  std::mt19937_64 random(5);
  for (unsigned width = 1; width <= 64; ++width) {
    for (const std::size_t count : {1u, 2u, 3u, 8u, 9u, 64u, 127u, 128u, 500u, 512u}) {
      const Keys keys = random_keys(random, width, count);
      ASSERT_EQ(keys_of(block_of(keys)), keys) << width << ' ' << count;
    }
  }
}

TEST(KeyBlock, ReturnsKeysAtBothEnds) {
  for (const Keys& keys : {Keys{0}, Keys{~0ull}, Keys{0, ~0ull}, Keys{~0ull - 1, ~0ull},
                           Keys{0, 1, 2, ~0ull}, Keys{0, 1ull << 63, ~0ull}}) {
    EXPECT_EQ(keys_of(block_of(keys)), keys);
  }
}

TEST(KeyBlock, ReturnsDenseAndSkewedKeys) {
  Keys dense(512);
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = 1000 + i;
  EXPECT_EQ(keys_of(block_of(dense)), dense);
  dense.back() = ~0ull;  // all the others in the lowest part of the range
  EXPECT_EQ(keys_of(block_of(dense)), dense);
}

TEST(KeyBlock, IsAsShortAsAnyChoiceOfLowBits) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t count = 2 + random() % 511;
    const std::uint64_t distance = (random() >> random() % 64) | count;
    Keys keys(count);
    for (std::size_t k = 0; k < count; ++k) keys[k] = k;
    keys.back() = distance;
    std::uint64_t best = ~0ull;
    for (unsigned low = 0; low < 64; ++low) {
      const std::uint64_t high = distance >> low;
      const std::uint64_t upper = high / 64 + (high % 64 + count - 2) / 64 + 1;
      best = std::min(best, upper + ((count - 1) * low + 63) / 64);
    }
    ASSERT_EQ(block_of(keys).size(), 16 + best * 8) << count << ' ' << distance;
  }
}

TEST(KeyBlock, AppendsBehindWhatIsThere) {
  Bytes out = pattern(24);
  encode_key_block(Keys{1, 5}, kNoValue, {}, {}, out);
  const Bytes first(out.begin(), out.begin() + 24);
  EXPECT_EQ(first, pattern(24));
  EXPECT_EQ(Bytes(out.begin() + 24, out.end()), block_of({1, 5}));
}

TEST(KeyBlock, ReadsUpToItsOwnEnd) {
  Bytes bytes = block_of({1, 5, 9});
  const std::size_t length = bytes.size();
  bytes.resize(length + 100, std::byte{0xEE});
  const auto block = parse_key_block(bytes, kNoValue);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->block_bytes, length);
}

TEST(KeyBlock, ReturnsFixedValues) {
  Bytes out;
  encode_key_block(Keys{3, 4, 9}, 3, bytes_of("abcdefghi"), {}, out);
  const auto block = parse_key_block(out, 3);
  ASSERT_TRUE(block);
  EXPECT_EQ(hex_of(value_at(*block, 0, 3)), hex_of(bytes_of("abc")));
  EXPECT_EQ(hex_of(value_at(*block, 2, 3)), hex_of(bytes_of("ghi")));
}

TEST(KeyBlock, ReturnsValuesOfAnyLength) {
  const std::vector<std::uint32_t> lengths{2, 0, 5};
  Bytes out;
  encode_key_block(Keys{3, 4, 9}, kVariableValue, bytes_of("abcdefg"), lengths, out);
  const auto block = parse_key_block(out, kVariableValue);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->block_bytes, out.size());
  EXPECT_EQ(hex_of(value_at(*block, 0, kVariableValue)), hex_of(bytes_of("ab")));
  EXPECT_TRUE(value_at(*block, 1, kVariableValue).empty());
  EXPECT_EQ(hex_of(value_at(*block, 2, kVariableValue)), hex_of(bytes_of("cdefg")));
}

TEST(KeyBlock, BoundsAValueWhoseLengthChangedAfterwards) {
  const std::vector<std::uint32_t> lengths{2, 1};
  Bytes out;
  encode_key_block(Keys{3, 4}, kVariableValue, bytes_of("abc"), lengths, out);
  const auto block = parse_key_block(out, kVariableValue);
  ASSERT_TRUE(block);
  const auto at = static_cast<std::size_t>(block->lengths.data() - out.data());
  store(out.data() + at, ~std::uint32_t{0});
  EXPECT_EQ(value_at(*block, 0, kVariableValue).size(), 3u);
  EXPECT_TRUE(value_at(*block, 1, kVariableValue).empty());
}

// spec: drum.md#key-block rule 9
TEST(KeyBlock, RejectsKeyCountsOutOfRange) {
  constexpr auto kText = "the key count of a key block is out of range";
  EXPECT_EQ(verdict(raw_block(1, 0, 0, {}, {})), kText);
  EXPECT_EQ(verdict(raw_block(1, 513, 0, Keys(9, ~0ull), {})), kText);
}

// spec: drum.md#key-block rule 9
TEST(KeyBlock, RejectsLowBitsAndReservedBytesOutOfRange) {
  constexpr auto kText = "the low bits or reserved bytes of a key block are wrong";
  EXPECT_EQ(verdict(raw_block(1, 2, 64, {1}, {0})), kText);
  EXPECT_EQ(verdict(with(block_of({1, 5}), 14, std::uint8_t{1})), kText);
  EXPECT_EQ(verdict(with(block_of({1, 5}), 15, std::uint8_t{1})), kText);
}

// spec: drum.md#key-block rule 10
TEST(KeyBlock, RejectsUpperBitsOfAWrongLength) {
  constexpr auto kText = "the upper bits of a key block have a wrong length";
  EXPECT_EQ(verdict(raw_block(1, 1, 0, {1}, {})), kText);
  EXPECT_EQ(verdict(raw_block(1, 2, 0, {}, {})), kText);
  Keys words(65);
  words.back() = 1;
  EXPECT_EQ(verdict(raw_block(1, 2, 0, words, {})), kText);
  EXPECT_EQ(verdict(raw_block(1, 2, 0, Keys(words.begin() + 1, words.end()), {})), "accepted");
}

// spec: drum.md#key-block rule 10
TEST(KeyBlock, RejectsALastUpperWordOfZero) {
  EXPECT_EQ(verdict(raw_block(1, 2, 0, {2, 0}, {})), "the last upper word of a key block is zero");
}

// spec: drum.md#key-block rule 10
TEST(KeyBlock, RejectsAnotherNumberOfSetBits) {
  EXPECT_TRUE(keys_of(raw_block(1, 3, 0, {0b1010}, {})));
  EXPECT_FALSE(keys_of(raw_block(1, 3, 0, {0b1000}, {})));
  EXPECT_FALSE(keys_of(raw_block(1, 3, 0, {0b1110}, {})));
  EXPECT_FALSE(keys_of(raw_block(1, 3, 0, Keys(64, ~0ull), {})));
}

// spec: drum.md#key-block rule 11
TEST(KeyBlock, RejectsEqualNeighbours) {
  EXPECT_FALSE(keys_of(raw_block(1, 2, 0, {0b1}, {})));       // d = 0
  EXPECT_FALSE(keys_of(raw_block(1, 3, 0, {0b1100}, {})));    // d = 2, 2
  EXPECT_FALSE(keys_of(raw_block(1, 3, 4, {0b11}, {0x77})));  // d = 7, 7
  EXPECT_FALSE(keys_of(raw_block(1, 3, 4, {0b11}, {0x67})));  // d = 7, 6
  EXPECT_TRUE(keys_of(raw_block(1, 3, 4, {0b11}, {0x87})));   // d = 7, 8
}

// spec: drum.md#key-block rule 11
TEST(KeyBlock, RejectsSumsThatOverflow) {
  EXPECT_TRUE(keys_of(raw_block(~0ull - 2, 2, 0, {0b100}, {})));
  EXPECT_FALSE(keys_of(raw_block(~0ull - 1, 2, 0, {0b100}, {})));
  // A distance of 2^64 or more, whose 64 lower bits look right.
  EXPECT_FALSE(keys_of(raw_block(1, 2, 63, {0b100}, {5})));
  EXPECT_FALSE(keys_of(raw_block(1, 3, 60, {(1ull << 1) | (1ull << 18)}, {5, 0})));
}

// spec: drum.md#key-block rule 12
TEST(KeyBlock, RejectsPaddingThatIsNotZero) {
  constexpr auto kText = "padding of a key block is not zero";
  EXPECT_EQ(verdict(raw_block(1, 3, 4, {0b11}, {0x187})), kText);
  Bytes out;
  encode_key_block(Keys{3, 4}, 3, bytes_of("abcdef"), {}, out);
  EXPECT_EQ(verdict(with(out, out.size() - 1, std::uint8_t{1}), 3), kText);
  out.clear();
  encode_key_block(Keys{3}, kVariableValue, {}, std::vector<std::uint32_t>{0}, out);
  EXPECT_EQ(verdict(with(out, out.size() - 1, std::uint8_t{1}), kVariableValue), kText);
}

// spec: drum.md#key-block rule 13
TEST(KeyBlock, RejectsAValueThatIsTooLong) {
  Bytes out;
  encode_key_block(Keys{3}, kVariableValue, {}, std::vector<std::uint32_t>{0}, out);
  EXPECT_EQ(verdict(with(out, 16, kValueBytesMax + 1), kVariableValue),
            "a value in a key block is too long");
}

TEST(KeyBlock, RejectsEveryTruncation) {
  for (const std::int32_t value_bytes : {kNoValue, 5, kVariableValue}) {
    const bool is_variable = value_bytes == kVariableValue;
    Bytes out;
    encode_key_block(
        Keys{3, 1000, 5000}, value_bytes,
        Bytes(is_variable ? 9u : static_cast<std::size_t>(value_bytes) * 3),
        is_variable ? std::vector<std::uint32_t>{2, 3, 4} : std::vector<std::uint32_t>{}, out);
    for (; !out.empty(); out.pop_back()) {
      EXPECT_EQ(parse_key_block(out, value_bytes).has_value(),
                keys_of(out, value_bytes).has_value());
      Bytes part(out.begin(), out.end() - 1);
      ASSERT_FALSE(parse_key_block(part, value_bytes));
    }
  }
}

TEST(KeyBlock, NeverReadsOutsideChangedBytes) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 50'000; ++i) {
    Bytes bytes = block_of(random_keys(random, 1 + below(random, 64), 1 + random() % 40));
    bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 << random() % 8);
    const auto keys = keys_of(bytes);
    if (keys) {
      ASSERT_TRUE(std::is_sorted(keys->begin(), keys->end(), std::less_equal<>()));
    }
  }
}

TEST(KeyBlock, FindsEachKeyAndNoOther) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    const Keys keys = random_keys(random, 1 + below(random, 64), 1 + random() % kBlockKeysMax);
    const Bytes bytes = block_of(keys);
    const auto block = parse_key_block(bytes, kNoValue);
    ASSERT_TRUE(block);
    const std::set<std::uint64_t> all(keys.begin(), keys.end());
    for (std::uint32_t place = 0; place < keys.size(); ++place) {
      ASSERT_EQ(find_key(*block, keys[place], 0), place);
      for (const std::uint64_t other : {keys[place] - 1, keys[place] + 1, random()}) {
        ASSERT_EQ(find_key(*block, other, 0).has_value(), all.contains(other)) << other;
      }
    }
  }
}

TEST(KeyBlock, FindsNothingOutsideChangedBytes) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 20'000; ++i) {
    const Keys keys = random_keys(random, 1 + below(random, 64), 1 + random() % 40);
    Bytes bytes = block_of(keys);
    bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 << random() % 8);
    const auto block = parse_key_block(bytes, kNoValue);
    if (!block) continue;
    for (const std::uint64_t key : {keys.front(), keys.back(), random()}) {
      const auto place = find_key(*block, key, 0);
      ASSERT_TRUE(!place || *place < block->key_count);
    }
  }
}

}  // namespace
}  // namespace crawlstore::format
