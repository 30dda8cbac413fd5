// SPDX-License-Identifier: Apache-2.0
#include "format/origin_index.h"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/origin_samples.h"
#include "format/spec_text.h"
#include "pages/page_content.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

constexpr std::size_t kFooter = sizeof(OriginFooter);

OriginFooter footer_of(const Bytes& run) {
  return load_struct<OriginFooter>(run.data() + run.size() - kFooter);
}

/// The fault of a run, or "accepted".
std::string verdict(const Bytes& run) {
  return text_of(pages::check_origin_run(container::payload_in_memory(run),
                                         [](std::uint64_t) { return Result<void>{}; }));
}

template <class Change>
std::string with_footer(Bytes run, Change change) {
  auto footer = footer_of(run);
  change(footer);
  store_struct(run.data() + run.size() - kFooter, footer);
  return verdict(run);
}

TEST(OriginIndex, IsAcceptedAsItWasEncoded) {
  for (const std::size_t count : {1u, 2u, 63u, 64u, 65u, 128u, 1000u}) {
    for (const std::uint64_t first_page : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
      const Bytes run = origin_run(site_pages(count, first_page), first_page);
      const auto content = pages::check_origin_run(container::payload_in_memory(run),
                                                   [](std::uint64_t) { return Result<void>{}; });
      ASSERT_TRUE(content) << content.error().text;
      const auto& origins = dynamic_cast<const pages::OriginContent&>(**content);
      EXPECT_EQ(origins.record_count, count);
      EXPECT_EQ(origins.page_min, first_page);
      EXPECT_EQ(origins.page_max, first_page + count - 1);
      EXPECT_EQ(footer_of(run).block_count, (count + 63) / 64);
    }
  }
}

TEST(OriginIndex, IsEmptyForOneBlock) {
  const auto footer = footer_of(origin_run(site_pages(64), 0));
  EXPECT_EQ(entry_bytes(footer), 0u);
}

TEST(OriginIndex, EndsAtTheLastPageThereCanBe) {
  const std::uint64_t first_page = ~std::uint64_t{0} - 3;
  EXPECT_EQ(verdict(origin_run(site_pages(3, first_page), first_page)), "accepted");
  EXPECT_EQ(verdict(origin_run(site_pages(4, first_page - 1), first_page - 1)), "accepted");
  EXPECT_EQ(with_footer(origin_run(site_pages(4, first_page - 1), first_page - 1),
                        [](auto& f) { ++f.first_page; }),
            "the page count of an origin run is out of range");
}

// spec: pages.md#origin-runs rule 1
TEST(OriginIndex, RejectsFootersOutOfRange) {
  const Bytes run = origin_run(site_pages(300), 0);
  EXPECT_EQ(with_footer(run, [](auto&) {}), "accepted");
  EXPECT_EQ(with_footer(run, [](auto& f) { f.magic ^= 1; }),
            "the magic number of an origin run is wrong");
  constexpr auto kCodec = "the codec or reserved bytes of an origin run are wrong";
  EXPECT_EQ(with_footer(run, [](auto& f) { f.codec = 2; }), kCodec);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.reserved = 1; }), kCodec);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.codec = 0; }),
            "a block of origins has a stored length that cannot be");
  constexpr auto kLength = "the length of an origin run is out of range";
  EXPECT_EQ(verdict(Bytes(8)), kLength);
  Bytes longer = run;
  longer.insert(longer.begin(), std::byte{0});
  EXPECT_EQ(verdict(longer), kLength);
  for (std::size_t i = 0; i < 7; ++i) longer.insert(longer.begin(), std::byte{0});
  EXPECT_EQ(verdict(longer), "the index of an origin run is out of place");
}

// spec: pages.md#origin-runs rule 2
TEST(OriginIndex, RejectsCountsOutOfRange) {
  const Bytes run = origin_run(site_pages(300), 0);
  constexpr auto kBlocks = "the block count of an origin run is out of range";
  constexpr auto kPages = "the page count of an origin run is out of range";
  constexpr auto kOther = "the blocks of an origin run are not those that its footer counts";
  EXPECT_EQ(with_footer(run, [](auto& f) { f.block_count = 0; }), kBlocks);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.block_count = ~std::uint64_t{0}; }), kBlocks);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.page_count = 4; }), kPages);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.page_count = 64 * 5 + 1; }), kPages);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.page_count = 301; }), kOther);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.page_count = 299; }), kOther);
  EXPECT_EQ(with_footer(run, [](auto& f) { ++f.url_bytes; }),
            "the URLs of an origin run have another length than its footer says");
  EXPECT_EQ(with_footer(run, [](auto& f) { f.url_bytes = ~std::uint64_t{0}; }),
            "the URLs of an origin run have a length that cannot be");
}

