// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/url_seen.h>

#include "pages/page_model.h"
#include "pages/page_words.h"

namespace crawlstore::testing {
namespace {

PagesOptions small_options() {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 4;
  options.bucket_keys_max = 50;
  return options;
}

void add(PageDb& pages, const Edit& edit) {
  must(edit.as_event([&](const CrawlEvent& event) { return pages.add(event); }));
}

bool is_of_host(std::string_view url, int host) {
  return url.starts_with("http://host" + std::to_string(host) + ".example/");
}

std::set<std::uint64_t> without(const std::set<std::uint64_t>& links,
                                const std::set<std::uint64_t>& gone) {
  std::set<std::uint64_t> left;
  std::set_difference(links.begin(), links.end(), gone.begin(), gone.end(),
                      std::inserter(left, left.end()));
  return left;
}

TEST(Forget, TakesPagesOutOfEverything) {
  MemoryStore store;
  PageModel model;
  RandomCrawl crawl(5);
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  for (int i = 0; i < 400; ++i) {
    const Edit edit = crawl.next();
    model.apply(edit);
    add(pages, edit);
    if (i % 60 == 59) must(pages.merge());
  }
  // Some edits still wait, and name pages that are forgotten.
  std::set<std::uint64_t> gone;
  for (std::uint64_t index = 0; index < model.pages().size(); ++index) {
    if (is_of_host(model.pages()[index].url, 2)) gone.insert(index);
  }
  ASSERT_GT(gone.size(), 10U);
  const auto report = must(pages.forget([](std::string_view url) { return is_of_host(url, 2); }));
  EXPECT_EQ(report.page_count, gone.size());
  EXPECT_EQ(pages.status().edit_count, 0U);

  const PageView view = view_of(*store);
  ASSERT_EQ(view.info().page_count, model.pages().size());
  std::uint64_t link_count = 0;
  std::uint64_t crawled_count = 0;
  for (std::uint64_t index = 0; index < model.pages().size(); ++index) {
    const auto& expected = model.pages()[index];
    const PageInfo page = must(view.page(index));
    if (gone.contains(index)) {
      EXPECT_EQ(page.url, "");
      EXPECT_EQ(page.state, PageState::kGone);
      EXPECT_EQ(page.crawl_count, 0U);
      EXPECT_TRUE(page.content_hash.empty());
      EXPECT_EQ(must(view.find_text(expected.url)), std::nullopt);
      EXPECT_TRUE(must(view.out_links(index)).empty());
      EXPECT_TRUE(must(view.in_links(index)).empty());
      continue;
    }
    EXPECT_EQ(page.url, expected.url);
    EXPECT_EQ(page.crawl_count, expected.crawl_count);
    EXPECT_EQ(must(view.find_text(expected.url)), index);
    EXPECT_EQ(must(view.out_links(index)), as_vector(without(expected.out, gone)));
    EXPECT_EQ(must(view.in_links(index)), as_vector(without(expected.in, gone)));
    link_count += without(expected.out, gone).size();
    crawled_count += expected.crawl_count != 0 ? 1 : 0;
  }
  EXPECT_EQ(view.info().link_count, link_count);
  EXPECT_EQ(report.link_count, model.link_count() - link_count);
  EXPECT_EQ(view.info().crawled_count, crawled_count);
  expect_whole(store);

  // Pages that come up again are new, and the rest goes on.
  const std::string url = model.pages()[*gone.begin()].url;
  must(pages.add(CrawledPage(url, 5)));
  must(pages.merge());
  EXPECT_EQ(must(view_of(*store).find_text(url)), model.pages().size());
  expect_whole(store);
}

TEST(Forget, MakesSeedsOfPagesThatAForgottenOneLinkedToFirst) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  for (int i = 0; i < 4; ++i) {
    CrawledPage page("http://a.org/" + std::to_string(i), 1);
    page.add_link("http://a.org/" + std::to_string(i + 1));
    must(pages.add(page));
  }
  must(pages.forget([](std::string_view url) { return url == "http://a.org/1"; }));
  const auto origin = [&](std::uint64_t index) {
    const PageInfo page = must(view_of(*store).page(index));
    return std::pair(page.linked_from, page.depth);
  };
  EXPECT_EQ(origin(0), std::pair(std::optional<std::uint64_t>(), 0U));
  EXPECT_EQ(origin(2), std::pair(std::optional<std::uint64_t>(), 0U));
  EXPECT_EQ(origin(4), std::pair(std::optional<std::uint64_t>(3), 2U));
  expect_whole(store);
}

TEST(Forget, ChangesNothingWhereNothingIsMeant) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  EXPECT_EQ(must(pages.forget([](std::string_view) { return true; })).page_count, 0U);
  must(pages.add(CrawledPage("http://a.org/", 1)));
  must(pages.merge());
  const std::uint64_t superstep_count = view_of(*store).info().superstep_count;
  EXPECT_EQ(must(pages.forget([](std::string_view) { return false; })).page_count, 0U);
  EXPECT_EQ(view_of(*store).info().superstep_count, superstep_count);
  EXPECT_EQ(must(pages.forget([](std::string_view) { return true; })).page_count, 1U);
  EXPECT_EQ(must(pages.forget([](std::string_view) { return true; })).page_count, 0U);
  expect_whole(store);
}

