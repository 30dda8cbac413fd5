// SPDX-License-Identifier: Apache-2.0
#include "model/queue_pass.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>

#include "drum/memory_store.h"
#include "inspector/pages_file.h"

namespace crawlstore::model {
namespace {

using testing::crawl_web;
using testing::kCrawlTimeUs;
using testing::MemoryStore;
using testing::must;
using testing::web_url;

constexpr std::uint64_t kNoPage = 1'000'000;  // the database has none of this index

bool go_on(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return true;
}
bool stop(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return false;
}

/// A small web of two hosts, all pages of which wait but for the first page of the first host; page
/// i has the priority 1 / (i / 4 + 1), so that some are equal. Five pages more are of no database.
class QueuePass : public ::testing::Test {
 protected:
  QueuePass() : pages_(must(PageDb::open(*store_))), queue_(must(Queue::open(*store_))) {
    crawl_web(pages_, 2, 6, kCrawlTimeUs);
    must(pages_.merge());
    std::vector<QueuedPage> waiting;
    for (std::uint64_t i = 0; i < database().info().page_count; ++i) {
      const std::uint64_t four = i / 4 + 1;
      waiting.push_back({i, 1 / static_cast<double>(four)});
    }
    for (std::uint64_t i = 0; i < 5; ++i) waiting.push_back({kNoPage + i, 0.5});
    must(queue_.insert(waiting));
    must(queue_.remove(std::vector<std::uint64_t>{first_page()}));
    must(store_->commit());
  }
  [[nodiscard]] QueueView view() { return must(QueueView::open(must(store_->snapshot()))); }
  [[nodiscard]] PageView database() { return must(PageView::open(must(store_->snapshot()))); }
  [[nodiscard]] std::uint64_t first_page() { return *must(database().find(web_url(0, 0))); }
  [[nodiscard]] std::vector<QueuedPage> all() { return must(view().peek(kNoPage)); }

