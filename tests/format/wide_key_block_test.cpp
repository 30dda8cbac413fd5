// SPDX-License-Identifier: Apache-2.0
//
// Key blocks of 16-byte keys: spec/drum.md#key-block.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/key_block.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;
using Keys = std::vector<Key16>;

struct Halves {
  explicit Halves(const Keys& keys) {
    for (const Key16& key : keys) {
      heads.push_back(key.head);
      tails.push_back(key.tail);
    }
  }
  std::vector<std::uint64_t> heads;
  std::vector<std::uint64_t> tails;
};

Bytes block_of(const Keys& keys, const BlockValues& values = {}) {
  const Halves halves(keys);
  Bytes out;
  encode_wide_key_block(halves.heads, halves.tails, values, out);
  return out;
}

/// The keys of the block, or nothing when it is rejected.
std::optional<Keys> keys_of(const Bytes& bytes) {
  const auto block = parse_key_block(bytes, kNoValue, kWideKeyBytes);
  BlockNumbers heads{};
  BlockNumbers tails{};
  if (!block || !decode_keys(*block, heads, tails)) return std::nullopt;
  Keys keys;
  for (std::uint32_t i = 0; i < block->key_count; ++i) keys.emplace_back(heads[i], tails[i]);
  return keys;
}

std::string verdict(const Bytes& bytes, std::uint16_t key_bytes = kWideKeyBytes) {
  const auto block = parse_key_block(bytes, kNoValue, key_bytes);
  if (!block) return block.error().text;
  BlockNumbers heads{};
  BlockNumbers tails{};
  return text_of(decode_keys(*block, heads, tails));
}

template <class T>
Bytes with(Bytes bytes, std::size_t offset, T value) {
  store(bytes.data() + offset, value);
  return bytes;
}

TEST(WideKeyBlock, ReturnsKeysWhateverTheyShare) {
  std::mt19937_64 random(1);
  for (const unsigned head_bits : {0U, 1U, 5U, 9U, 40U, 64U}) {
    for (const std::size_t count : {1U, 2U, 3U, 127U, 511U, 512U}) {
      for (const unsigned tail_bits : {10U, 33U, 64U}) {
        std::set<Key16> keys;
        const std::uint64_t base = random() << head_bits % 64;
        while (keys.size() < count) {
          const std::uint64_t head = head_bits == 0 ? base : random() >> (64 - head_bits);
          keys.emplace(head, random() >> (64 - tail_bits));
        }
        const Keys sorted(keys.begin(), keys.end());
        const Bytes bytes = block_of(sorted);
        ASSERT_EQ(keys_of(bytes), sorted) << head_bits << ' ' << count;
        const auto block = parse_key_block(bytes, kNoValue, kWideKeyBytes);
        for (std::uint32_t i = 0; i < count; ++i) {
          ASSERT_EQ(find_key(*block, sorted[i].head, sorted[i].tail), i);
          const bool next_is_there = keys.contains({sorted[i].head, sorted[i].tail + 1});
          ASSERT_EQ(find_key(*block, sorted[i].head, sorted[i].tail + 1).has_value(),
                    next_is_there);
        }
      }
    }
  }
}

TEST(WideKeyBlock, ReturnsExtremes) {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  for (const Keys& keys :
       {Keys{{0, 0}}, Keys{{kMax, kMax}}, Keys{{0, 0}, {kMax, kMax}}, Keys{{0, kMax}, {1, 0}},
        Keys{{5, 0}, {5, kMax}}, Keys{{0, 0}, {0, kMax}, {kMax, 0}, {kMax, kMax}}}) {
    EXPECT_EQ(keys_of(block_of(keys)), keys);
  }
}

// Heads cost what 8-byte keys cost, tails 8 bytes; under one head it is the other way round.
TEST(WideKeyBlock, CostsItsEntropy) {
  std::mt19937_64 random(2);
  std::set<std::uint64_t> numbers;
  while (numbers.size() < kBlockKeysMax) numbers.insert(random());
  Keys heads_differ;
  Keys one_head;
  for (const std::uint64_t number : numbers) {
    heads_differ.emplace_back(number, random());
    one_head.emplace_back(7, number);
  }
  const std::uint64_t plain = key_block_bytes(*numbers.rbegin() - *numbers.begin(), kBlockKeysMax);
  EXPECT_EQ(block_of(heads_differ).size(), plain + 8 * kBlockKeysMax);
  EXPECT_EQ(block_of(one_head).size(), plain + 8);
}

TEST(WideKeyBlock, KeepsValuesBehindTheHalves) {
  const Keys keys{{1, 9}, {1, 10}, {2, 0}};
  const Bytes block = block_of(keys, {3, bytes_of("abcdefghi"), {}});
  const auto parsed = parse_key_block(block, 3, kWideKeyBytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->block_bytes, block.size());
  const auto second = value_at(*parsed, 1, 3);
  EXPECT_EQ(Bytes(second.begin(), second.end()), bytes_of("def"));
}

// spec: drum.md#key-block rule 9
TEST(WideKeyBlock, RejectsAWrongWordOnSharedHeads) {
  constexpr auto kText = "a key block says wrongly that its keys share their head";
  constexpr auto kDecoded =
      "the keys of a key block do not ascend, or share a head that is repeated";
  const Bytes differs = block_of({{1, 9}, {2, 9}});
  const Bytes shares = block_of({{1, 8}, {1, 9}});
  EXPECT_EQ(verdict(with(differs, 13, std::uint8_t{2})), kText);
  EXPECT_EQ(verdict(with(block_of({{1, 8}}), 13, std::uint8_t{1})), kText) << "one key";
  EXPECT_EQ(verdict(shares, kKeyBytes), kText) << "of 8 bytes";
  // Two heads that are the same: coded as heads, with both tails.
  Bytes repeated = with(differs, differs.size() - 16, std::uint64_t{3});
  store(repeated.data() + 16, std::uint64_t{1});  // distance 0
  EXPECT_EQ(verdict(repeated), kDecoded);
}

// spec: drum.md#key-block rule 11
TEST(WideKeyBlock, RejectsTailsThatDoNotAscendUnderOneHead) {
  const Bytes block = block_of({{1, 8}, {1, 9}, {2, 0}});
  const std::size_t tails = block.size() - 24;
  constexpr auto kText = "the keys of a key block do not ascend, or share a head that is repeated";
  EXPECT_EQ(verdict(with(block, tails + 8, std::uint64_t{8})), kText);
  EXPECT_EQ(verdict(with(block, tails + 8, std::uint64_t{7})), kText);
  EXPECT_EQ(keys_of(with(block, tails + 8, std::uint64_t{10})), (Keys{{1, 8}, {1, 10}, {2, 0}}));
}

TEST(WideKeyBlock, RejectsEveryPartOfABlock) {
  const Bytes block = block_of({{1, 8}, {1, 9}, {2, 0}});
  for (std::size_t length = 0; length < block.size(); ++length) {
    const Bytes part(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(parse_key_block(part, kNoValue, kWideKeyBytes)) << length;
  }
}

}  // namespace
}  // namespace crawlstore::format
