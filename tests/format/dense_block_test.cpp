// SPDX-License-Identifier: Apache-2.0
#include "format/dense_block.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/dense_model.h"
#include "format/dense_samples.h"
#include "format/format_samples.h"
#include "support/seeded.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// The result of both decoders; the test fails where they differ. The bytes stand at the end of
/// their memory.
Result<void> decode(const DenseSample& block, const DenseDecoder& decoder, LinkRows& rows,
                    std::uint64_t last_page = kPageMax) {
  Bytes exact(block.bytes.begin(), block.bytes.end());
  exact.resize(exact.size() + kDenseSlackBytes);
  exact.shrink_to_fit();
  const DensePages pages{block.first_page, block.page_count, last_page};
  LinkRows portable;
  const auto verdict = decode_dense_block_portable(exact, decoder, pages, portable);
  auto decoded = decode_dense_block(exact, decoder, pages, rows);
  EXPECT_EQ(text_of(decoded), text_of(verdict));
  if (decoded) {
    EXPECT_EQ(rows_in(rows), rows_in(portable));
  }
  return decoded;
}

/// The numbers of a block; they lie one behind the other up to `end_bits`.
std::vector<DenseNumber> traced(const DenseSample& block, const DenseDecoder& decoder,
                                Result<void>& verdict, LinkRows& rows) {
  Bytes bytes = block.bytes;
  bytes.resize(bytes.size() + kDenseSlackBytes);
  std::vector<DenseNumber> numbers;
  verdict = trace_dense_block(bytes, decoder, {block.first_page, block.page_count}, rows, numbers);
  std::uint64_t end_bits = 0;
  for (const DenseNumber& number : numbers) {
    EXPECT_EQ(number.begin_bits, end_bits);
    EXPECT_LT(number.begin_bits, number.end_bits);
    end_bits = number.end_bits;
  }
  EXPECT_LE(end_bits, block.bytes.size() * 8);
  return numbers;
}

void expect_rows(const DenseSample& block, const DenseDecoder& decoder, const Rows& rows) {
  LinkRows found;
  ASSERT_EQ(text_of(decode(block, decoder, found)), "accepted");
  ASSERT_EQ(rows_in(found), rows);
  for (const auto& [page, row] : rows) {  // as a look-up does
    ASSERT_EQ(text_of(decode(block, decoder, found, page)), "accepted");
    ASSERT_EQ(rows_in(found), Rows(rows.begin(), rows.upper_bound(page)));
  }
}

void expect_round_trip(const Rows& rows, std::uint64_t first_page) {
  for (const bool has_own_model : {true, false}) {
    const DenseSample block = dense_block(rows, first_page, has_own_model);
    expect_rows(block, DenseDecoder(block.model), rows);
  }
}

std::vector<std::uint64_t> links_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> links(count);
  std::iota(links.begin(), links.end(), first);
  return links;
}

TEST(DenseBlock, ReturnsWhatWasEncoded) {
  expect_round_trip({{0, {0}}}, 0);
  expect_round_trip({{5, {5}}, {7, {0, 1, 2, 3, 1'000'000}}}, 3);
  expect_round_trip({{254, {1, 2, 3}}}, 0);
  expect_round_trip({{kPageMax - 1, {0}}, {kPageMax, {kPageMax}}}, kPageMax - 1);
  expect_round_trip({{9, links_from(kPageMax - kDensePieceLinks + 1, kDensePieceLinks)}}, 9);
}

TEST(DenseBlock, ReturnsRowsThatReferToOthers) {
  const auto row = links_from(100, 60);
  expect_round_trip({{1, row}, {2, row}, {4, row}}, 1);
  auto less = row;
  less.erase(less.begin() + 3, less.begin() + 20);
  auto more = row;
  more.insert(more.begin(), 7);
  more.push_back(1000);
  auto both = less;
  both.insert(both.begin() + 3, {103, 104, 119});
  expect_round_trip({{1, row}, {2, less}, {3, more}, {4, both}, {5, {159}}}, 1);
}

