// SPDX-License-Identifier: Apache-2.0
#include "model/page_source.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/page_key.h>

#include "inspector/pages_file.h"
#include "model/event_rows.h"
#include "model/host_rows.h"
#include "model/page_detail.h"
#include "model/page_fields.h"

namespace crawlstore::model {
namespace {

using testing::crawl_web;
using testing::kCrawlTimeUs;
using testing::MemoryStore;
using testing::must;
using testing::web_url;

bool go_on(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return true;
}
bool stop(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return false;
}

/// A web of 5 hosts, crawled; and edits that wait.
class PageSource : public ::testing::Test {
 protected:
  PageSource() {
    PageDb pages = must(PageDb::open(*store_));
    crawl_web(pages, 5, 20, kCrawlTimeUs);
    CrawlEvent gone;
    gone.kind = CrawlEventKind::kGone;
    gone.url = "http://b.example/page/3";
    gone.time_us = kCrawlTimeUs + 1;
    must(pages.add(gone));
    CrawledPage long_one(long_url_, kCrawlTimeUs);
    must(pages.add(long_one));
    must(pages.merge());
    crawl_web(pages, 1, 4, kCrawlTimeUs + 2);
    CrawledPage waiting(long_url_, kCrawlTimeUs + 3);
    waiting.add_link("http://a.example/");
    must(pages.add(waiting));
    must(store_->commit());
    must(pages.close());
    view_.emplace(must(PageView::open(must(store_->snapshot()))));
  }
  [[nodiscard]] std::size_t column(const TableSource& source, std::string_view name) const {
    const auto found = std::ranges::find(source.columns(), name, &Column::name);
    EXPECT_NE(found, source.columns().end()) << name;
    return static_cast<std::size_t>(found - source.columns().begin());
  }
  [[nodiscard]] std::uint64_t index_of(std::string_view url) const {
    return must(view_->find(url)).value();
  }

  std::string long_url_ = "http://long.example/" + std::string(9000, 'x');
  MemoryStore store_;
  std::optional<PageView> view_;
};

TEST_F(PageSource, KeepsPagesInTheOrderOfTheirIndexes) {
  const auto source = page_table(*view_);
  ASSERT_EQ(source->row_count(), view_->info().page_count);
  std::uint64_t number = 0;
  for (std::size_t length = 1; number < source->row_count(); ++length) {
    for (const Row& row : must(source->full_rows(number, length))) {
      const PageInfo page = must(view_->page(number));
      EXPECT_EQ(row[column(*source, "index")], Cell(number));
      EXPECT_EQ(row[column(*source, "url")], Cell(row_url(page.url)));
      EXPECT_EQ(row[column(*source, "state")], Cell(std::string(name_of(page.state))));
      EXPECT_EQ(row[column(*source, "depth")], Cell(std::uint64_t{page.depth}));
      EXPECT_EQ(row[column(*source, "crawl_count")], Cell(std::uint64_t{page.crawl_count}));
      EXPECT_EQ(row[column(*source, "score")], Cell(score_value(page.score)));
      EXPECT_EQ(row[column(*source, "linked_from")],
                page.linked_from ? Cell(*page.linked_from) : Cell());
      EXPECT_EQ(row[column(*source, "last_crawl_us")],
                page.last_crawl_us == 0 ? Cell() : Cell(page.last_crawl_us));
      EXPECT_EQ(row[column(*source, "out_link_count")],
                Cell(std::uint64_t{must(view_->out_links(number)).size()}));
      EXPECT_EQ(row[column(*source, "in_link_count")],
                Cell(std::uint64_t{must(view_->in_links(number)).size()}));
      ++number;
    }
  }
  EXPECT_TRUE(must(source->rows(number, 10)).empty());
  EXPECT_TRUE(must(source->rows(~std::uint64_t{0}, SIZE_MAX)).empty());
}

TEST_F(PageSource, CountsLinksOnlyWhenAskedForFullRows) {
  const auto source = page_table(*view_);
  const Row cheap = must(source->rows(0, 1)).front();
  for (std::size_t c = 0; c < source->columns().size(); ++c) {
    const std::string& name = source->columns()[c].name;
    const bool is_count = name.ends_with("link_count");
    EXPECT_EQ(source->is_costly(c), is_count) << name;
    EXPECT_EQ(cheap[c] == Cell(), is_count || name == "linked_from" || name == "http_status");
  }
}

TEST_F(PageSource, CutsLongUrlsButNotInWholeRows) {
  const auto source = page_table(*view_);
  const std::uint64_t index = index_of(long_url_);
  const Row row = must(source->rows(index, 1)).front();
  const std::size_t url = column(*source, "url");
  EXPECT_EQ(row[url], Cell(long_url_.substr(0, kRowUrlBytesMax) + " ... 9020 bytes"));
  EXPECT_EQ(must(source->whole_row(index, row))[url], Cell(long_url_));
}

TEST_F(PageSource, GivesThePagesOfAList) {
  const auto list = std::make_shared<const std::vector<std::uint64_t>>(
      std::vector<std::uint64_t>{7, 3, index_of(long_url_)});
  const auto source = page_table(*view_, list, "some");
  EXPECT_EQ(source->name(), "some");
  ASSERT_EQ(source->row_count(), 3U);
  const auto rows = must(source->rows(1, 5));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].front(), Cell(std::uint64_t{3}));
  EXPECT_EQ(must(source->whole_row(2, rows[1]))[column(*source, "url")], Cell(long_url_));
}