  MemoryStore store_;
  PageDb pages_;
  Queue queue_;
};

TEST_F(QueuePass, CountsWhatRemainsInEachBin) {
  const QueueView queue = view();
  for (const std::size_t bin_count : {std::size_t{1}, std::size_t{3}, std::size_t{100}}) {
    const auto about = queue.distribution(bin_count);
    const auto bins = must(counted_bins(queue, about, go_on));
    std::uint64_t remaining = 0;
    for (const QueueBin& bin : bins) remaining += bin.remaining_count;
    EXPECT_EQ(remaining, queue.info().page_count);
    for (const QueueBin& bin : bins) {
      const bool is_last = &bin == &bins.back();
      EXPECT_EQ(bin.remaining_count, std::ranges::count_if(all(), [&](const QueuedPage& page) {
                  return page.priority <= bin.first_priority &&
                         (page.priority > bin.last_priority || is_last);
                }));
    }
  }
  EXPECT_EQ(counted_bins(queue, queue.distribution(9), stop).error().code, Errc::kCancelled);
}

TEST_F(QueuePass, CountsTheHostsOfAllThatWaits) {
  const WaitingHosts found = must(waiting_hosts(view(), database(), go_on));
  std::uint64_t of_a = 0;
  std::uint64_t of_b = 0;
  for (const QueuedPage& page : all()) {
    if (page.page >= kNoPage) continue;
    const std::string url = must(database().url(page.page));
    of_a += url.starts_with("http://a.") ? 1 : 0;
    of_b += url.starts_with("http://b.") ? 1 : 0;
  }
  ASSERT_GT(of_b, of_a) << "so that the order is not that of names";
  ASSERT_GT(of_a, 3U);
  const auto total = static_cast<double>(found.page_count);
  EXPECT_EQ(found.page_count, all().size());
  EXPECT_EQ(found.unknown_count, 5U);
  EXPECT_EQ(
      found.table.rows,
      (std::vector<Row>{{std::string("b.example"), of_b, static_cast<double>(of_b) / total},
                        {std::string("a.example"), of_a, static_cast<double>(of_a) / total}}));
}

TEST_F(QueuePass, ListsThePagesOfARange) {
  const auto waiting = all();
  const auto in_range = [&](const PriorityRange& range) {
    std::vector<QueuedPage> pages;
    for (const QueuedPage& page : waiting) {
      if (page.priority <= range.first && page.priority >= range.last) pages.push_back(page);
    }
    return pages;
  };
  for (const PriorityRange& range :
       {PriorityRange{}, PriorityRange{0.5, 0.25}, PriorityRange{0.4, 0.2}, PriorityRange{9, 3},
        PriorityRange{0.5, PriorityRange().last}, PriorityRange{0.1, 0.2}}) {
    const auto expected = in_range(range);
    const PageView pages = database();
    const WaitingInRange found = must(waiting_in_range(view(), &pages, range, 6, go_on));
    EXPECT_EQ(found.page_count, expected.size());
    ASSERT_EQ(found.pages.size(), std::min<std::size_t>(6, expected.size()));
    for (std::size_t i = 0; i < found.pages.size(); ++i) {
      EXPECT_EQ(found.pages[i].queued, expected[i]);
      const bool is_known = expected[i].page < kNoPage;
      EXPECT_EQ(found.pages[i].url, is_known ? must(pages.url(expected[i].page)) : "");
      EXPECT_EQ(waiting[found.before_count + i], expected[i]);
    }
  }
}

TEST_F(QueuePass, FindsThePlaceOfEachPage) {
  const auto waiting = all();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto place = must(find_place(view(), waiting[i].page, go_on));
    ASSERT_TRUE(place);
    EXPECT_EQ(place->place, i + 1);
    EXPECT_EQ(place->priority, waiting[i].priority);
    EXPECT_EQ(place->highest_priority, waiting.front().priority);
    const auto higher = std::ranges::count_if(
        waiting, [&](const QueuedPage& page) { return page.priority > waiting[i].priority; });
    EXPECT_EQ(place->higher_count, static_cast<std::uint64_t>(higher));
  }
  EXPECT_FALSE(must(find_place(view(), first_page(), go_on)));
  EXPECT_FALSE(must(find_place(view(), kNoPage + 5, go_on)));
}

TEST_F(QueuePass, StopsWhenItIsToldTo) {
  EXPECT_EQ(waiting_hosts(view(), database(), stop).error().code, Errc::kCancelled);
  EXPECT_EQ(waiting_in_range(view(), nullptr, {}, 9, stop).error().code, Errc::kCancelled);
  EXPECT_EQ(find_place(view(), 1, stop).error().code, Errc::kCancelled);
  const auto stop_at_keys = [&](std::uint64_t done, std::uint64_t) { return done == 0; };
  EXPECT_EQ(waiting_hosts(view(), database(), stop_at_keys).error().code, Errc::kCancelled);
}

TEST(Priority, IsReadAsItIsWritten) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  for (const double priority : {0.5, -1.0, 1e-7, -1e300, 0.0, 19'999.0}) {
    EXPECT_EQ(parse_priority(format_priority(priority), kEndless), priority);
  }
  EXPECT_EQ(parse_priority("", -kEndless), -kEndless);
  EXPECT_EQ(format_priority(-kEndless), "");
  for (const char* text : {"-", "x", "1x", "--1", "nan", "inf"}) {
    EXPECT_FALSE(parse_priority(text, 0)) << text;
  }
}

TEST(PlaceText, SaysWhyAPageIsNotNext) {
  const QueueInfo queue{.id = {}, .name = "q", .page_count = 3000};
  const auto text = [&](const QueuePlace& place) { return place_text(queue, place, std::nullopt); };
  EXPECT_EQ(text({0.5, 1, 0, 0.5}), "It waits with priority 0.5 at place 1 of 3,000. It is next.");
  EXPECT_EQ(
      text({0.5, 2, 1, 4}),
      "It waits with priority 0.5 at place 2 of 3,000. 1 page with a higher priority (up to 4) "
      "leaves before it.");
  EXPECT_EQ(
      text({0.5, 1234, 0, 0.5}),
      "It waits with priority 0.5 at place 1,234 of 3,000. 1,233 pages with the same priority "
      "and a lower index leave before it.");
  EXPECT_EQ(
      text({0.5, 1234, 1200, 9}),
      "It waits with priority 0.5 at place 1,234 of 3,000. 1,200 pages with a higher priority "
      "(up to 9) and 33 pages with the same priority and a lower index leave before it.");
}

TEST(PlaceText, SaysWhyAPageDoesNotWait) {
  const auto text = [](const std::optional<PageInfo>& page) { return place_text({}, {}, page); };
  PageInfo page;
  page.last_crawl_us = kCrawlTimeUs;
  EXPECT_EQ(text(std::nullopt), "It does not wait here. The page database does not have it.");
  page.state = PageState::kCrawled;
  EXPECT_EQ(text(page), "It does not wait here. It was crawled at 2026-01-01T00:00:00Z.");
  page.state = PageState::kFailed;
  EXPECT_EQ(text(page), "It does not wait here. Its last fetch failed; it was never crawled.");
  page.crawl_count = 1;
  EXPECT_EQ(
      text(page),
      "It does not wait here. Its last fetch failed; it was crawled at 2026-01-01T00:00:00Z.");
  page.state = PageState::kGone;
  EXPECT_EQ(text(page),
            "It does not wait here. It is gone; it was crawled at 2026-01-01T00:00:00Z.");
  page.state = PageState::kKnown;
  EXPECT_EQ(text(page),
            "It does not wait here. It is known and was not crawled: nobody has inserted it, or it "
            "was taken and its crawl is not in the file yet.");
}

}  // namespace
}  // namespace crawlstore::model
