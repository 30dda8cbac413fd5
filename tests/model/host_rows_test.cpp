// SPDX-License-Identifier: Apache-2.0
#include "model/host_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/page_key.h>

#include "inspector/pages_file.h"
#include "model/host_name.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

using testing::must;
using testing::TemporaryFolder;

bool go_on(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return true;
}

std::vector<Cell> column(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  std::vector<Cell> cells;
  if (found == table.columns.end()) return cells;
  for (const auto& row : table.rows) {
    cells.push_back(row.at(static_cast<std::size_t>(found - table.columns.begin())));
  }
  return cells;
}

std::vector<Cell> counts(const std::vector<std::uint64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

struct HostCounts {
  std::uint64_t pages = 0;
  std::uint64_t crawled = 0;
  std::uint64_t unreadable = 0;
};

TEST(HostRows, NameTheLargestFirstWithWhatWaitsAndFailed) {
  const TemporaryFolder folder;
  testing::write_hosts_file(folder / "hosts.crawl");
  const Snapshot snapshot = must(Snapshot::open(folder / "hosts.crawl", {.pin = false}));
  const PageView view = must(PageView::open(snapshot));
  const auto waiting = must(waiting_in_queues(snapshot, view.info().page_count, go_on));
  const Table table = named_hosts(must(hosts_table(view, go_on, {.waiting = &waiting})));
  using Texts = std::vector<Cell>;
  EXPECT_EQ(column(table, "host"),
            (Texts{"big.example", "xn--bcher-kva.example", "mid.example", std::string(kNoHost)}));
  EXPECT_EQ(column(table, "unicode_host"), (Texts{Cell(),
                                                  "b\xc3\xbc"
                                                  "cher.example",
                                                  Cell(), Cell()}));
  EXPECT_EQ(column(table, "page_count"), counts({40, 12, 5, 2}));
  EXPECT_EQ(column(table, "failed_count"), counts({0, 0, 3, 0}));
  EXPECT_EQ(column(table, "waiting_count"), counts({7, 2, 0, 0}));
}

TEST(HostRows, HaveOneOfPagesThatNobodyCounts) {
  const TemporaryFolder folder;
  testing::write_hosts_file(folder / "hosts.crawl");
  const Snapshot snapshot = must(Snapshot::open(folder / "hosts.crawl", {.pin = false}));
  EXPECT_EQ(must(waiting_in_queues(snapshot, 3, go_on)).size(), 3U) << "the others are left out";
  const Table table = must(hosts_table(must(PageView::open(snapshot)), go_on));
  EXPECT_TRUE(column(table, "waiting_count").empty()) << "nobody has asked what waits";
  EXPECT_TRUE(column(table, "unreadable_count").empty()) << "all can be read";
}

TEST(HostRows, TellTheLargestWhileOthersAreCounted) {
  testing::MemoryStore store;
  PageDb pages = must(PageDb::open(*store));
  for (std::uint64_t host = 0; host < 3000; ++host) {
    for (std::uint64_t page = 0; page < (host % 100 == 0 ? 40 : 2); ++page) {
      must(pages.add(
          CrawledPage("http://h" + std::to_string(host) + ".example/" + std::to_string(page),
                      testing::kCrawlTimeUs)));
    }
  }
  must(pages.merge());
  const PageView view = must(PageView::open(must(store->snapshot())));
  std::vector<std::uint64_t> told;
  const auto so_far = [&](const Table& largest, std::uint64_t host_count) {
    told.push_back(host_count);
    EXPECT_EQ(largest.rows.size(), std::min<std::uint64_t>(host_count, kLargestHosts));
    auto sizes = column(largest, "page_count");
    EXPECT_EQ(sizes.front(), Cell(std::uint64_t{40}));
    EXPECT_TRUE(std::ranges::is_sorted(sizes, std::greater<>()));
  };
  const Table all = must(hosts_table(view, go_on, {.so_far = so_far}));
  EXPECT_EQ(all.rows.size(), 3000U);
  ASSERT_FALSE(told.empty());
  EXPECT_GT(told.front(), kLargestHosts);
  EXPECT_LT(told.back(), 3000U);
  must(pages.close());
}

TEST(HostRows, TellEveryStateFromTheOthers) {
  const TemporaryFolder folder;
  Store store = must(Store::create(folder / "states.crawl"));
  PageDb pages = must(PageDb::open(store));
  const EventLink target{"http://a.example/page", 0, 0};
  using enum CrawlEventKind;
  for (const CrawlEventKind kind :
       {kPage, kKnown, kGone, kFailed, kRedirect, kDenied, kDuplicate}) {
    const std::string url = "http://a.example/" + std::string(name_of(kind));
    CrawlEvent event{.kind = kind, .url = url};
    if (kind == kRedirect) event.links = {&target, 1};
    must(pages.add(event));
  }
  must(pages.merge());
  must(store.commit());
  const PageView view = must(PageView::open(must(store.snapshot())));
  const Table table = must(hosts_table(view, go_on, {}));
  EXPECT_EQ(column(table, "page_count"), counts({7}));
  for (const char* state : {"crawled_count", "gone_count", "failed_count"}) {
    EXPECT_EQ(column(table, state), counts({1})) << state;
  }
  must(pages.close());
}

TEST(HostRows, TakeNoPageThatCannotBeReadForOneThatIsNotCrawled) {
  const TemporaryFolder folder;
  const std::string path = folder / "damaged.crawl";
  {
    Store store = must(Store::create(path));
    PageDb pages = must(PageDb::open(store));
    testing::crawl_web(pages, 3, 3000, testing::kCrawlTimeUs);
    must(pages.merge());
    must(pages.close());
    must(store.close());
  }
  testing::damage_longest_run(path, "page_records");
  const PageView view = must(PageView::open(must(Snapshot::open(path, {.pin = false}))));
  std::map<std::string, HostCounts> expected;
  for (std::uint64_t index = 0; index < view.info().page_count; ++index) {
    HostCounts& counts = expected[std::string(url_host(must(view.url(index))))];
    ++counts.pages;
    const auto state = view.state(index);
    if (!state) ++counts.unreadable;
    if (state && *state == PageState::kCrawled) ++counts.crawled;
  }
  EXPECT_EQ(hosts_table(view, go_on).error().code, Errc::kChunkDamaged);
  const auto pass_over = [](const Error& /*problem*/) {};
  const Table table = named_hosts(must(hosts_table(view, go_on, {.damaged = pass_over})));
  EXPECT_EQ(table.columns.at(2).name, "unreadable_count") << "beside the pages";
  std::uint64_t unreadable = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto [pages, crawled, lost] = expected.at(std::get<std::string>(table.rows[i][0]));
    EXPECT_EQ(column(table, "unreadable_count")[i], Cell(lost));
    EXPECT_EQ(column(table, "crawled_count")[i], Cell(crawled));
    const double share = static_cast<double>(crawled) / static_cast<double>(pages - lost);
    EXPECT_EQ(column(table, "crawled_share")[i], pages == lost ? Cell() : Cell(share));
    unreadable += lost;
  }
  EXPECT_GT(unreadable, 0U);
}

