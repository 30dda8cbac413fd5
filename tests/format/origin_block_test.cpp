// SPDX-License-Identifier: Apache-2.0
#include "format/origin_block.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/origin_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

constexpr std::size_t kHeader = sizeof(OriginBlockHeader);

/// The block of all these pages; they must fit.
Bytes block_of(const Pages& pages, std::uint64_t first_page = 0, bool compresses = true) {
  FrameCompressor compressor({}, 6);
  OriginBatch batch(first_page);
  for (const Page& page : pages) {
    EXPECT_TRUE(batch.has_room(page.url.size()));
    batch.add(page.origin());
  }
  Bytes block;
  batch.encode(compresses ? &compressor : nullptr, block);
  return block;
}

OriginBlockDecoder decoder(OriginCodec codec = OriginCodec::kZstd) {
  return OriginBlockDecoder::make(codec, {}).value();
}

Pages pages_of(const OriginBlockDecoder& decoder) {
  Pages pages;
  for (std::size_t i = 0; i < decoder.page_count(); ++i) {
    pages.push_back(Page::of(decoder.origin(i)));
  }
  return pages;
}

/// The fault of a block, or "accepted".
std::string verdict(const Bytes& block, std::uint64_t first_page = 0,
                    OriginCodec codec = OriginCodec::kZstd) {
  auto reader = decoder(codec);
  const auto decoded = reader.decode(block, first_page);
  EXPECT_EQ(decoded.has_value(), reader.page_count() != 0);
  return text_of(decoded);
}

OriginBlockHeader header_of(const Bytes& block) {
  return load_struct<OriginBlockHeader>(block.data());
}

/// The block with `change` made to its header.
template <class Change>
Bytes changed(Bytes block, Change change) {
  auto header = header_of(block);
  change(header);
  store_struct(block.data(), header);
  return block;
}

TEST(OriginBlock, ReturnsWhatWasEncoded) {
  auto reader = decoder();
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::size_t count = 1 + seed % 64;
    const std::uint64_t first_page = seed % 3 == 0 ? 0 : ~std::uint64_t{0} >> seed % 64;
    const std::uint64_t begin = first_page - std::min<std::uint64_t>(first_page, 64);
    const Pages pages =
        seed % 2 == 0 ? site_pages(count, begin, seed) : odd_pages(count, begin, 2000, seed);
    for (const bool compresses : {false, true}) {
      Bytes block = block_of(pages, begin, compresses);
      const std::size_t length = block.size();
      block.resize(length + seed % 5);  // what follows is not looked at
      ASSERT_TRUE(reader.decode(block, begin)) << seed;
      EXPECT_EQ(pages_of(reader), pages);
      EXPECT_EQ(reader.block_bytes(), length);
      EXPECT_EQ(reader.first_page(), begin);
    }
  }
}

TEST(OriginBlock, CompressesUrlsOfOneSite) {
  const Pages pages = site_pages(64);
  const Bytes block = block_of(pages);
  EXPECT_LT(block.size() * 2, block_of(pages, 0, false).size());
  EXPECT_EQ(verdict(block), "accepted");
  EXPECT_EQ(verdict(block, 0, OriginCodec::kRaw),
            "a block of origins has a stored length that cannot be");
}

TEST(OriginBlock, StoresWhatDoesNotShrink) {
  for (const Pages& pages : {odd_pages(3, 0, 50, 5), Pages(64), Pages{{"a", {}, 0}}}) {
    const auto header = header_of(block_of(pages));
    EXPECT_EQ(header.stored_bytes, header.raw_bytes);
    EXPECT_EQ(verdict(block_of(pages), 0, OriginCodec::kRaw), "accepted");
  }
}

