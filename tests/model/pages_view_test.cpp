// SPDX-License-Identifier: Apache-2.0
#include "model/pages_view.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

/// Two pages with URLs, one link, an edit that waits; and a graph of three indexes.
class PagesViews : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = Store::create(path_);
    ASSERT_TRUE(store);
    auto pages = PageDb::open(*store);
    ASSERT_TRUE(pages);
    CrawledPage page("http://a.test/", 1);
    page.add_link("http://b.test/");
    ASSERT_TRUE(pages->add(page));
    ASSERT_TRUE(pages->merge());
    ASSERT_TRUE(pages->add(page));
    ASSERT_TRUE(pages->close());
    PagesOptions options;
    options.has_urls = false;
    auto graph = PageDb::open(*store, "graph", options);
    ASSERT_TRUE(graph);
    const std::array links{EventLink{{}, 2, 0}};
    CrawlEvent event;
    event.kind = CrawlEventKind::kLinkAdded;
    event.links = links;
    ASSERT_TRUE(graph->add(event));
    ASSERT_TRUE(graph->merge());
    ASSERT_TRUE(graph->close());
    ASSERT_TRUE(store->close());
  }
  std::vector<PagesInfo> databases() {
    const auto snapshot = Snapshot::open(path_);
    EXPECT_TRUE(snapshot);
    auto found = page_databases(*snapshot);
    EXPECT_TRUE(found);
    return found.value_or(std::vector<PagesInfo>());
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "x.crawl";
};

TEST_F(PagesViews, HaveARowForEachDatabase) {
  const Table table = page_databases_table(databases());
  ASSERT_EQ(table.rows.size(), 2U);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  EXPECT_EQ(table.rows[0][0], Cell{std::string("pages")});
  EXPECT_EQ(table.rows[1][0], Cell{std::string("graph")});
  EXPECT_EQ(table.rows[1][3], Cell{std::uint64_t{3}});
}

TEST_F(PagesViews, CountTheDefaultDatabaseOnly) {
  const Document document{default_database_fields(databases()), {}};
  const auto value = [&](const char* name) { return find_field(document, name)->value; };
  EXPECT_EQ(value("page_count"), Cell{std::uint64_t{2}});
  EXPECT_EQ(value("crawled_count"), Cell{std::uint64_t{1}});
  EXPECT_EQ(value("link_count"), Cell{std::uint64_t{1}});
  EXPECT_EQ(value("edit_count"), Cell{std::uint64_t{1}});
  const PagesInfo info = databases().front();
  EXPECT_EQ(value("bits_per_link"), Cell{8.0 * static_cast<double>(info.out_link_bytes)});
  EXPECT_EQ(value("in_bits_per_link"), Cell{8.0 * static_cast<double>(info.in_link_bytes)});
  EXPECT_EQ(value("bytes_per_page"),
            Cell{static_cast<double>(info.key_bytes + info.origin_bytes + info.record_bytes) / 2});
}

TEST(PagesView, IsZeroWithoutADatabase) {
  for (const Field& field : default_database_fields({})) {
    EXPECT_TRUE(field.value == Cell{std::uint64_t{0}} || field.value == Cell{0.0}) << field.name;
  }
}

TEST(PagesView, HasAsManyCellsAsColumnsForSupersteps) {
  const Table table = supersteps_table({{"pages", {}}});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].size(), table.columns.size());
}

}  // namespace
}  // namespace crawlstore::model
