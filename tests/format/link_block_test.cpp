// SPDX-License-Identifier: Apache-2.0
#include "format/link_block.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/link_samples.h"
#include "support/seeded.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

LinkBlockHeader header_of(const Bytes& block) {
  return load_struct<LinkBlockHeader>(block.data());
}

/// The verdict of decoding; the bytes stand at the end of their memory.
std::string verdict(const Bytes& block) {
  const Bytes exact(block.begin(), block.end());
  LinkRows rows;
  const auto decoded = decode_link_block(exact, rows);
  EXPECT_TRUE(decoded || decoded.error().code == Errc::kSegmentInvalid);
  return text_of(decoded);
}

Rows decoded(const Bytes& block) {
  LinkRows rows;
  EXPECT_EQ(text_of(decode_link_block(block, rows)), "accepted");
  EXPECT_EQ(text_of(link_block_bytes(header_of(block))), "accepted");
  EXPECT_EQ(link_block_bytes(header_of(block)).value_or(0), block.size());
  return rows_in(rows);
}

void expect_round_trip(const Rows& rows) {
  EXPECT_EQ(decoded(link_block(rows)), rows);
}

TEST(LinkBlock, ReturnsWhatWasEncoded) {
  expect_round_trip({{0, {}}});
  expect_round_trip({{0, {0}}});
  expect_round_trip({{5, {5}}, {6, {}}, {7, {0, 1, 2, 3, 1'000'000}}});
  expect_round_trip({{5, {}}, {600, {}}, {70'000, {599, 600, 601}}, {70'001, {}}});
  expect_round_trip({{kPageMax - 1, {kPageMax}}, {kPageMax, {kPageMax - 1}}});
}

// E1 of the feature list: with plain steps this row is 7 1236 2 6 3 6 2 1 1 3 2 2 3 1 1 1 3 3 3 3 2
// 4 14 2. Ours are one less behind the first, which is counted from the page.
// covers: E1
TEST(LinkBlock, CodesTheStepsOfTheSeedsExample) {
  const std::vector<std::uint32_t> steps{7, 1236, 2, 6, 3, 6, 2, 1, 1, 3, 2,  2,
                                         3, 1,    1, 1, 3, 3, 3, 3, 2, 4, 14, 2};
  std::vector<std::uint64_t> links;
  for (const std::uint32_t step : steps) {
    links.push_back((links.empty() ? 0 : links.back()) + step);
  }
  EXPECT_EQ(links[1], 1243u);
  EXPECT_EQ(links[2], 1245u);
  const Bytes block = link_block({{0, links}});
  EXPECT_EQ(hex_of(std::span(block).subspan(sizeof(LinkBlockHeader))),
            "01 59 15 54 01 55 55 "  // selectors
            "18 0e d3 04 01 05 02 05 01 02 01 01 02 02 02 02 02 01 03 0d 01 "
            "00 00 00 00");
  EXPECT_EQ(decoded(block), (Rows{{0, links}}));
}

TEST(LinkBlock, ReturnsEverySmallGraph) {
  // Each set of links among four pages, for two rows with a gap between them.
  for (unsigned mask = 0; mask < 256; ++mask) {
    Rows rows{{1, {}}, {3, {}}};
    for (std::uint64_t i = 0; i < 8; ++i) {
      if ((mask >> i & 1) != 0) rows[i < 4 ? 1 : 3].push_back(i % 4);
    }
    expect_round_trip(rows);
  }
}

TEST(LinkBlock, ReturnsRandomGraphs) {
  SeededRandom random;
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t page_count = 2 + random.below(5'000);
    expect_round_trip(random_rows(random,
                                  1 + random.below(std::min<std::uint64_t>(100, page_count)),
                                  random.next() >> (25 + random.below(39)), page_count));
  }
}

TEST(LinkBlock, ReturnsARowOfAMillionLinks) {
  SeededRandom random;
  std::vector<std::uint64_t> links;
  for (std::uint64_t link = 0; links.size() < 1'000'000; link += 1 + random.below(300)) {
    links.push_back(link);
  }
  expect_round_trip({{9, {1, 2}}, {77, links}, {78, {}}, {79, {77}}});
}

