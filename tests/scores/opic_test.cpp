// SPDX-License-Identifier: Apache-2.0
// covers: P26
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>
#include <crawlstore/transaction.h>

#include "scores/opic_words.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

std::vector<double> cash_of(const Store& store) {
  return values_of(store, "opic_cash");
}
std::vector<double> history_of(const Store& store) {
  return values_of(store, "opic_history");
}

/// OPIC as plainly as can be, of what the public view says.
struct Textbook {
  std::vector<double> cash, history, got;
  std::vector<std::uint32_t> crawls;
  std::vector<std::uint64_t> homes;

  void get(std::uint64_t page, double amount) {
    cash[page] += amount;
    got[page] += amount;
  }
  void update(const PageView& pages) {
    const std::uint64_t known = cash.size();
    for (auto* column : {&cash, &history, &got}) column->resize(pages.info().page_count);
    crawls.resize(cash.size());
    for (std::uint64_t page = known; page < cash.size(); ++page) {
      if (must(pages.page(page)).linked_from) continue;
      homes.push_back(page);
      get(page, 1);
    }
    double rest = 0;
    for (std::uint64_t page = 0; page < cash.size(); ++page) {
      const std::uint32_t count = must(pages.page(page)).crawl_count;
      if (count == crawls[page]) continue;
      crawls[page] = count;
      const double given = std::exchange(cash[page], 0);
      history[page] += given;
      const auto links = must(pages.out_links(page));
      for (const auto link : links) get(link, given / static_cast<double>(links.size()));
      if (links.empty()) rest += given;
    }
    for (const auto home : homes) get(home, rest / static_cast<double>(homes.size()));
  }
};

void expect_equal(const Store& store, const Textbook& book) {
  const auto cash = cash_of(store);
  const auto history = history_of(store);
  const auto crawls = values_of(store, "opic_crawls");
  ASSERT_EQ(cash.size(), book.cash.size());
  for (std::size_t page = 0; page < cash.size(); ++page) {
    EXPECT_NEAR(cash[page], book.cash[page], 1e-9) << page;
    EXPECT_NEAR(history[page], book.history[page], 1e-9) << page;
    EXPECT_NEAR(history[page] + cash[page], book.got[page], 1e-9) << page;
    EXPECT_EQ(crawls[page], book.crawls[page]) << page;
  }
  const auto home_count = static_cast<double>(book.homes.size());
  EXPECT_NEAR(std::accumulate(cash.begin(), cash.end(), 0.0), home_count, 1e-6 * home_count);
}

TEST(Opic, EqualsTheTextbookOnGraphsThatGrow) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed);
  Random random(seed);
  MemoryStore store;
  Textbook book;
  std::vector<double> before;
  auto pages = must(PageDb::open(*store));
  for (std::uint64_t round = 1; round <= 8; ++round) {
    // In every other round so few that their links are looked up.
    crawl_some(pages, random, 50 * round, round % 2 == 0 ? 2 : 40);
    must(pages.merge());
    book.update(view_of(*store));
    const RankReport report = must(opic(*store));
    EXPECT_EQ(report.home_count, book.homes.size());
    ASSERT_NO_FATAL_FAILURE(expect_equal(*store, book));
    const auto history = history_of(*store);
    for (std::size_t page = 0; page < before.size(); ++page) EXPECT_GE(history[page], before[page]);
    before = history;
  }
  EXPECT_GT(book.homes.size(), 1U);
  expect_whole(store);
}