TEST_F(PageSource, GivesTheBestByScoreAsTopPages) {
  const auto scores = must(view_->scores());
  std::vector<std::uint64_t> all(scores.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::ranges::stable_sort(all, std::greater<>{}, [&](std::uint64_t i) { return scores[i]; });
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{17}, all.size() + 5}) {
    const std::vector<std::uint64_t> expected(
        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size())));
    EXPECT_EQ(*must(top_pages(*view_, count)), expected) << count;
  }
}

/// The seed first, each page linked to the next first.
TEST_F(PageSource, LeadsFromASeedToThePage) {
  for (std::uint64_t index = 0; index < view_->info().page_count; ++index) {
    const auto path = must(path_from_seed(*view_, index));
    ASSERT_FALSE(path.empty());
    EXPECT_EQ(path.back(), index);
    EXPECT_EQ(must(view_->page(path.front())).linked_from, std::nullopt);
    EXPECT_EQ(path.size(), must(view_->page(index)).depth + std::size_t{1});
    for (std::size_t i = 1; i < path.size(); ++i) {
      EXPECT_EQ(must(view_->page(path[i])).linked_from, path[i - 1]);
    }
  }
}

TEST_F(PageSource, HasFieldsAndLinksInTheDetail) {
  const std::uint64_t index = index_of(web_url(1, 1));
  const PageDetail detail = must(page_detail(*view_, index));
  EXPECT_EQ(detail.page.url, web_url(1, 1));
  EXPECT_EQ(*detail.out_links, must(view_->out_links(index)));
  EXPECT_EQ(*detail.in_links, must(view_->in_links(index)));
  std::map<std::string, Cell> fields;
  for (const Field& field : detail.fields) fields[field.name] = field.value;
  EXPECT_EQ(fields["host"], Cell(std::string("b.example")));
  EXPECT_EQ(fields["crawl_count"], Cell(std::uint64_t{1}));
  EXPECT_EQ(fields["out_link_count"], Cell(std::uint64_t{3}));
  EXPECT_EQ(page_detail(*view_, view_->info().page_count).error().code, Errc::kInvalidArgument);
}

TEST_F(PageSource, HostsCountTheirPagesByState) {
  std::map<std::string, std::vector<std::uint64_t>> expected;
  for (std::uint64_t index = 0; index < view_->info().page_count; ++index) {
    const PageInfo page = must(view_->page(index));
    auto& counts = expected[std::string(url_host(page.url))];
    counts.resize(5);
    ++counts[4];
    ++counts[static_cast<std::size_t>(page.state)];
  }
  const Table table = must(hosts_table(*view_, go_on));
  ASSERT_EQ(table.rows.size(), expected.size());
  for (const Row& row : table.rows) {
    const auto& counts = expected.at(std::get<std::string>(row[0]));
    EXPECT_EQ(row[1], Cell(counts[4]));
    EXPECT_EQ(row[2], Cell(counts[static_cast<std::size_t>(PageState::kCrawled)]));
    EXPECT_EQ(row[4], Cell(counts[static_cast<std::size_t>(PageState::kGone)]));
    EXPECT_EQ(row[5], Cell(counts[static_cast<std::size_t>(PageState::kFailed)]));
    EXPECT_EQ(url_host(must(view_->url(std::get<std::uint64_t>(row[6])))),
              std::get<std::string>(row[0]));
  }
}

