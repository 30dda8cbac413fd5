// SPDX-License-Identifier: Apache-2.0
#include "model/pages_diff_view.h"

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/store.h>

#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

Cell text(const char* words) {
  return std::string(words);
}

/// A store of three pages, and what it was before the last superstep.
class States {
 public:
  States() {
    auto store = Store::create(folder_ / "x.crawl", {});
    auto pages = PageDb::open(*store);
    CrawledPage first("http://a.org/", 1'000'000);
    first.add_link("http://a.org/b");
    if (!pages->add(first) || !pages->merge()) throw std::runtime_error("no superstep");
    older.emplace(*store->snapshot());
    CrawledPage again("http://a.org/", 2'000'000);
    again.add_link("http://a.org/c");
    if (!pages->add(again) || !pages->merge()) throw std::runtime_error("no superstep");
    CrawlEvent gone;
    gone.kind = CrawlEventKind::kGone;
    gone.url = "http://a.org/b";
    if (!pages->add(gone) || !store->commit()) throw std::runtime_error("no commit");
    newer.emplace(*store->snapshot());
  }

  [[nodiscard]] Document document(const DiffViewOptions& options) const {
    const auto report = diff(*older, *newer);
    PagesDiffView view(*older, *newer, options);
    const auto databases = diff_pages(*older, *newer, view.sink());
    auto document = *DiffView(options).document(*older, *newer, *report);
    if (!view.add_to(document, *databases)) throw std::runtime_error("not added");
    return document;
  }

  std::optional<Snapshot> older;
  std::optional<Snapshot> newer;

 private:
  const testing::TemporaryFolder folder_;
};

const Table& table_of(const Document& document, const std::string& name) {
  for (const Table& table : document.tables) {
    if (table.name == name) return table;
  }
  throw std::runtime_error("no table " + name);
}

TEST(PagesDiffView, ShowsPagesLinksAndEdits) {
  const auto document = States().document({10, true});
  const auto& pages = table_of(document, "pages").rows;
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages[0][1], text("changed"));
  EXPECT_EQ(pages[0][12], text("crawl_count last_crawl_us"));
  EXPECT_EQ(pages[0][13], text("http://a.org/"));
  EXPECT_EQ(pages[1][1], text("added"));
  EXPECT_EQ(pages[1][2], Cell{});
  EXPECT_EQ(pages[1][3], text("known"));
  const std::vector<std::vector<Cell>> hosts{{text("pages"), text("a.org"), std::int64_t{1},
                                              std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{0},
                                              std::uint64_t{1}}};
  EXPECT_EQ(table_of(document, "hosts").rows, hosts);
  const std::vector<std::vector<Cell>> page_links{
      {text("pages"), std::uint64_t{1}, std::uint64_t{1}, text("http://a.org/")}};
  EXPECT_EQ(table_of(document, "page_links").rows, page_links);
  const std::vector<std::vector<Cell>> links{
      {text("pages"), text("gone"), text("http://a.org/"), text("http://a.org/b")},
      {text("pages"), text("added"), text("http://a.org/"), text("http://a.org/c")}};
  EXPECT_EQ(table_of(document, "links").rows, links);
  const std::vector<std::vector<Cell>> edits{{text("pages"), text("added"), text("gone"), Cell{},
                                              std::uint64_t{0}, text("http://a.org/b")}};
  EXPECT_EQ(table_of(document, "edits").rows, edits);
  const auto& databases = table_of(document, "page_databases");
  EXPECT_EQ(databases.rows.at(0).size(), databases.columns.size());
  EXPECT_EQ(databases.rows[0][1], text("changed"));
}

/// Tells the view of pages of hosts: +3 of a host are pages that came, -1 pages that went, and 0
/// one that became gone.
void tell_pages(const PagesDiffSink& sink, const std::vector<std::pair<std::string, int>>& pages) {
  for (const auto& [host, change] : pages) {
    PageInfo info;
    info.url = "http://" + host + "/";
    PageDiff page{"pages", change > 0 ? Change::kAdded : Change::kGone, {}, {}, {}};
    if (change <= 0) page.older = info;
    if (change >= 0) page.newer = info;
    for (int i = 0; i < std::max(1, std::abs(change)); ++i) sink.page(page);
  }
}

TEST(PagesDiffView, ListsHostsByHowMuchTheyGrew) {
  const States states;
  PagesDiffView view(*states.older, *states.newer, {});
  tell_pages(view.sink(), {{"calm.org", 0},
                           {"lost.org", -5},
                           {"grew.org", 3},
                           {"both.org", 4},
                           {"both.org", -2},
                           {"both.org", 0}});
  Document document{{{"is_different", Unit::kFlag, false}}, {}};
  ASSERT_TRUE(view.add_to(document, {}));
  const auto row = [](const char* host, std::int64_t delta, std::uint64_t added, std::uint64_t gone,
                      std::uint64_t forgotten) {
    return std::vector<Cell>{text("pages"), text(host), delta, added, gone, forgotten, Cell(0UL)};
  };
  EXPECT_EQ(
      table_of(document, "hosts").rows,
      (std::vector<std::vector<Cell>>{row("grew.org", 3, 3, 0, 0), row("both.org", 2, 4, 3, 2),
                                      row("calm.org", 0, 0, 1, 0), row("lost.org", -5, 0, 5, 5)}));
}

TEST(PagesDiffView, ListsNoMoreRowsThanItIsAskedFor) {
  const States states;
  const auto document = states.document({1, true});
  for (const char* name : {"pages", "page_links", "links", "edits"}) {
    EXPECT_EQ(table_of(document, name).rows.size(), 1U) << name;
  }
  EXPECT_TRUE(table_of(states.document({10, false}), "links").rows.empty());
}

TEST(PagesDiffView, NamesWhatBecameOfADatabase) {
  std::vector<PagesDiff> databases(4);
  databases[0].in_old = true;
  databases[1].in_new = true;
  for (const std::size_t i : {2U, 3U}) databases[i].in_old = databases[i].in_new = true;
  databases[3].kind_differs = true;
  const States states;
  const PagesDiffView view(*states.older, *states.newer, {});
  for (const bool any : {false, true}) {
    Document document{{{"is_different", Unit::kFlag, false}}, {}};
    const std::vector<PagesDiff> equal{databases[2]};
    ASSERT_TRUE(view.add_to(document, any ? databases : equal));
    EXPECT_EQ(document.fields[0].value, Cell{any});
    const auto& rows = table_of(document, "page_databases").rows;
    EXPECT_EQ(rows.at(any ? 2 : 0)[1], text("equal"));
    if (!any) continue;
    EXPECT_EQ(rows[0][1], text("gone"));
    EXPECT_EQ(rows[1][1], text("added"));
    EXPECT_EQ(rows[3][1], text("other_kind"));
  }
}

}  // namespace
}  // namespace crawlstore::model