// spec: pages.md#origin-runs rule 3
TEST(OriginIndex, RejectsADictionaryThatCannotBe) {
  const Bytes dictionary = bytes_of("http://site.test/section/page");
  const Bytes run = origin_run(site_pages(300), 0, dictionary);
  EXPECT_EQ(with_footer(run, [](auto&) {}), "accepted");
  constexpr auto kLength = "the dictionary of an origin run has a length that cannot be";
  EXPECT_EQ(with_footer(run, [](auto& f) { f.dictionary_bytes = 65537; }), kLength);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.codec = 0; }), kLength);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.dictionary_bytes = 65536; }),
            "the index of an origin run is out of place");
  EXPECT_NE(with_footer(run, [](auto& f) { --f.dictionary_bytes; }), "accepted");
  EXPECT_NE(with_footer(run, [](auto& f) { f.dictionary_bytes = 0; }), "accepted");
}

// spec: pages.md#origin-runs rule 4
TEST(OriginIndex, RejectsAnIndexOutOfPlace) {
  const Bytes run = origin_run(site_pages(300), 0);
  constexpr auto kPlace = "the index of an origin run is out of place";
  EXPECT_EQ(with_footer(run, [](auto& f) { f.index_offset_bytes -= 8; }), kPlace);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.index_offset_bytes += 8; }), kPlace);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.index_offset_bytes = ~std::uint64_t{0}; }), kPlace);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.entry_page_bytes = 8; }), kPlace);
  EXPECT_EQ(with_footer(run, [](auto& f) { f.entry_offset_bytes = 9; }),
            "the index of an origin run has numbers that are too long");
}

// spec: pages.md#origin-runs rule 5
TEST(OriginIndex, RejectsEntriesThatAreNotOfTheirBlocks) {
  const Bytes run = origin_run(site_pages(300), 0);
  const auto footer = footer_of(run);
  for (std::uint64_t i = 0; i < footer.block_count; ++i) {
    const Extent place = origin_entry_place(footer, i);
    for (std::uint64_t byte = 0; byte < place.length_bytes; ++byte) {
      Bytes other = run;
      other[place.offset_bytes + byte] ^= std::byte{1};
      EXPECT_EQ(verdict(other), "an entry in the index of an origin run is not that of its block");
    }
  }
}

// spec: pages.md#origin-runs rule 5
TEST(OriginIndex, RejectsNumbersThatAreWiderThanTheyMustBe) {
  const Bytes run = origin_run(site_pages(65), 0);
  const auto footer = footer_of(run);
  ASSERT_EQ(footer.entry_page_bytes, 1);
  ASSERT_EQ(footer.entry_offset_bytes, 2);
  Bytes wide(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(footer.index_offset_bytes));
  auto wider = footer;
  wider.entry_offset_bytes = 3;
  for (std::uint64_t i = 0; i < 2; ++i) {
    const Extent place = origin_entry_place(footer, i);
    const auto entry = run.begin() + static_cast<std::ptrdiff_t>(place.offset_bytes);
    wide.insert(wide.end(), entry, entry + 3);
    wide.push_back({});
  }
  wide.resize(round_up(wide.size(), 8) + kFooter);
  store_struct(wide.data() + wide.size() - kFooter, wider);
  EXPECT_EQ(verdict(wide), "the index of an origin run is wider than it must be");
}

// spec: pages.md#origin-runs rule 6
TEST(OriginIndex, RejectsPaddingThatIsNotZero) {
  for (const std::size_t count : {65u, 66u, 67u, 68u, 69u, 70u, 71u, 72u}) {
    const Bytes run = origin_run(site_pages(count), 0);
    const auto footer = footer_of(run);
    for (std::size_t at = origin_index_end(footer); at < run.size() - kFooter; ++at) {
      Bytes other = run;
      other[at] = std::byte{1};
      EXPECT_EQ(verdict(other), "padding of an origin run is not zero");
    }
  }
}

// spec: pages.md#origin-runs rule 11
TEST(OriginIndex, IsReadFromTheVectors) {
  const auto rows = table_after(source_text("spec/vectors.md"), "so this payload is for reading");
  ASSERT_EQ(rows.size(), 1u);
  Bytes run;
  std::istringstream digits(rows[0].at(1));
  for (std::string byte; digits >> byte;) {
    run.push_back(static_cast<std::byte>(std::stoi(byte, nullptr, 16)));
  }
  EXPECT_EQ(verdict(run), "accepted");
  auto decoder = OriginBlockDecoder::make(OriginCodec::kZstd, {}).value();
  ASSERT_TRUE(decoder.decode(run, footer_of(run).first_page));
  EXPECT_EQ(Page::of(decoder.origin(0)), (Page{"http://h.test/", {}, 0}));
  EXPECT_EQ(Page::of(decoder.origin(1)), (Page{"http://h.test/" + std::string(60, 'a'), 8, 1}));
}

TEST(OriginIndex, SurvivesEveryFlippedBit) {
  const Bytes run = origin_run(site_pages(130), 5);
  std::size_t rejected = 0;
  for (std::size_t bit = 0; bit < run.size() * 8; ++bit) {
    Bytes flipped = run;
    flipped[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    rejected += verdict(flipped) == "accepted" ? 0 : 1;
  }
  EXPECT_GT(rejected, kFooter * 8 / 2);
}

}  // namespace
}  // namespace crawlstore::format
