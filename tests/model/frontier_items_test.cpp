// SPDX-License-Identifier: Apache-2.0
//
// Items of crawls as crawlstored makes them.
#include <gtest/gtest.h>

#include "drum/memory_store.h"
#include "model/frontier_view.h"
#include "service/core/listing.h"

namespace crawlstore::testing {
namespace {

/// A frontier `c` with ids of its own, one item of which is a record.
class CrawlInFile : public ::testing::Test {
 protected:
  CrawlInFile() {
    FrontierOptions options;
    options.has_own_ids = true;
    auto frontier = must(Frontier::open(*store_, "c", options));
    must(frontier.put(
        std::vector<FrontierItem>{{"a.test", 1, "\1\7/xabc", 0, 7}, {"a.test", 0, "other", 0, 8}}));
    must(frontier.close());
    must(store_->commit());
  }
  void add_known_urls(const std::string& name) {
    must(must(Drum<Key16, std::string>::open(*store_, name)).close());
    must(store_->commit());
  }
  bool is_crawl() {
    const auto snapshot = must(store_->snapshot());
    return service::is_crawl(snapshot, must(FrontierView::open(snapshot, "c")).info());
  }

  MemoryStore store_;
};

TEST_F(CrawlInFile, IsKnownByTheDrumBesideIt) {
  EXPECT_FALSE(is_crawl());
  add_known_urls("known:other");
  EXPECT_FALSE(is_crawl());
  add_known_urls("known:c");
  EXPECT_TRUE(is_crawl());
}

TEST_F(CrawlInFile, HasUrlsInPlaceOfBodies) {
  const auto view = must(FrontierView::open(must(store_->snapshot()), "c"));
  const auto table = must(model::waiting_items_table(view, "a.test", {9, false, true}));
  ASSERT_EQ(table.columns.size(), 7U);
  EXPECT_EQ(table.columns[2].name, "url");
  EXPECT_EQ(table.columns[3].name, "created_us");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][2], model::Cell(std::string("http://a.test/x")));
  EXPECT_EQ(table.rows[0][3], model::Cell(std::int64_t{1'000'000}));
  EXPECT_EQ(table.rows[0][4], model::Cell(std::uint64_t{3}));
  EXPECT_EQ(table.rows[1][2], model::Cell()) << "these bytes are no record";
}

}  // namespace
}  // namespace crawlstore::testing