TEST(HostName, ShowsPunycodeInUnicode) {
  EXPECT_EQ(unicode_host("www.xn--bcher-kva.example"),
            "www.b\xc3\xbc"
            "cher.example");
  EXPECT_EQ(unicode_host("r3---sn-4g5.xn--bcher-kva.example"),
            "r3---sn-4g5.b\xc3\xbc"
            "cher.example");
  EXPECT_EQ(both_host_names("xn--bcher-kva.example"),
            "xn--bcher-kva.example (b\xc3\xbc"
            "cher.example)");
  EXPECT_EQ(both_host_names("www.example"), "www.example");
  EXPECT_EQ(both_host_names(""), kNoHost);
}

TEST(HostName, HasNoUnicodeFormOfWhatIsNone) {
  for (const char* host : {"", "a.example", "axn--bcher-kva.example", "xn--", "xn--a-", "xn--\xff",
                           "xn--bcher-kva!.example", "[::1]", "10.0.0.1"}) {
    EXPECT_EQ(unicode_host(host), "") << host;
  }
}

TEST(HostName, TakesAnyBytes) {
  testing::SeededRandom random;
  for (int i = 0; i < 2000; ++i) {
    const std::string host = "xn--" + random.hostile_text(40);
    EXPECT_EQ(host_of_name(host_name(host)), host);
    EXPECT_LE(unicode_host(host).size(), 4096U);
  }
  EXPECT_EQ(unicode_host(std::string(100'000, 'a') + ".xn--bcher-kva"), "");
}

}  // namespace
}  // namespace crawlstore::model