TEST(OriginBlock, TakesAsManyPagesAsItsLimitsAllow) {
  OriginBatch full(0);
  for (std::size_t i = 0; i < kOriginBlockPagesMax; ++i) {
    EXPECT_TRUE(full.has_room(100));
    full.add({"", {}, 0});
  }
  EXPECT_FALSE(full.has_room(0));
  OriginBatch wide(0);
  EXPECT_TRUE(wide.has_room(kUrlBytesMax)) << "one always fits";
  wide.add({"", {}, 0});
  EXPECT_TRUE(wide.has_room(kOriginBlockRawMax - 2 * 3));
  EXPECT_FALSE(wide.has_room(kOriginBlockRawMax - 2 * 3 + 1));
}

TEST(OriginBlock, TakesTheLongestUrl) {
  const Pages longest{{std::string(kUrlBytesMax, 'a'), {}, 0}};
  const Bytes block = block_of(longest);
  EXPECT_EQ(header_of(block).stored_bytes, header_of(block).raw_bytes) << "would grow too much";
  auto reader = decoder();
  ASSERT_TRUE(reader.decode(block, 0));
  EXPECT_EQ(pages_of(reader), longest);
  Pages mixed = longest;
  std::mt19937_64 random(8);
  for (std::size_t i = 0; i < kUrlBytesMax; i += 100) mixed[0].url[i] = static_cast<char>(random());
  const Bytes compressed = block_of(mixed);
  EXPECT_LT(compressed.size(), kUrlBytesMax / 10);
  ASSERT_TRUE(reader.decode(compressed, 0));
  EXPECT_EQ(pages_of(reader), mixed);
}

// spec: pages.md#origin-runs rule 7
TEST(OriginBlock, RejectsHeadersOutOfRange) {
  const Bytes block = block_of(site_pages(10, 100), 100, false);
  const auto with_header = [&](auto change) { return verdict(changed(block, change), 100); };
  EXPECT_EQ(with_header([](auto&) {}), "accepted");
  constexpr auto kCount = "the page count of a block of origins is out of range";
  EXPECT_EQ(with_header([](auto& h) { h.page_count = 0; }), kCount);
  EXPECT_EQ(with_header([](auto& h) { h.page_count = 65; }), kCount);
  constexpr auto kNumber = "a number in the header of a block of origins is out of range";
  EXPECT_EQ(with_header([](auto& h) { h.linked_from_bytes = 9; }), kNumber);
  EXPECT_EQ(with_header([](auto& h) { h.depth_bytes = 5; }), kNumber);
  EXPECT_EQ(with_header([](auto& h) { h.length_bytes = 5; }), kNumber);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(with_header([i](auto& h) { h.reserved[i] = 1; }), kNumber);
  }
}

// spec: pages.md#origin-runs rule 10
TEST(OriginBlock, RejectsLengthsThatCannotBe) {
  const Bytes block = block_of(site_pages(10, 100), 100, false);
  const auto with_lengths = [&](std::uint32_t raw, std::uint32_t stored) {
    return verdict(changed(block,
                           [&](auto& h) {
                             h.raw_bytes = raw;
                             h.stored_bytes = stored;
                           }),
                   100);
  };
  const std::uint32_t length = header_of(block).raw_bytes;
  constexpr auto kRaw = "the URLs of a block of origins have a length that cannot be";
  EXPECT_EQ(with_lengths(kOriginBlockRawMax + 1, length), kRaw);
  EXPECT_EQ(with_lengths(9, 9), kRaw);
  constexpr auto kStored = "a block of origins has a stored length that cannot be";
  EXPECT_EQ(with_lengths(length, length + 1), kStored);
  EXPECT_EQ(with_lengths(256 * 40, 40), kStored) << "it would grow more than 255 times";
  EXPECT_EQ(with_lengths(length, 0), kStored);
  EXPECT_EQ(with_lengths(length, ~std::uint32_t{0}), kStored);
  constexpr auto kSum = "the lengths of URLs do not add up";
  EXPECT_EQ(with_lengths(length - 1, length - 1), kSum);
  EXPECT_EQ(with_lengths(length + 1, length + 1), "a block of origins is cut short");
}