TEST(DenseBlock, RejectsLinksThatAreAboveTheHighest) {
  for (const Rows& rows : {Rows{{1, {4, 9}}}, Rows{{1, {9}}}, Rows{{1, {9}}, {2, {9}}},
                           Rows{{1, {4, 9}}, {2, {4, 8, 9}}}, Rows{{1, {4, 5, 6, 7, 8, 9}}}}) {
    const DenseSample block = dense_block(rows, 1);
    Bytes bytes = block.bytes;
    bytes.resize(bytes.size() + kDenseSlackBytes);
    const DenseDecoder decoder(block.model);
    DensePages pages{1, block.page_count};
    LinkRows found;
    pages.link_max = 9;
    EXPECT_EQ(text_of(decode_dense_block(bytes, decoder, pages, found)), "accepted");
    pages.link_max = 8;
    const auto verdict = decode_dense_block(bytes, decoder, pages, found);
    EXPECT_EQ(text_of(verdict), "a link of a dense block is out of range");
  }
}

TEST(DenseBlock, TellsItsNumbers) {
  const DenseSample block =
      dense_block({{2, {7, 9, 10}}, {3, {7, 9, 10}}, {4, {7, 10, 12}}, {9, {1}}}, 1);
  Result<void> verdict;
  LinkRows rows;
  const auto numbers = traced(block, DenseDecoder(block.model), verdict, rows);
  EXPECT_EQ(text_of(verdict), "accepted");
  EXPECT_EQ(rows.row_count(), 4u);
  EXPECT_LT(block.bytes.size() * 8 - numbers.back().end_bits, 8u);
  using Number = std::pair<std::size_t, std::uint64_t>;  // context, value
  std::vector<Number> found;
  for (const DenseNumber& number : numbers) found.emplace_back(number.context, number.value);
  const std::vector<Number> first_rows{{0, 0},   {6, 0},  {1, 1},  {7, 2},
                                       {23, 10}, {27, 1}, {32, 0},  // page 1 empty, 2 plain: 7 - 2
                                       {2, 49}};                    // page 3 equals the one before
  ASSERT_GE(found.size(), first_rows.size());
  found.resize(first_rows.size());
  EXPECT_EQ(found, first_rows);
}

TEST(DenseBlock, ReturnsEverySmallGraph) {
  const DenseLengths model = rough_dense_model();
  const DenseDecoder decoder(model);
  DenseBlockEncoder encoder(model);
  for (unsigned mask = 1; mask < 4096; ++mask) {
    Rows rows;
    for (std::uint64_t i = 0; i < 12; ++i) {
      if ((mask >> i & 1) != 0) rows[i / 4 * 2].push_back(i % 4);
    }
    DenseSample block{model, 0, static_cast<std::uint32_t>(rows.rbegin()->first + 1), {}, {}};
    encoder.encode(0, RowColumns(rows).spans(), block.bytes);
    expect_rows(block, decoder, rows);
  }
}

TEST(DenseBlock, ReturnsRandomGraphs) {
  SeededRandom random;
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t first = random.next() >> (25 + random.below(38));
    const std::uint64_t page_count = 2 + random.below(200);
    Rows rows = random_rows(random, 1 + random.below(kDenseBlockRows), first, page_count);
    std::size_t links = 0;
    std::erase_if(rows, [&](const auto& row) {
      links += row.second.size();
      return row.second.empty() || links > kDenseBlockLinks;
    });
    if (!rows.empty()) expect_round_trip(rows, first);
  }
}

TEST(DenseBlock, CodesEqualRowsInAFewBits) {
  Rows rows;
  for (std::uint64_t page = 0; page < kDenseBlockRows; ++page) rows[page] = links_from(1000, 64);
  EXPECT_LT(dense_block(rows, 0).bytes.size(), 32u);
}

