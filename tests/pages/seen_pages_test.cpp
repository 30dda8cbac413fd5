// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/url_seen.h>

#include "pages/page_words.h"

namespace crawlstore::testing {
namespace {

PageDb pages_with(Store& store, const char* url, const char* link) {
  auto pages = must(PageDb::open(store));
  CrawledPage page(url, 1);
  page.add_link(link);
  must(pages.add(page));
  must(pages.merge());
  return pages;
}

TEST(SeenPages, ArePartOfTheOneMemory) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  EXPECT_FALSE(must(seen.contains("http://a.test/")));
  auto pages = pages_with(*store, "http://a.test/", "http://b.test/");
  EXPECT_TRUE(must(seen.contains("HTTP://A.test/#x"))) << "as of the last commit";
  EXPECT_FALSE(must(seen.insert("http://b.test/")));
  EXPECT_TRUE(must(seen.insert("http://c.test/")));
  must(seen.check_update("http://a.test/"));
  must(seen.check_update("http://d.test/"));
  const auto report = must(seen.drum().merge());
  EXPECT_EQ(report.duplicate_count, 1U);
  EXPECT_TRUE(must(seen.contains("http://d.test/")));
}

TEST(SeenPages, AreNotAskedWhereTheyAreNotWanted) {
  MemoryStore store;
  auto pages = pages_with(*store, "http://a.test/", "http://b.test/");
  UrlSeen::Options options;
  options.with_pages = false;
  auto seen = must(UrlSeen::open(*store, "urls", options));
  EXPECT_FALSE(must(seen.contains("http://a.test/")));
  EXPECT_TRUE(must(seen.insert("http://a.test/")));
}

TEST(SeenPages, AreNewAgainWhenTheyAreForgotten) {
  MemoryStore store;
  auto pages = pages_with(*store, "http://a.test/", "http://b.test/");
  {
    auto seen = must(UrlSeen::open(*store));
    EXPECT_FALSE(must(seen.insert("http://a.test/")));
    must(seen.drum().merge());
  }
  const auto report =
      must(pages.forget([](std::string_view url) { return url == "http://a.test/"; }));
  EXPECT_EQ(report.seen_count, 1U);
  auto seen = must(UrlSeen::open(*store));
  EXPECT_FALSE(must(seen.insert("http://b.test/")));
  EXPECT_TRUE(must(seen.insert("http://a.test/")));
}

TEST(SeenPages, AreFoundByTheFormOfTheirDatabase) {
  MemoryStore store;
  PagesOptions raw;
  raw.normalizer = UrlNormalizer::raw();
  auto pages = must(PageDb::open(*store, "raw", raw));
  must(pages.add(CrawledPage("HTTP://a.test", 1)));
  must(pages.merge());
  must(must(PageDb::open(*store, "graph", {.has_urls = false})).close());
  auto seen = must(UrlSeen::open(*store));
  EXPECT_TRUE(must(seen.contains("HTTP://a.test")));
  EXPECT_FALSE(must(seen.contains("http://a.test/")));
}

}  // namespace
}  // namespace crawlstore::testing
