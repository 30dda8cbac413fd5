// SPDX-License-Identifier: Apache-2.0
// Scores that were computed before a rollback, when other pages have the indexes.
// covers: A45, A48
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/transaction.h>

#include "pages/page_words.h"
#include "support/another_thread.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

/// Two pages, in a superstep and a commit.
void add_host(Store& store, const std::string& host) {
  auto pages = must(PageDb::open(store));
  CrawledPage page("http://" + host + "/", 1'000'000);
  page.add_link("http://" + host + "/2");
  must(pages.add(page));
  must(pages.merge());
  must(pages.close());
}

/// Pages 0 to `last`, which page 0 links to.
void add_indexes(Store& store, std::uint64_t last) {
  PagesOptions options;
  options.has_urls = false;
  auto pages = must(PageDb::open(store, "pages", options));
  CrawlEvent event;
  event.kind = CrawlEventKind::kPage;
  const EventLink link{{}, last, 0};
  event.links = std::span(&link, 1);
  must(pages.add(event));
  must(pages.merge());
  must(pages.close());
}

std::vector<std::string> names_in(const Store& store) {
  return ScoreView::names(view_of(store));
}

struct Scores {
  std::string name;
  std::function<Errc(Store&)> store;  // Errc{}: they were stored
};

/// All kinds of scores of these pages, computed, and not yet stored.
std::vector<Scores> compute_all(const PageView& pages) {
  std::vector<Scores> all;
  const auto add = [&all](const std::string& name, const RankedPages& ranked) {
    all.push_back({name, [ranked](Store& store) { return code_of(store_ranked(store, ranked)); }});
  };
  RankOptions by_host{.name = "by_host"};
  by_host.by = ScoreSubject::kHost;
  add("pagerank", must(compute_rank(pages)));
  if (pages.info().has_urls) add("by_host", must(compute_rank(pages, by_host)));
  add("hits", must(compute_hits(pages)));
  add("opic", must(compute_opic(pages)));
  all.push_back({"own", [pages](Store& store) {
                   const std::vector<float> values(pages.info().page_count, 1.0F);
                   return code_of(store_scores(store, "own", pages, values));
                 }});
  return all;
}

/// None of them is stored, and no commit is made.
void expect_refused(Store& store, const std::vector<Scores>& all) {
  const Generation before = store.generation();
  const auto names = names_in(store);
  for (const Scores& scores : all) {
    EXPECT_EQ(scores.store(store), Errc::kUnknownName) << scores.name;
  }
  EXPECT_EQ(store.generation(), before);
  EXPECT_EQ(names_in(store), names);
}

TEST(RolledBack, RefusesScoresOfPagesThatWereTakenBack) {
  MemoryStore store;
  add_host(*store, "a.test");
  must(opic(*store));  // the arrays that an update replaces are there before and after
  add_host(*store, "b.test");
  const PageView before = view_of(*store);
  const auto all = compute_all(before);
  must(store->rollback());
  expect_refused(*store, all);
  add_host(*store, "c.test");
  const PageView now = view_of(*store);
  ASSERT_EQ(now.info().page_count, before.info().page_count);
  ASSERT_EQ(now.info().superstep_count, before.info().superstep_count);
  EXPECT_EQ(must(before.url(2)), "http://b.test/");  // a view keeps its pages
  EXPECT_EQ(must(now.url(2)), "http://c.test/");
  expect_refused(*store, all);
  add_host(*store, "d.test");
  expect_refused(*store, all);
  expect_whole(store);
}

TEST(RolledBack, RefusesScoresOfIndexesThatWereTakenBack) {
  MemoryStore store;
  add_indexes(*store, 3);
  add_indexes(*store, 5);
  const auto all = compute_all(view_of(*store));
  must(store->rollback());
  add_indexes(*store, 8);
  expect_refused(*store, all);
  expect_whole(store);
}

TEST(RolledBack, RefusesScoresThatAreComputedMeanwhile) {
  MemoryStore store;
  add_host(*store, "a.test");
  add_host(*store, "b.test");
  RankOptions options;
  options.progress = [&](std::uint32_t iteration, double) {
    if (iteration != 1) return true;
    on_another_thread([&] {
      must(store->rollback());
      add_host(*store, "c.test");
    });
    return true;
  };
  EXPECT_EQ(code_of(rank_pages(*store, options)), Errc::kUnknownName);
  EXPECT_TRUE(names_in(*store).empty());
}

TEST(RolledBack, RefusesThemInATransactionToo) {
  MemoryStore store;
  add_host(*store, "a.test");
  add_host(*store, "b.test");
  const auto all = compute_all(view_of(*store));
  must(store->rollback());
  add_host(*store, "c.test");
  auto transaction = must(Transaction::begin(*store));
  for (const Scores& scores : all) {
    EXPECT_EQ(scores.store(*store), Errc::kUnknownName) << scores.name;
  }
  must(transaction.commit());
  EXPECT_TRUE(names_in(*store).empty());
}

TEST(RolledBack, RemembersItWhenTheStoreIsOpenedAgain) {
  MemoryStore store;
  add_host(*store, "a.test");
  add_host(*store, "b.test");
  const auto all = compute_all(view_of(*store));
  must(store->rollback());
  store.reopen();
  for (const char* host : {"c.test", "d.test", "e.test"}) add_host(*store, host);
  must(store->compact());
  expect_refused(*store, all);
}

TEST(RolledBack, StoresScoresOfWhatIsThereSince) {
  MemoryStore store;
  add_host(*store, "a.test");
  add_host(*store, "b.test");
  must(store->rollback());
  const auto all = compute_all(view_of(*store));
  add_host(*store, "c.test");
  for (const Scores& scores : all) EXPECT_EQ(scores.store(*store), Errc{}) << scores.name;
  EXPECT_EQ(names_in(*store).size(), 8U);
  must(opic(*store));
  expect_whole(store);
}

}  // namespace
}  // namespace crawlstore::testing
