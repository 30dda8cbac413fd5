// SPDX-License-Identifier: Apache-2.0
#include "format/aux_blocks.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;
using Lengths = std::vector<std::uint32_t>;

/// Words out of a few, as URLs are.
Bytes text(std::mt19937_64& random, std::size_t length) {
  Bytes bytes;
  while (bytes.size() < length) {
    const Bytes word = bytes_of("/word" + std::to_string(random() % 1000));
    bytes.insert(bytes.end(), word.begin(), word.end());
  }
  bytes.resize(length);
  return bytes;
}
Bytes noise(std::mt19937_64& random, std::size_t length) {
  Bytes bytes(length);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}
Bytes joined(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

AuxBlocks view(const OwnedAuxBlocks& blocks, std::size_t raw_bytes) {
  return {raw_bytes, blocks.lengths, blocks.bytes};
}

/// The bytes that next() returns for lengths up to `length_max`, put together; forgets after
/// `batch` of them.
Bytes read_all(AuxReader reader, std::size_t raw_bytes, std::size_t length_max, std::size_t batch,
               std::mt19937_64& random) {
  Bytes all;
  std::vector<std::span<const std::byte>> kept;
  const auto flush = [&] {
    for (const auto& aux : kept) all.insert(all.end(), aux.begin(), aux.end());
    kept.clear();
    reader.forget();
  };
  for (std::size_t left = raw_bytes; left != 0;) {
    const std::size_t length = std::min<std::size_t>(left, random() % (length_max + 1));
    const auto aux = reader.next(length);
    EXPECT_TRUE(aux);
    if (!aux) return all;
    kept.push_back(*aux);
    left -= length;
    if (kept.size() == batch) flush();
  }
  flush();
  EXPECT_FALSE(reader.next(1)) << "behind the end";
  EXPECT_TRUE(reader.next(0));
  return all;
}

TEST(AuxBlocks, ReturnWhatWasCompressed) {
  std::mt19937_64 random(3);
  for (const std::size_t length : {4097u, 65'535u, 65'536u, 65'537u, 200'000u, 400'000u}) {
    const Bytes raw = text(random, length);
    const auto blocks = compress_auxes(raw);
    ASSERT_TRUE(blocks) << length;
    EXPECT_EQ(blocks->lengths.size(), aux_block_count(length));
    EXPECT_LT(blocks->bytes.size(), length * 3 / 4);
    const AuxBlocks stored = view(*blocks, length);
    EXPECT_EQ(check_block_lengths(stored), nullptr);
    EXPECT_EQ(check_blocks(stored), nullptr);
    for (const std::size_t length_max : {60u, 5000u, 70'000u, 300'000u}) {
      for (const std::size_t batch : {1u, 7u, 256u}) {
        ASSERT_EQ(read_all({{}, stored}, length, length_max, batch, random), raw)
            << length << ' ' << length_max << ' ' << batch;
      }
    }
  }
}

TEST(AuxBlocks, AreNotMadeWhereTheyDoNotPay) {
  std::mt19937_64 random(4);
  EXPECT_FALSE(compress_auxes({}));
  EXPECT_FALSE(compress_auxes(Bytes(4096))) << "one unit";
  EXPECT_TRUE(compress_auxes(Bytes(4097)));
  EXPECT_FALSE(compress_auxes(noise(random, 300'000)));
  EXPECT_FALSE(compress_auxes(joined(noise(random, 65'536), Bytes(100'000)))) << "the first block";
}

TEST(AuxBlocks, KeepBlocksThatDoNotShrink) {
  std::mt19937_64 random(5);
  const Bytes raw = joined(joined(text(random, 65'536), noise(random, 65'536)), text(random, 900));
  const auto blocks = compress_auxes(raw);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->lengths.at(1), 65'536u);
  const AuxBlocks stored = view(*blocks, raw.size());
  EXPECT_EQ(check_blocks(stored), nullptr);
  EXPECT_EQ(read_all({{}, stored}, raw.size(), 1000, 10, random), raw);
}

TEST(AuxReader, ReadsRawBytes) {
  std::mt19937_64 random(6);
  const Bytes raw = noise(random, 1000);
  EXPECT_EQ(read_all({raw, {}}, raw.size(), 50, 4, random), raw);
}

/// One block that should give `raw_bytes`: what check_blocks() and a reader say of it.
struct Verdict {
  bool is_valid = false;
  bool is_read = false;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};
constexpr Verdict kValid{true, true};
constexpr Verdict kBroken{false, false};

Verdict verdict_of(const Bytes& block, std::uint32_t raw_bytes) {
  const Lengths lengths{static_cast<std::uint32_t>(block.size())};
  const AuxBlocks blocks{raw_bytes, lengths, block};
  return {check_blocks(blocks) == nullptr, AuxReader({}, blocks).next(raw_bytes).has_value()};
}

Bytes block_of(std::initializer_list<unsigned> bytes) {
  Bytes block;
  for (const unsigned byte : bytes) block.push_back(static_cast<std::byte>(byte));
  return block;
}

// spec: drum.md#auxiliary-blocks rule 13
TEST(AuxBlocks, RejectSequencesThatBreakTheRules) {
  // "a", then 1 byte before it 4 + 15 + 10 times, then "bcdef": 35 bytes.
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 1, 0, 10, 0x50, 'b', 'c', 'd', 'e', 'f'}), 35), kValid);
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 1, 0, 10, 0x53, 'b', 'c', 'd', 'e', 'f'}), 35), kValid)
      << "bits of the last token that nobody looks at";
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 1, 0, 10, 0x50, 'b', 'c', 'd', 'e', 'f'}), 34),
            kBroken);
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 1, 0, 10, 0x50, 'b', 'c', 'd', 'e', 'f'}), 36),
            kBroken);
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 2, 0, 10, 0x50, 'b', 'c', 'd', 'e', 'f'}), 35), kBroken)
      << "an offset before the beginning";
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 0, 0, 10, 0x50, 'b', 'c', 'd', 'e', 'f'}), 35),
            (Verdict{false, true}))
      << "an offset of 0, which the library takes";
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 1, 0, 11, 0x40, 'b', 'c', 'd', 'e'}), 35), kBroken)
      << "a match that ends 4 bytes before the end";
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 1, 0, 10, 0x50, 'b', 'c', 'd', 'e'}), 34), kBroken)
      << "literals that are cut off";
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 1, 0, 255}), 280), kBroken);
  EXPECT_EQ(verdict_of(block_of({0x1F, 'a', 1}), 40), kBroken);
}

TEST(AuxBlocks, SurviveEveryFlippedBit) {
  std::mt19937_64 random(7);
  const Bytes raw = text(random, 4500);
  const auto blocks = compress_auxes(raw);
  ASSERT_TRUE(blocks);
  for (std::size_t bit = 0; bit < blocks->bytes.size() * 8; ++bit) {
    OwnedAuxBlocks broken = *blocks;
    broken.bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const AuxBlocks stored = view(broken, raw.size());
    const bool is_valid = check_blocks(stored) == nullptr;
    const bool is_read = AuxReader({}, stored).next(raw.size()).has_value();
    ASSERT_TRUE(is_read || !is_valid) << bit;
  }
}

}  // namespace
}  // namespace crawlstore::format