TEST(Opic, PassesCashOnToHigherPagesInOneUpdate) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  crawl(pages, "http://a.test/", {"http://b.test/"});
  crawl(pages, "http://b.test/", {"http://c.test/"});
  must(pages.merge());
  const Generation before = store->generation();
  const RankReport report = must(opic(*store));
  EXPECT_EQ(store->generation().value, before.value + 1);
  EXPECT_EQ(report.giver_count, 2U);
  EXPECT_EQ(report.home_count, 1U);
  EXPECT_EQ(report.scores.scorer, Scorer::kOpicCash);
  EXPECT_EQ(report.scores.sum, 1);
  EXPECT_TRUE(report.hubs.name.empty());
  EXPECT_EQ(cash_of(*store), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(history_of(*store), (std::vector<double>{1, 1, 0}));
  crawl(pages, "http://c.test/", {});  // without links: to all homes
  must(pages.merge());
  EXPECT_TRUE(must(ScoreView::open(view_of(*store), "opic_cash")).info().is_stale);
  EXPECT_EQ(must(opic(*store)).giver_count, 1U);
  EXPECT_EQ(cash_of(*store), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(history_of(*store), (std::vector<double>{1, 1, 1}));
}

TEST(Opic, GivesOnceForEachCrawl) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  crawl(pages, "http://a.test/", {"http://a.test/", "http://b.test/"});
  must(pages.merge());
  must(opic(*store));
  EXPECT_EQ(cash_of(*store), (std::vector<double>{0.5, 0.5}));  // half to itself
  EXPECT_EQ(must(opic(*store)).giver_count, 0U);
  EXPECT_EQ(cash_of(*store), (std::vector<double>{0.5, 0.5}));
  crawl(pages, "http://a.test/", {"http://a.test/", "http://b.test/"});
  must(pages.merge());
  store.reopen();
  EXPECT_EQ(must(opic(*store)).giver_count, 1U);
  EXPECT_EQ(cash_of(*store), (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(history_of(*store), (std::vector<double>{1.5, 0}));
}

TEST(Opic, BeginsAnewWhenPagesWereForgotten) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  crawl(pages, "http://a.test/", {"http://b.test/"});
  crawl(pages, "http://b.test/", {"http://c.test/"});
  must(pages.merge());
  must(opic(*store));
  must(pages.forget([](std::string_view url) { return url == "http://a.test/"; }));
  const RankReport report = must(opic(*store));
  EXPECT_EQ(report.home_count, 1U);  // the page that a.test linked to first
  EXPECT_EQ(report.giver_count, 1U);
  EXPECT_EQ(cash_of(*store), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(history_of(*store), (std::vector<double>{0, 1, 0}));
  expect_whole(store);
  must(pages.forget([](std::string_view) { return true; }));
  EXPECT_EQ(opic(*store).error().code, Errc::kInvalidArgument);
}

TEST(Opic, BeginsAnewWhereTheArraysDoNotBelongTogether) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  crawl(pages, "http://a.test/", {"http://a.test/"});
  must(pages.merge());
  const auto history = [&](const OpicOptions& options = {}) {
    must(opic(*store, options));
    return history_of(*store);
  };
  EXPECT_EQ(history(), std::vector<double>{1});
  crawl(pages, "http://a.test/", {"http://a.test/"});
  must(pages.merge());
  EXPECT_EQ(history(), std::vector<double>{2});
  EXPECT_EQ(history({.is_warm = false}), std::vector<double>{1});
  crawl(pages, "http://a.test/", {"http://a.test/"});
  must(pages.merge());
  EXPECT_EQ(history(), std::vector<double>{2});
  must(remove_scores(*store, "opic_cash"));
  EXPECT_EQ(history(), std::vector<double>{1});
  must(store_scores(*store, "opic_crawls", view_of(*store), std::vector<float>{7}));
  EXPECT_EQ(history(), std::vector<double>{1});
  EXPECT_EQ(values_of(*store, "opic_crawls"), std::vector<double>{3});
}

TEST(Opic, TakesAllPagesWithoutUrlsForHomes) {
  MemoryStore store;
  PagesOptions no_urls;
  no_urls.has_urls = false;
  auto pages = must(PageDb::open(*store, "pages", no_urls));
  must(store->commit());
  EXPECT_EQ(must(opic(*store)).home_count, 0U);  // no pages, no scores
  EXPECT_TRUE(cash_of(*store).empty());
  CrawlEvent event;
  event.kind = CrawlEventKind::kPage;
  event.index = 3;
  must(pages.add(event));
  must(pages.merge());
  EXPECT_EQ(must(opic(*store)).home_count, 4U);
  EXPECT_EQ(cash_of(*store), (std::vector<double>{1.25, 1.25, 1.25, 0.25}));
  expect_whole(store);
}

TEST(Opic, RefusesToLoseAnUpdate) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  crawl(pages, "http://a.test/", {"http://b.test/"});
  must(pages.merge());
  const auto first = must(compute_opic(view_of(*store)));
  const auto second = must(compute_opic(view_of(*store)));
  must(store_ranked(*store, first));
  const Generation stored = store->generation();
  EXPECT_EQ(store_ranked(*store, second).error().code, Errc::kUnknownName);
  const auto third = must(compute_opic(view_of(*store)));
  must(remove_scores(*store, "opic_history"));
  EXPECT_EQ(store_ranked(*store, third).error().code, Errc::kUnknownName);
  EXPECT_EQ(store->generation().value, stored.value + 1);  // of the removal
  must(rank_pages(*store));                                // other scores do not matter
  must(opic(*store));
  expect_whole(store);
}

TEST(Opic, IsPartOfATransaction) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  crawl(pages, "http://a.test/", {"http://b.test/"});
  must(pages.merge());
  auto all = must(Transaction::begin(*store));
  must(opic(*store));
  // The snapshot that this one reads does not show the first one yet.
  EXPECT_EQ(opic(*store).error().code, Errc::kUnknownName);
  all.drop();
  EXPECT_TRUE(must(ScoreView::list(view_of(*store))).empty());
  auto again = must(Transaction::begin(*store));
  must(opic(*store));
  crawl(pages, "http://b.test/", {});
  must(again.commit());
  EXPECT_EQ(cash_of(*store), (std::vector<double>{0, 1}));
  must(pages.merge());
  EXPECT_EQ(must(opic(*store)).giver_count, 1U);
  EXPECT_EQ(cash_of(*store), (std::vector<double>{1, 0}));
}

TEST(Opic, StopsWhenItIsTold) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  crawl(pages, "http://a.test/", {});
  must(pages.merge());
  OpicOptions options;
  options.progress = [](std::uint32_t iteration, double) { return iteration != 0; };
  EXPECT_EQ(opic(*store, options).error().code, Errc::kCancelled);
  EXPECT_TRUE(must(ScoreView::list(view_of(*store))).empty());
  options = {.database = "none"};
  EXPECT_EQ(opic(*store, options).error().code, Errc::kUnknownName);
}

}  // namespace
}  // namespace crawlstore::testing