/// 100 bytes long: 6,000 of them are more than what a dictionary of URLs begins with.
std::string long_url(std::string_view host, std::uint64_t number) {
  std::string url = "http://" + std::string(host) + "/" + std::to_string(number) + "/";
  return url.append(100 - url.size(), static_cast<char>('a' + number % 26));
}

void add_pages(PageDb& pages, std::string_view host, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t i = begin; i < end; ++i) must(pages.add(CrawledPage(long_url(host, i), 1)));
}

/// The pages [begin, begin + count) of 6,000 are forgotten; more supersteps follow, until runs of
/// origins are joined, and compaction.
void forget_neighbours(std::uint64_t begin, std::uint64_t count) {
  constexpr std::uint64_t kPages = 6000;
  constexpr std::uint64_t kSupersteps = 33;
  SCOPED_TRACE(std::to_string(count) + " from " + std::to_string(begin));
  MemoryStore store;
  PagesOptions options = small_options();
  options.bucket_keys_max = 2000;
  auto pages = must(PageDb::open(*store, "pages", options));
  add_pages(pages, "b.test", 0, begin);
  add_pages(pages, "a.test", begin, begin + count);
  add_pages(pages, "b.test", begin + count, kPages);
  must(pages.merge());
  const auto is_meant = [](std::string_view url) { return url.starts_with("http://a.test/"); };
  EXPECT_EQ(must(pages.forget(is_meant)).page_count, count);
  for (std::uint64_t step = 0; step < kSupersteps; ++step) {
    add_pages(pages, "c.test", 10 * step, 10 * step + 10);
    must(pages.merge());
    if (step == 8) must(pages.compact());
  }
  must(pages.compact());
  must(pages.close());
  must(store->compact());
  expect_whole(store);
  const PageView view = view_of(*store);
  ASSERT_EQ(view.info().page_count, kPages + 10 * kSupersteps);
  for (std::uint64_t i = 0; i < kPages; ++i) {
    const bool is_gone = i >= begin && i < begin + count;
    ASSERT_EQ(must(view.url(i)), is_gone ? "" : long_url("b.test", i)) << i;
  }
  EXPECT_EQ(must(view.find_text(long_url("c.test", 7))), kPages + 7);
}

TEST(Forget, TakesNeighboursThatFillBlocksOfUrls) {
  for (const std::uint64_t count : {1U, 63U, 64U, 65U, 128U}) {
    forget_neighbours(0, count);
    forget_neighbours(7 * 64, count);
    forget_neighbours(11 * 64 + 1, count);
  }
  forget_neighbours(0, 6000);
}