/// Whatever changes, decoding ends with rows that ascend or with kSegmentInvalid.
TEST(DenseBlock, AnswersHostileBytes) {
  SeededRandom random;
  std::size_t refused = 0;
  constexpr int kSamples = 30;
  constexpr int kChanges = 200;
  for (int sample = 0; sample < kSamples; ++sample) {
    const std::uint64_t first = random.below(1000);
    Rows rows = random_rows(random, 2 + random.below(12), first, 100);
    std::erase_if(rows, [](const auto& row) { return row.second.empty(); });
    rows[first].push_back(first);
    rows[first].resize(1);
    const DenseSample whole = dense_block(rows, first);
    const DenseDecoder decoder(whole.model);
    for (int change = 0; change < kChanges; ++change) {
      DenseSample block = whole;
      for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
        block.bytes[random.below(block.bytes.size())] ^=
            static_cast<std::byte>(1 + random.below(255));
      }
      if (random.below(4) == 0) block.bytes.resize(random.below(block.bytes.size() + 1));
      LinkRows found;
      const auto decoded = decode(block, decoder, found);
      refused += decoded ? 0 : 1;
      Result<void> verdict;
      LinkRows again;
      traced(block, decoder, verdict, again);
      ASSERT_EQ(text_of(verdict), text_of(decoded));
      if (!decoded) {
        EXPECT_EQ(decoded.error().code, Errc::kSegmentInvalid);
        continue;
      }
      EXPECT_LE(found.row_count(), kDenseBlockRows);
      EXPECT_EQ(found.pages().back(), first + block.page_count - 1);
      for (std::size_t row = 0; row < found.row_count(); ++row) {
        const auto links = found.links(row);
        ASSERT_FALSE(links.empty());
        ASSERT_LE(links.back(), kPageMax);
        ASSERT_EQ(std::ranges::adjacent_find(links, std::ranges::greater_equal()), links.end());
      }
    }
  }
  EXPECT_GT(refused, kSamples * kChanges / 2U);
}

TEST(DenseToken, StandsForEachNumberOnce) {
  std::uint64_t expected = 0;
  for (unsigned token = 0; token < kDenseTokens; ++token) {
    EXPECT_EQ(DenseToken::of(expected).token, token);
    expected += std::uint64_t{1} << DenseToken::of(expected).raw_bits;
    EXPECT_EQ(DenseToken::of(expected - 1).token, token);
  }
  EXPECT_EQ(expected, kDenseNumberEnd);
}

TEST(DenseModel, ReadsCodesOfAllLengths) {
  // Counts like Fibonacci's numbers would need longer codes than there are.
  DenseCounts counts{};
  std::uint64_t count = 1;
  std::uint64_t before = 1;
  for (std::size_t token = 0; token < 60; ++token) {
    counts[3][token] = count;
    before = std::exchange(count, count + before);
  }
  const DenseLengths lengths = dense_code_lengths(counts);
  EXPECT_EQ(*std::max_element(lengths[3].begin(), lengths[3].end()), 15);
  Bytes stored;
  encode_dense_model(lengths, stored);
  const auto parsed =
      parse_dense_model(std::span<const std::byte>(stored).first<kDenseModelBytes>());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, lengths);
  const DenseCodes codes(lengths);
  const DenseDecoder decoder(lengths);
  for (std::uint8_t token = 0; token < 60; ++token) {
    const auto code = codes.code(3, token);
    Bytes bytes(16);
    store(bytes.data(), static_cast<std::uint64_t>(code.bits));
    DenseInput input(bytes.data(), 64);
    EXPECT_EQ(DenseToken::of(decoder.read(input, 3)).token, token);
    EXPECT_FALSE(input.has_failed());
  }
}

TEST(DenseModel, RefusesLengthsOfNoPrefixCode) {
  Bytes stored;
  encode_dense_model(rough_dense_model(), stored);
  const auto verdict = [](const Bytes& bytes) {
    return text_of(parse_dense_model(std::span<const std::byte>(bytes).first<kDenseModelBytes>()));
  };
  EXPECT_EQ(verdict(stored), "accepted");
  Bytes changed = stored;
  changed[kDenseTokens / 2 * 7] ^= std::byte{1};
  EXPECT_EQ(verdict(changed),
            "the code lengths of a dense link run are not those of a prefix code");
  std::fill_n(changed.begin() + kDenseTokens / 2 * 7, kDenseTokens / 2, std::byte{});
  EXPECT_EQ(verdict(changed), "accepted");  // a context that no number has
}

TEST(DenseModel, FailsWhereAContextHasNoCodes) {
  const DenseDecoder decoder(DenseLengths{});
  const Bytes bytes(16);
  DenseInput input(bytes.data(), 64);
  EXPECT_EQ(decoder.read(input, 0), 0u);
  EXPECT_TRUE(input.has_failed());
}

}  // namespace
}  // namespace crawlstore::format