TEST_F(PageSource, PagesOfAHostAreThoseWithItInTheirUrls) {
  std::set<std::uint64_t> expected;
  for (std::uint64_t index = 0; index < view_->info().page_count; ++index) {
    if (url_host(must(view_->url(index))) == "c.example") expected.insert(index);
  }
  const auto pages = *must(pages_of_host(*view_, "c.example", go_on));
  EXPECT_EQ(std::set(pages.begin(), pages.end()), expected);
  EXPECT_EQ(pages.size(), expected.size());
  EXPECT_TRUE(must(pages_of_host(*view_, "nowhere.example", go_on))->empty());
}

TEST_F(PageSource, HostsStopWhenTheyAreToldTo) {
  EXPECT_EQ(hosts_table(*view_, stop).error().code, Errc::kCancelled);
}

TEST_F(PageSource, EventsAreTheEditsThatWaitAsTheyCame) {
  const auto source = must(event_rows(*view_, 0, 1000, go_on));
  ASSERT_EQ(source->row_count(), view_->info().event_count);
  const auto rows = must(source->rows(0, 1000));
  std::size_t at = 0;
  must(view_->for_each_event([&](const CrawlEvent& event) {
    EXPECT_EQ(rows[at][0], Cell(std::uint64_t{at}));
    EXPECT_EQ(rows[at][1], Cell(std::string(name_of(event.kind))));
    EXPECT_EQ(rows[at][2], Cell(row_url(event.url)));
    EXPECT_EQ(rows[at][5], Cell(std::uint64_t{event.links.size()}));
    EXPECT_EQ(must(source->whole_row(at, rows[at]))[2], Cell(std::string(event.url)));
    ++at;
    return true;
  }));
  EXPECT_EQ(at, 5U);
}

TEST_F(PageSource, EventsComeInPieces) {
  const auto source = must(event_rows(*view_, 0, 1000, go_on));
  const auto all = must(source->rows(0, 1000));
  for (std::uint64_t first = 0; first <= all.size() + 1; ++first) {
    const auto piece = must(event_rows(*view_, first, 2, go_on));
    const auto rows = must(piece->rows(0, 1000));
    ASSERT_EQ(rows.size(), std::min<std::uint64_t>(2, all.size() - std::min(first, all.size())));
    for (std::uint64_t i = 0; i < rows.size(); ++i) {
      EXPECT_TRUE(rows[i] == all[first + i]) << first + i;
      const auto whole = must(piece->whole_row(i, rows[i]));
      EXPECT_TRUE(whole[2] == must(source->whole_row(first + i, rows[i]))[2]);
    }
  }
}

TEST(EventRows, AreReadAgainForTheWholeOfALongUrl) {
  MemoryStore store;
  PageDb pages = must(PageDb::open(*store));
  const std::string url = "http://a.example/" + std::string(2 * kRowUrlBytesMax, 'x');
  for (const std::string& each : {std::string("http://a.example/"), url}) {
    must(pages.add(CrawledPage(each, testing::kCrawlTimeUs)));
  }
  must(store->commit());
  const PageView view = must(PageView::open(must(store->snapshot())));
  const auto piece = must(event_rows(view, 1, 10, go_on));
  const auto row = must(piece->rows(0, 1)).at(0);
  EXPECT_EQ(row[2], Cell(row_url(url)));
  EXPECT_EQ(must(piece->whole_row(0, row))[2], Cell(url));
}

TEST(EventRows, HaveIndexesWherePagesHaveNoUrls) {
  MemoryStore store;
  PagesOptions options;
  options.has_urls = false;
  PageDb pages = must(PageDb::open(*store, "graph", options));
  const std::vector<EventLink> links{{"", 7, 0}};
  CrawlEvent event;
  event.index = 3;
  event.links = links;
  must(pages.add(event));
  must(store->commit());
  const PageView view = must(PageView::open(must(store->snapshot()), "graph"));
  const auto row = must(must(event_rows(view, 0, 10, go_on))->rows(0, 1)).at(0);
  EXPECT_EQ(row[2], Cell(std::uint64_t{3}));
  EXPECT_EQ(row[6], Cell(std::uint64_t{7}));
}

}  // namespace
}  // namespace crawlstore::model