TEST(Forget, LowersTheCountOfUnparsedUrls) {
  for (const bool raw : {false, true}) {
    MemoryStore store;
    auto options = small_options();
    if (raw) options.normalizer = UrlNormalizer::raw();
    auto pages = must(PageDb::open(*store, "pages", options));
    for (int crawl = 0; crawl < 3; ++crawl) {
      for (const char* url : {"http://a org/space", "http://another org/space", "mailto:a@b.org",
                              "http://a.org/", "no URL"}) {
        must(pages.add(CrawledPage(url, 1)));
      }
      must(pages.merge());
      EXPECT_EQ(pages.status().unparsed_count, 3U) << "mailto: has no host, but is parsed";
    }
    must(pages.forget([](std::string_view url) { return url.ends_with("space"); }));
    EXPECT_EQ(pages.status().unparsed_count, 1U);
    must(pages.add(CrawledPage("http://a org/space", 1)));
    must(pages.merge());
    EXPECT_EQ(view_of(*store).info().unparsed_count, 2U);
    must(pages.forget([](std::string_view) { return true; }));
    EXPECT_EQ(view_of(*store).info().unparsed_count, 0U);
  }
}

TEST(Forget, TakesUrlsOutOfTheSeenOnes) {
  for (const UrlKeyKind kind : {UrlKeyKind::kXxh3, UrlKeyKind::kXxh3Wide, UrlKeyKind::kRabin}) {
    MemoryStore store;
    auto pages = must(PageDb::open(*store, "pages", small_options()));
    UrlSeen::Options seen_options;
    seen_options.key = kind;
    {
      auto seen = must(UrlSeen::open(*store, "urls", seen_options));
      for (int i = 0; i < 100; ++i) {
        const std::string url =
            "http://host" + std::to_string(i % 3) + ".example/" + std::to_string(i);
        must(seen.check_update(url));
        must(pages.add(CrawledPage(url, 1)));
      }
      must(seen.drum().merge());
      const auto refused =
          pages.forget([](std::string_view) { return true; }, {.seen = {{"urls"}}});
      EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);  // it is open
    }
    const auto report = must(pages.forget([](std::string_view url) { return is_of_host(url, 1); },
                                          {.seen = {{"urls"}}}));
    EXPECT_EQ(report.page_count, 33U);
    EXPECT_EQ(report.seen_count, 33U);
    auto seen = must(UrlSeen::open(*store, "urls", seen_options));
    EXPECT_FALSE(must(seen.contains("http://host1.example/1")));
    EXPECT_TRUE(must(seen.contains("http://host0.example/0")));
    expect_whole(store);
  }
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  must(pages.add(CrawledPage("http://a.org/", 1)));
  EXPECT_EQ(pages.forget([](std::string_view) { return true; }, {.seen = {{"none"}}}).error().code,
            Errc::kUnknownName);
  EXPECT_EQ(view_of(*store).info().page_count, 1U);
  EXPECT_EQ(must(view_of(*store).find("http://a.org/")), 0U);
}

/// A new copy of all keys and URLs comes beside the old one; links that stay are not copied, and
/// little more is reserved than is written.
TEST(Forget, TakesNoMoreRoomThanThePagesHaveNow) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  Random random(3);
  const auto url_of = [](std::uint64_t page) {
    return "http://documentation.example/reference/manual/page-" + std::to_string(page) + ".html";
  };
  for (std::uint64_t page = 0; page < 20'000; ++page) {
    CrawledPage crawled(url_of(page), 1);
    for (int i = 0; i < 20; ++i) crawled.add_link(url_of(page - page % 50 + random.below(50)));
    must(pages.add(crawled));
  }
  must(pages.compact());
  must(store->compact());
  const std::uint64_t before = store->file_bytes();
  const auto report =
      must(pages.forget([](std::string_view url) { return url.ends_with("50.html"); }));
  EXPECT_EQ(report.page_count, 200U);
  EXPECT_LT(store->file_bytes(), 2 * before + 256 * 1024);
  expect_whole(store);
}

}  // namespace
}  // namespace crawlstore::testing