// spec: pages.md#origin-runs rule 8
TEST(OriginBlock, RejectsColumnsThatAreWiderThanTheyMustBe) {
  const Pages pages{{"aa", 3, 5}, {"b", {}, 0}};
  const Bytes block = block_of(pages, 9);
  ASSERT_EQ(block.size(), kHeader + 2 + 2 + 2 + 3);
  const auto widened = [&](std::size_t column, auto change) {
    Bytes wide = changed(block, change);
    const auto place = static_cast<std::ptrdiff_t>(kHeader + 2 * column);
    wide.insert(wide.begin() + place + 1, std::byte{0});
    wide.insert(wide.begin() + place + 3, std::byte{0});
    return verdict(wide, 9);
  };
  constexpr auto kWide = "a column of a block of origins is wider than it must be";
  EXPECT_EQ(verdict(block, 9), "accepted");
  EXPECT_EQ(widened(0, [](auto& h) { h.linked_from_bytes = 2; }), kWide);
  EXPECT_EQ(widened(1, [](auto& h) { h.depth_bytes = 2; }), kWide);
  EXPECT_EQ(widened(2,
                    [](auto& h) {
                      h.length_bytes = 2;
                      h.raw_bytes += 2;
                      h.stored_bytes += 2;
                    }),
            "the lengths of URLs are wider than they must be");
}

// spec: pages.md#origin-runs rule 9
TEST(OriginBlock, RejectsPagesLinkedFromWhereNoneIs) {
  const Pages pages{{"a", {}, 0}, {"b", 0, 1}, {"c", 1, 1}};
  Bytes block = block_of(pages);
  EXPECT_EQ(block[kHeader + 2], std::byte{1});
  block[kHeader + 2] = std::byte{2};
  EXPECT_EQ(verdict(block), "accepted") << "from page 0";
  block[kHeader + 2] = std::byte{3};
  EXPECT_EQ(verdict(block), "a page is linked from one that cannot be");
  EXPECT_EQ(verdict(block, 1), "accepted") << "elsewhere it can";
}

// spec: pages.md#origin-runs rule 11
TEST(OriginBlock, RejectsFramesThatAreBroken) {
  const Bytes block = block_of(site_pages(64));
  const auto stored = header_of(block).stored_bytes;
  const auto frame = block.end() - static_cast<std::ptrdiff_t>(stored);
  Bytes magic = block;
  magic[block.size() - stored] ^= std::byte{1};
  EXPECT_EQ(verdict(magic), "the header of a zstd frame is not one that is allowed");
  Bytes longer(block.begin(), block.end());
  longer.push_back({});
  EXPECT_EQ(verdict(changed(longer, [](auto& h) { ++h.stored_bytes; })),
            "a zstd frame does not end where it should");
  EXPECT_EQ(verdict(changed(block, [](auto& h) { ++h.raw_bytes; })),
            "a zstd frame states another content size than what it is in");
  EXPECT_NE(frame, block.end());
}

TEST(OriginBlock, SurvivesEveryFlippedBitAndEveryCut) {
  const Bytes block = block_of(site_pages(20));
  auto reader = decoder();
  for (std::size_t bit = 0; bit < block.size() * 8; ++bit) {
    Bytes flipped = block;
    flipped[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    const bool is_decoded = reader.decode(flipped, 0).has_value();
    EXPECT_EQ(reader.page_count() != 0, is_decoded);
  }
  for (std::size_t length = 0; length < block.size(); ++length) {
    EXPECT_EQ(text_of(reader.decode(std::span(block).first(length), 0)),
              "a block of origins is cut short");
  }
  EXPECT_TRUE(reader.decode(block, 0));
}

TEST(OriginBlock, RejectsADictionaryThatIsBroken) {
  Bytes broken = bytes_of("\x37\xa4\x30\xec not at all");
  EXPECT_EQ(code_of(OriginBlockDecoder::make(OriginCodec::kZstd, broken)), Errc::kSegmentInvalid);
}

}  // namespace
}  // namespace crawlstore::format