// spec: links.md#link-block rule 4
TEST(LinkBlock, TakesPlainNumbersWhereOneDoesNotFit32Bits) {
  const auto codec_of = [](const Rows& rows) { return header_of(link_block(rows)).codec; };
  constexpr std::uint64_t kFar = std::uint64_t{1} << 32;
  EXPECT_EQ(codec_of({{0, {kFar / 2 - 1}}}), 1);
  EXPECT_EQ(codec_of({{0, {kFar / 2}}}), 2);
  EXPECT_EQ(codec_of({{kFar, {kFar / 2}}}), 1);
  EXPECT_EQ(codec_of({{kFar, {kFar / 2 - 1}}}), 2);
  EXPECT_EQ(codec_of({{0, {0, kFar}}}), 1);
  EXPECT_EQ(codec_of({{0, {0, kFar + 1}}}), 2);
  EXPECT_EQ(codec_of({{0, {}}, {kFar, {}}}), 1);
  EXPECT_EQ(codec_of({{0, {}}, {kFar + 1, {}}}), 2);
  expect_round_trip({{0, {0, kFar, 2 * kFar, 3 * kFar}}});
  expect_round_trip({{0, {0, kFar + 1}}, {8, {}}, {kPageMax, {0, 8, kPageMax}}});
}

const Rows& sample() {
  static const Rows kRows{{10, {3, 12, 400}}, {11, {}}, {15, {15}}, {900, {0, 1}}};
  return kRows;
}
const Rows& plain_sample() {
  static const Rows kRows{{10, {3, 12, kPageMax - 4}}, {11, {}}, {kPageMax, {15, kPageMax}}};
  return kRows;
}

std::string verdict_after(void (*change)(LinkBlockHeader&), const Rows& rows = sample()) {
  Bytes block = link_block(rows);
  LinkBlockHeader header = header_of(block);
  change(header);
  store_struct(block.data(), header);
  return verdict(block);
}

// spec: links.md#link-block rule 1
TEST(LinkBlock, RejectsCountsOutOfRange) {
  constexpr auto kText = "a number in the header of a link block is out of range";
  EXPECT_EQ(verdict_after([](auto& h) { h.row_count = 0; }), kText);
  EXPECT_EQ(verdict_after([](auto& h) { h.row_count = kLinkBlockRowsMax + 1; }), kText);
  EXPECT_EQ(verdict_after([](auto& h) { h.link_count = kLinkBlockLinksMax + 1; }), kText);
  EXPECT_EQ(verdict_after([](auto& h) { h.first_page = kPageMax + 1; }), kText);
}

// spec: links.md#link-block rule 2
TEST(LinkBlock, RejectsAnUnknownCodecOrFlag) {
  EXPECT_EQ(verdict_after([](auto& h) { h.codec = 0; }), "the codec of a link block is unknown");
  EXPECT_EQ(verdict_after([](auto& h) { h.codec = 3; }), "the codec of a link block is unknown");
  EXPECT_EQ(verdict_after([](auto& h) { h.flags |= 2; }), "a flag of a link block is unknown");
}

// spec: links.md#link-block rule 3
TEST(LinkBlock, RejectsAnotherLength) {
  Bytes block = link_block(sample());
  block.resize(block.size() + 8);
  EXPECT_EQ(verdict(block), "a link block has another length");
  block.resize(block.size() - 16);
  EXPECT_EQ(verdict(block), "a link block has another length");
  block.resize(20);
  EXPECT_EQ(verdict(block), "a link block is cut short");
  EXPECT_EQ(verdict_after([](auto& h) { --h.data_bytes; }),
            "the data of a link block have another length");
  EXPECT_EQ(verdict_after([](auto& h) { --h.data_bytes; }, plain_sample()),
            "the data of a link block have another length");
}

// spec: links.md#link-block rule 3
TEST(LinkBlock, RejectsPaddingThatIsNotZero) {
  const Bytes block = link_block({{3, {1}}});
  EXPECT_EQ(verdict(with(block, block.size() - 1, std::uint8_t{1})),
            "padding of a link block is not zero");
}

// spec: links.md#link-block rule 5
TEST(LinkBlock, RejectsGapsThatAreAllZero) {
  LinkBlockHeader header{7, 2, 0, 0, 1, kLinkPageGaps};
  Bytes block = bytes_of_struct(header);
  block.resize(block.size() + 8);
  EXPECT_EQ(verdict(block), "page gaps of a link block are all zero");
}

