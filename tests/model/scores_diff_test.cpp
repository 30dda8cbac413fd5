// SPDX-License-Identifier: Apache-2.0
#include "model/scores_diff.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>

#include "drum/memory_store.h"

namespace crawlstore::model {
namespace {

using testing::MemoryStore;
using testing::must;
using Row = std::vector<Cell>;

Cell text(const char* words) {
  return std::string(words);
}
Cell count(std::uint64_t number) {
  return number;
}

/// Pages that were crawled, in this order.
class Crawl {
 public:
  explicit Crawl(const std::vector<std::string>& urls) { add(urls); }

  void add(const std::vector<std::string>& urls) {
    auto pages = must(PageDb::open(*store_));
    for (const std::string& url : urls) must(pages.add(CrawledPage(url, 1'000'000)));
    must(pages.merge());
    must(pages.close());
  }
  void score(const std::string& name, const std::vector<float>& values) {
    must(store_scores(*store_, name, must(PageView::open(snapshot())), values));
  }
  Snapshot snapshot() { return must(store_->snapshot()); }
  Store& store() { return *store_; }

 private:
  MemoryStore store_;
};

/// The rows, and the field `differs`.
struct Found {
  std::vector<Row> rows;
  bool differs = false;
};

Found compare(const Snapshot& older, const Snapshot& newer, bool by_url) {
  PagesDiff pages;
  pages.name = "pages";
  pages.in_old = pages.in_new = true;
  pages.by_url = by_url;
  Document document{{{"is_different", Unit::kFlag, false}}, {}};
  must(add_scores_diff(older, newer, {pages}, {[](auto, auto) { return true; }, [](bool) {}},
                       document));
  return {document.tables.at(0).rows, document.fields[0].value == Cell{true}};
}

TEST(ScoresDiff, TellsWhichArraysOneStateHasAndHowFarOthersAreApart) {
  Crawl crawl({"http://a.org/", "http://b.org/"});
  crawl.score("gone", {1, 1});
  crawl.score("moved", {0.5F, 0.25F});
  crawl.score("same", {1, 0});
  const Snapshot older = crawl.snapshot();
  EXPECT_FALSE(compare(older, older, false).differs);
  must(remove_scores(crawl.store(), "gone"));
  crawl.add({"http://c.org/"});
  crawl.score("moved", {0.75F, 0.25F, 2});
  crawl.score("new", {1, 1, 1});
  crawl.score("same", {1, 0, 0});
  const Found found = compare(older, crawl.snapshot(), false);
  EXPECT_TRUE(found.differs);
  const Cell none;
  EXPECT_EQ(found.rows,
            (std::vector<Row>{{text("pages"), text("gone"), text("gone"), count(2), none, none,
                               none, none, none, none, none},
                              {text("pages"), text("moved"), text("changed"), count(2), count(3),
                               count(1), count(1), count(0), 2.25, 2.0, text("http://c.org/")},
                              {text("pages"), text("new"), text("added"), none, count(3), none,
                               none, none, none, none, none},
                              {text("pages"), text("same"), text("equal"), count(2), count(3),
                               count(0), count(0), count(0), 0.0, none, none}}));
}

TEST(ScoresDiff, KnowsPagesOfTwoStoresByUrl) {
  Crawl older({"http://a.org/", "http://b.org/", "http://gone.org/"});
  Crawl newer({"http://new.org/", "http://b.org/", "http://a.org/"});
  older.score("x", {1, 2, 0.5F});
  newer.score("x", {0.25F, 2, 0});
  const Found found = compare(older.snapshot(), newer.snapshot(), true);
  EXPECT_EQ(found.rows,
            (std::vector<Row>{{text("pages"), text("x"), text("changed"), count(3), count(3),
                               count(1), count(1), count(1), 1.75, -1.0, text("http://a.org/")}}));
}

TEST(ScoresDiff, KnowsHostsOfTwoStoresByName) {
  Crawl older({"http://a.org/", "http://b.org/"});
  Crawl newer({"http://b.org/1", "http://b.org/2", "http://a.org/1"});
  RankOptions options;
  options.by = ScoreSubject::kHost;
  for (Crawl* crawl : {&older, &newer}) must(rank_pages(crawl->store(), options));
  EXPECT_FALSE(compare(older.snapshot(), newer.snapshot(), true).differs);
  newer.add({"http://c.org/"});
  must(rank_pages(newer.store(), options));
  const Found found = compare(older.snapshot(), newer.snapshot(), true);
  ASSERT_TRUE(found.differs);
  EXPECT_EQ(found.rows[0][5], count(2));  // a third each, instead of a half
  EXPECT_EQ(found.rows[0][6], count(1));
  EXPECT_EQ(found.rows[0].back(), text("c.org"));
}

TEST(ScoresDiff, ComparesNothingOfPagesWithScoresOfHosts) {
  Crawl crawl({"http://a.org/", "http://b.org/"});
  crawl.score("x", {0.5F, 0.5F});
  const Snapshot older = crawl.snapshot();
  RankOptions options;
  options.by = ScoreSubject::kHost;
  options.name = "x";
  must(rank_pages(crawl.store(), options));
  const Found found = compare(older, crawl.snapshot(), false);
  EXPECT_TRUE(found.differs);
  EXPECT_EQ(found.rows[0][2], text("other_kind"));
}

}  // namespace
}  // namespace crawlstore::model
