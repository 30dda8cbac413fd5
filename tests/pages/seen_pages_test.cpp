// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/drum_view.h>
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

/// The keys of pages are in a DRUM of the name of their database, also before the first commit.
TEST(SeenPages, HaveNotTheNameOfADatabase) {
  for (const bool pages_first : {true, false}) {
    MemoryStore store;
    if (pages_first) {
      auto pages = must(PageDb::open(*store, "web"));
      EXPECT_EQ(UrlSeen::open(*store, "web").error().code, Errc::kTypeMismatch);
      must(pages.add(CrawledPage("http://a.test/", 1)));
    } else {
      auto seen = must(UrlSeen::open(*store, "web"));
      EXPECT_EQ(PageDb::open(*store, "web").error().code, Errc::kTypeMismatch);
      must(seen.insert("http://a.test/"));
    }
    must(store->commit());
    EXPECT_EQ(must(list_drums(must(store->snapshot()))).size(), 1U);
  }
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

UrlNormalizer without_session() {
  return {"no session", [](std::string_view url, std::string& out) {
            out = url.substr(0, url.find("?sid="));
            return true;
          }};
}

TEST(SeenPages, AreAskedWhereTheyAreNormalisedAlike) {
  MemoryStore store;
  PagesOptions pages_options;
  pages_options.normalizer = without_session();
  auto pages = must(PageDb::open(*store, "own", pages_options));
  must(pages.add(CrawledPage("http://a.test/?sid=1", 1)));
  must(pages.merge());
  must(must(PageDb::open(*store, "graph", {.has_urls = false})).close());
  {
    UrlSeen::Options options;
    options.normalizer = without_session();
    auto seen = must(UrlSeen::open(*store, "alike", options));
    EXPECT_TRUE(must(seen.contains("http://a.test/?sid=2")));
    EXPECT_FALSE(must(seen.insert("http://a.test/?sid=3")));
    auto other = must(UrlSeen::open(*store, "other"));
    EXPECT_TRUE(must(other.insert("http://a.test/")));
    must(other.drum().merge());
    must(seen.drum().merge());
  }
  EXPECT_EQ(pages.forget([](auto) { return true; }, {.seen = {{"other"}}}).error().code,
            Errc::kTypeMismatch);
  EXPECT_EQ(must(pages.forget([](auto) { return true; })).seen_count, 1U);
}

TEST(SeenPages, AreThereWhenTheirMergeHasReturned) {
  MemoryStore store(std::uint64_t{1} << 28);
  auto pages = must(PageDb::open(*store));
  constexpr int kPages = 300;
  const auto url_of = [](int i) { return "http://a.test/" + std::to_string(i); };
  std::atomic<int> merged = 0;
  std::atomic<int> missed = 0;
  const auto ask = [&] {
    auto seen = must(UrlSeen::open(*store));
    while (true) {
      const int last = merged;
      if (last != 0 && !must(seen.contains(url_of(last)))) ++missed;
      if (last == kPages) return;
    }
  };
  std::thread first(ask);
  std::thread second(ask);
  for (int i = 1; i <= kPages; ++i) {
    must(pages.add(CrawledPage(url_of(i), 1)));
    must(pages.merge());
    merged = i;
  }
  first.join();
  second.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace crawlstore::testing