// spec: links.md#link-block rule 6
TEST(LinkBlock, RejectsPagesOutOfRange) {
  constexpr auto kText = "a page of a link block is out of range";
  EXPECT_EQ(verdict_after([](auto& h) { h.first_page = kPageMax; }), kText);
  // In the plain sample the gaps of pages come first.
  const Bytes block = link_block(plain_sample());
  EXPECT_EQ(verdict(with(block, 24, ~std::uint64_t{0})), kText);
  EXPECT_EQ(verdict(with(block, 32, kPageMax)), kText);
}

// spec: links.md#link-block rule 7
TEST(LinkBlock, RejectsDegreesThatDoNotAddUp) {
  constexpr auto kText = "the rows of a link block have another number of links";
  const Bytes block = link_block(plain_sample());
  EXPECT_EQ(verdict(with(block, 40, std::uint64_t{2})), kText);
  EXPECT_EQ(verdict(with(block, 40, ~std::uint64_t{0})), kText);
  EXPECT_EQ(verdict_after([](auto& h) { --h.link_count; }), kText);
}

// spec: links.md#link-block rule 8
TEST(LinkBlock, RejectsLinksOutOfRange) {
  constexpr auto kText = "a link is out of range";
  // A row of page 3 whose first link is 2 below it, then 5 below it.
  Bytes block = link_block({{3, {1}}});
  EXPECT_EQ(verdict(with(block, 27, std::uint8_t{5})), "accepted");
  EXPECT_EQ(verdict(with(block, 27, std::uint8_t{7})), kText);
  block = link_block({{kPageMax - 1, {kPageMax - 5, kPageMax - 1}}});
  EXPECT_EQ(verdict(with(block, 28, std::uint8_t{4})), "accepted");
  EXPECT_EQ(verdict(with(block, 28, std::uint8_t{5})), kText);
  block = link_block(plain_sample());
  const std::size_t first = 24 + 5 * 8;
  EXPECT_EQ(verdict(with(block, first, ~std::uint64_t{0})), kText);
  EXPECT_EQ(verdict(with(block, first + 8, kPageMax)), kText);
  EXPECT_EQ(verdict(with(block, first + 8, ~std::uint64_t{0} - 3)), kText);
}

TEST(LinkBlock, RejectsLinksThatAreAboveTheHighest) {
  const std::uint64_t far = std::uint64_t{1} << 39;  // plain numbers
  for (const std::uint64_t highest : {std::uint64_t{9}, far}) {
    const Bytes block = link_block({{1, {4, highest}}, {2, {3}}});
    LinkRows rows;
    EXPECT_EQ(text_of(decode_link_block(block, rows, highest)), "accepted");
    EXPECT_EQ(text_of(decode_link_block(block, rows, highest - 1)), "a link is out of range");
  }
}

TEST(LinkBlock, AcceptsNoBlockThatIsCutShort) {
  for (const Rows& rows : {sample(), plain_sample()}) {
    Bytes block = link_block(rows);
    while (!block.empty()) {
      block.pop_back();
      EXPECT_NE(verdict(block), "accepted") << block.size();
    }
  }
}

TEST(LinkBlock, KeepsItsRulesInWhateverItAccepts) {
  SeededRandom random;
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes block = link_block(round % 2 == 0 ? sample() : plain_sample());
    for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
      block[random.below(block.size())] = static_cast<std::byte>(random.next());
    }
    LinkRows rows;
    if (!decode_link_block(block, rows)) continue;
    ++accepted;
    for (std::size_t row = 0; row < rows.row_count(); ++row) {
      ASSERT_TRUE(row == 0 || rows.page(row) > rows.page(row - 1));
      ASSERT_LE(rows.page(row), kPageMax);
      const auto links = rows.links(row);
      for (std::size_t i = 0; i < links.size(); ++i) {
        ASSERT_LE(links[i], kPageMax);
        ASSERT_TRUE(i == 0 || links[i] > links[i - 1]);
      }
    }
  }
  EXPECT_GT(accepted, 1'000);
}

TEST(LinkBlock, FindsTheRowOfAPage) {
  LinkRows rows;
  ASSERT_TRUE(decode_link_block(link_block(sample()), rows));
  EXPECT_EQ(rows.find(15), 2u);
  EXPECT_EQ(rows.find(900), 3u);
  EXPECT_EQ(rows.find(12), rows.row_count());
  EXPECT_EQ(rows.find(901), rows.row_count());
}

}  // namespace
}  // namespace crawlstore::format
