// SPDX-License-Identifier: Apache-2.0
#include "format/pages_table.h"

#include <functional>

#include <gtest/gtest.h>

namespace crawlstore::format {
namespace {

PagesTable sample() {
  PagesTable table;
  table.page_count = 100;
  table.crawled_count = 40;
  table.link_count = 250;
  table.event_count = 3;
  table.superstep_count = 7;
  table.collision_count = 1;
  table.unparsed_count = 2;
  table.elsewhere_count = 60;
  table.keys = {2};
  table.origins = {3};
  table.records = {4};
  table.out_links = {5};
  table.in_links = {6};
  table.gone_links = {7};
  table.events = {8};
  table.normalizer = "my own";
  table.has_contents = true;
  table.contents = {9};
  return table;
}

TEST(PagesTable, RoundTrips) {
  PagesTable empty;
  empty.keys = {9};
  PagesTable indexes;
  indexes.has_urls = false;
  for (const PagesTable& table : {sample(), empty, indexes}) {
    const auto bytes = encode_pages_table(table);
    EXPECT_EQ(bytes.size() % 8, 0U);
    const auto parsed = parse_pages_table(bytes);
    ASSERT_TRUE(parsed) << describe(parsed.error());
    EXPECT_EQ(*parsed, table);
  }
  PagesTable unnamed = sample();
  unnamed.has_urls = false;
  unnamed.keys = unnamed.origins = {};
  unnamed.normalizer.clear();
  EXPECT_TRUE(parse_pages_table(encode_pages_table(unnamed)));
}

/// pages.md#pages rule 1
TEST(PagesTable, RefusesNormalizersThatAreNotValid) {
  PagesTable table = sample();
  table.normalizer = "a\x7F";
  EXPECT_FALSE(parse_pages_table(encode_pages_table(table)));
  table = sample();
  table.has_urls = false;
  table.keys = table.origins = {};
  const auto parsed = parse_pages_table(encode_pages_table(table));
  ASSERT_FALSE(parsed);
  EXPECT_STREQ(parsed.error().text, "pages without URLs have a normaliser");
}

/// pages.md#pages rules 2 to 4
TEST(PagesTable, RefusesWhatContradictsItself) {
  const std::vector<std::function<void(PagesTable&)>> faults{
      [](auto& t) { t.page_count = kPagesMax + 1; },
      [](auto& t) { t.crawled_count = t.page_count + 1; },
      [](auto& t) { t.elsewhere_count = t.page_count - t.crawled_count + 1; },
      [](auto& t) { t.elsewhere_count = ~std::uint64_t{0}; },
      [](auto& t) { t.has_contents = false; },
      [](auto& t) { t.contents = t.records; },
      [](auto& t) { t.keys = {}; },
      [](auto& t) {
        t.has_urls = false;
        t.normalizer.clear();
      },
      [](auto& t) { t.origins = {}; },
      [](auto& t) { t.records = {}; },
      [](auto& t) { t.events = {}; },
      [](auto& t) { t.event_count = 0; },
      [](auto& t) { t.out_links = {}; },
      [](auto& t) { t.in_links = {}; },
      [](auto& t) { t.gone_links = t.keys; },
      [](auto& t) {
        t.page_count = t.crawled_count = t.elsewhere_count = 0;
        t.origins = t.records = {};
      },
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    PagesTable table = sample();
    faults[i](table);
    const auto parsed = parse_pages_table(encode_pages_table(table));
    ASSERT_FALSE(parsed) << i;
    EXPECT_EQ(parsed.error().code, Errc::kSegmentInvalid);
  }
}

TEST(PagesTable, SurvivesHostileBytes) {
  const auto bytes = encode_pages_table(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    (void)parse_pages_table(std::span(bytes).first(length));
  }
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    auto flipped = bytes;
    flipped[i / 8] ^= static_cast<std::byte>(1U << (i % 8));
    (void)parse_pages_table(flipped);  // some are another whole table
  }
}

}  // namespace
}  // namespace crawlstore::format
