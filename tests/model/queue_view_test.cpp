// SPDX-License-Identifier: Apache-2.0
#include "model/queue_view.h"

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

constexpr std::uint64_t kNoPage = 1'000'000;  // the database has none of this index

/// A small web, and a queue in which some of its pages wait, and one that it does not have.
class QueueTables : public ::testing::Test {
 protected:
  QueueTables() : pages_(must(PageDb::open(*store_))), queue_(must(Queue::open(*store_))) {
    crawl_web(pages_, 2, 4, kCrawlTimeUs);
    must(pages_.merge());
    must(queue_.insert(std::vector<QueuedPage>{{0, 0.5}, {1, 4}, {2, 0.25}, {kNoPage, 1}, {3, 9}}));
    must(store_->commit());
    must(queue_.take(1));
    must(store_->commit());
  }
  [[nodiscard]] Snapshot snapshot() { return must(store_->snapshot()); }
  [[nodiscard]] QueueView view() { return must(QueueView::open(snapshot())); }
  [[nodiscard]] std::vector<WaitingPage> first(std::size_t count) {
    const PageView pages = must(PageView::open(snapshot()));
    return must(waiting_pages(view(), &pages, count));
  }
  Cell place(std::uint64_t index) {
    const auto fields = queue_fields(snapshot(), index);
    return fields.empty() ? Cell() : fields.front().value;
  }

  MemoryStore store_;
  PageDb pages_;
  Queue queue_;
};

TEST_F(QueueTables, NameTheFirstPagesWithHostsWhereTheyHaveURLs) {
  const auto pages = first(3);
  const PageView view = must(PageView::open(snapshot()));
  const Table table = first_table(pages);
  ASSERT_EQ(table.rows.size(), 3U);
  const std::string url = must(view.url(1));
  EXPECT_EQ(table.rows[0],
            (std::vector<Cell>{std::uint64_t{1}, std::uint64_t{1}, 4.0,
                               url.substr(7, std::string("a.example").size()), url}));
  EXPECT_EQ(table.rows[1], (std::vector<Cell>{kNoPage, std::uint64_t{2}, 1.0, std::monostate(),
                                              std::monostate()}));
  EXPECT_EQ(std::get<std::uint64_t>(table.rows[2][0]), 0U);
  EXPECT_EQ(first_table(pages, 7).rows[2][1], Cell(std::uint64_t{10}));
  const auto without = must(waiting_pages(this->view(), nullptr, 3));
  EXPECT_EQ(without[0].queued, pages[0].queued);
  EXPECT_EQ(without[0].url, "");
}

TEST_F(QueueTables, SayWhereRunsLieAndSinceWhen) {
  must(queue_.update(std::vector<QueuedPage>{{1, 2}}));
  must(store_->commit());
  const auto segments = snapshot().segments();
  const QueueInfo info = view().info();
  const Table table = queue_runs_table(info, view().runs(), segments);
  const auto log = std::ranges::find(segments, info.id, &SegmentInfo::owner);
  ASSERT_NE(log, segments.end());
  ASSERT_EQ(table.rows.size(), log->runs.size());
  for (const auto& row : table.rows) {
    const RunId id{std::get<std::uint64_t>(row[0])};
    const auto run = std::ranges::find(log->runs, id, &RunInfo::run_id);
    ASSERT_NE(run, log->runs.end());
    EXPECT_EQ(row[1], Cell(run->born.value));
    EXPECT_EQ(row[3], Cell(run->record_count));
    EXPECT_EQ(row[6], Cell(run->extent.length_bytes));
    EXPECT_EQ(row[7], Cell(run->extent.offset_bytes));
  }
  EXPECT_EQ(table.rows.back()[2], Cell(true));
  EXPECT_EQ(table.rows.front()[10], Cell(9.0));
  const Table unknown = queue_runs_table(info, view().runs(), {});
  EXPECT_EQ(unknown.rows.front()[1], Cell());
}

TEST_F(QueueTables, SayAPlaceOnlyOfPagesThatWait) {
  EXPECT_EQ(place(1), Cell(std::uint64_t{1}));
  EXPECT_EQ(place(2), Cell(std::uint64_t{4}));
  EXPECT_EQ(place(3), Cell()) << "it was taken";
  std::vector<QueuedPage> before;
  for (std::uint64_t i = 0; i < kPlacesMax; ++i) before.push_back({kNoPage + 1 + i, 3});
  must(queue_.insert(before));
  must(store_->commit());
  EXPECT_EQ(place(1), Cell(std::uint64_t{1}));
  EXPECT_EQ(place(0), Cell()) << "behind the first thousand";
}

TEST(PlaceAmong, FollowsTheBins) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const std::vector<QueueBin> bins{{8, 4, 0, 0}, {4, 0, 0, 0}};
  EXPECT_EQ(place_among(bins, kEndless), 0);
  EXPECT_EQ(place_among(bins, 8), 0);
  EXPECT_EQ(place_among(bins, 6), 0.25);
  EXPECT_EQ(place_among(bins, 4), 0.5);
  EXPECT_EQ(place_among(bins, 1), 0.875);
  EXPECT_EQ(place_among(bins, 0), 1);
  EXPECT_EQ(place_among(bins, -3), 1);
  EXPECT_EQ(place_among({}, 3), 1);
  EXPECT_EQ(place_among(std::vector<QueueBin>{{kEndless, 1, 0, 0}}, 5), 0);
}

TEST(PriorityAmong, IsTheOtherWayRound) {
  const std::vector<QueueBin> bins{{8, 4, 10, 6}, {4, 0, 7, 7}, {0, -2, 1, 1}};
  EXPECT_EQ(priority_among(bins, -1), 8);
  EXPECT_EQ(priority_among(bins, 0), 8);
  EXPECT_EQ(priority_among(bins, 1), -2);
  EXPECT_EQ(priority_among(bins, 2), -2);
  for (const double priority : {8.0, 7.0, 4.0, 3.0, 1.0, 0.0, -1.0, -2.0}) {
    EXPECT_NEAR(priority_among(bins, place_among(bins, priority)), priority, 1e-12);
  }
  EXPECT_EQ(remaining_before(bins, 0), 0U);
  EXPECT_EQ(remaining_before(bins, 2), 13U);
  EXPECT_EQ(remaining_before(bins, 3), 14U);
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const std::vector<QueueBin> endless{{kEndless, 1, 0, 0}};
  EXPECT_EQ(priority_among(endless, 0.5), kEndless);
  EXPECT_EQ(priority_among(endless, 1), 1);
}

}  // namespace
}  // namespace crawlstore::model
