// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <crawlstore/tools/diff.h>

#include "queue/queue_words.h"
#include "support/bytes.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

Snapshot commit_all(MemoryStore& store) {
  must(store->commit());
  return must(store->snapshot());
}

TEST(QueueView, ListsQueuesByName) {
  MemoryStore store;
  EXPECT_TRUE(must(QueueView::list(must(store->snapshot()))).empty());
  auto second = must(Queue::open(*store, "b"));
  auto first = must(Queue::open(*store, "a"));
  must(second.insert(QueuedPages{{1, 1}, {2, 2}}));
  must(store->commit());
  must(second.take(1));
  must(second.insert(QueuedPages{{3, 3}, {4, 4}}));
  must(store->commit());
  const auto queues = must(QueueView::list(must(store->snapshot())));
  ASSERT_EQ(queues.size(), 2U);
  EXPECT_EQ(queues[0].name, "a");
  EXPECT_EQ(queues[0].page_count, 0U);
  EXPECT_EQ(queues[0].run_count, 0U);
  EXPECT_EQ(queues[1].name, "b");
  EXPECT_EQ(queues[1].page_count, 3U);
  EXPECT_EQ(queues[1].run_count, 2U);
  EXPECT_GT(queues[1].allocated_bytes, queues[0].allocated_bytes);
  EXPECT_EQ(must(QueueView::open(must(store->snapshot()), "b")).info().id, queues[1].id);
}

TEST(QueueView, OpensOnlyWhatIsThere) {
  MemoryStore store;
  const auto queue = must(Queue::open(*store, "a"));
  EXPECT_EQ(code_of(QueueView::open(must(store->snapshot()), "a")), Errc::kUnknownName);
  must(store->commit());
  EXPECT_TRUE(QueueView::open(must(store->snapshot()), "a"));
  EXPECT_EQ(code_of(QueueView::open(must(store->snapshot()))), Errc::kUnknownName);
}

TEST(QueueView, StaysWhileTheWriterTakes) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  Random random(1);
  QueueModel model;
  const QueuedPages pages = random_pages(random, 40'000);
  model.insert(pages);
  must(queue.insert(pages));
  must(store->commit());
  const auto view = must(QueueView::open(must(store->snapshot())));
  for (int round = 0; round < 20; ++round) {
    must(queue.take(2000));
    must(queue.insert(random_pages(random, 1500)));
    must(store->commit());
  }
  must(queue.take(kAllPages));
  must(store->commit());
  must(store->compact());
  EXPECT_EQ(must(view.peek(10)), model.first(10));
  EXPECT_EQ(must(view.peek(kAllPages)), model.all());
  EXPECT_EQ(must(view.peek(0)), QueuedPages{});
  EXPECT_EQ(view.info().page_count, model.count());
}

/// The first `count` pages that a visitor is told of.
QueuedPages visited_pages(const QueueView& view, std::size_t count) {
  QueuedPages visited;
  must(view.for_each_page([&](const QueuedPage& page) {
    visited.push_back(page);
    return visited.size() < count;
  }));
  return visited;
}

TEST(QueueView, VisitsThePagesInTheOrderOfTheQueueUntilItIsStopped) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  Random random(1);
  QueueModel model;
  fill_queue(*store, queue, random, model);
  const QueuedPages more = random_pages(random, 200'000);
  model.insert(more);
  must(queue.insert(more));
  must(store->commit());
  const auto view = must(QueueView::open(must(store->snapshot())));
  ASSERT_GT(model.count(), 150'000U) << "several pieces, with changed pages";
  EXPECT_EQ(visited_pages(view, kAllPages), model.all());
  EXPECT_EQ(visited_pages(view, 70'001), model.first(70'001));
  must(queue.clear());
  EXPECT_EQ(visited_pages(must(QueueView::open(commit_all(store))), kAllPages), QueuedPages{});
}

TEST(QueueView, IsThatOfTheOlderStateAfterARollback) {
  MemoryStore store;
  {
    auto queue = must(Queue::open(*store));
    must(queue.insert(QueuedPages{{1, 3}, {2, 2}}));
    must(store->commit());
    must(queue.take(1));
    must(queue.insert(QueuedPages{{3, 1}}));
    must(queue.close());
  }
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{2, 2}, {3, 1}}));
  must(store->rollback());
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{1, 3}, {2, 2}}));
  auto queue = must(Queue::open(*store));
  EXPECT_EQ(must(queue.take(9)), (QueuedPages{{1, 3}, {2, 2}}));
  must(queue.close());
  expect_whole(store.file());
}

TEST(QueueView, ReadsACopyOfTheStore) {
  const TemporaryFolder folder;
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  Random random(1);
  must(queue.insert(random_pages(random, 10'000)));
  must(queue.take(500));
  must(store->commit());
  const auto expected = stored_pages(*store);
  must(copy_snapshot(must(store->snapshot()), folder / "copy.crawl"));
  must(queue.take(500));
  auto copy = must(Store::open(folder / "copy.crawl"));
  EXPECT_EQ(stored_pages(copy), expected);
  auto copied = must(Queue::open(copy));
  EXPECT_EQ(must(copied.take(kAllPages)), expected);
  must(copy.close());
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  EXPECT_TRUE(must(verify(folder / "copy.crawl", options)).whole());
}

/// The number of pages of a model that have a priority from `low` to `high`.
std::uint64_t count_between(const QueuedPages& pages, double low, double high) {
  return static_cast<std::uint64_t>(std::ranges::count_if(pages, [&](const QueuedPage& page) {
    return page.priority >= low && page.priority <= high;
  }));
}

TEST(QueueView, TellsOfRunsWhatHasLeftAndWhatIsLeft) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  EXPECT_TRUE(must(QueueView::open(commit_all(store))).runs().empty());
  QueuedPages pages;
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    pages.push_back({i, 1 + static_cast<double>(i * 7919 % 60'000)});
  }
  must(queue.insert(pages));
  must(store->commit());
  must(queue.take(15'000));
  must(queue.remove(std::vector<std::uint64_t>{0}));
  const QueueView view = must(QueueView::open(commit_all(store)));
  const auto runs = view.runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_FALSE(runs[0].has_changes);
  EXPECT_EQ(runs[0].entry_count, 60'000U);
  EXPECT_NEAR(static_cast<double>(runs[0].remaining_count), 45'000, 16'384);
  EXPECT_GT(runs[0].fragment_count, 3U);
  EXPECT_EQ(runs[0].first_priority, 60'000);
  EXPECT_EQ(runs[0].last_priority, 1);
  ASSERT_TRUE(runs[0].cut);
  EXPECT_EQ(runs[0].cut->priority, 45'001);
  EXPECT_TRUE(runs[1].has_changes);
  EXPECT_EQ(runs[1].entry_count, 1U);
  EXPECT_EQ(runs[1].remaining_count, 1U);
  EXPECT_FALSE(runs[1].cut);
  EXPECT_NE(runs[0].run, runs[1].run);
  EXPECT_LT(runs[0].allocated_bytes + runs[1].allocated_bytes, view.info().allocated_bytes);
}

TEST(QueueView, CountsByPriorityToAFragment) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  Random random(1);
  QueuedPages pages;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    pages.push_back({i, std::pow(10, -9 + 9e-6 * static_cast<double>(random.below(1'000'000)))});
  }
  pages.push_back({100'000, 0});
  must(queue.insert(pages));
  must(store->commit());
  const double pages_first = must(queue.take(20'000)).front().priority;
  const Snapshot snapshot = commit_all(store);
  const QueueView view = must(QueueView::open(snapshot));
  const std::uint64_t read_before = snapshot.counters().bytes_read;
  const auto bins = view.distribution(9);
  EXPECT_EQ(snapshot.counters().bytes_read, read_before);
  ASSERT_EQ(bins.size(), 9U);
  std::uint64_t entry_count = 0;
  std::uint64_t remaining_count = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    EXPECT_EQ(bins[i].first_priority, i == 0 ? pages_first : bins[i - 1].last_priority);
    const auto between =
        static_cast<double>(count_between(pages, bins[i].last_priority, bins[i].first_priority));
    EXPECT_NEAR(static_cast<double>(bins[i].entry_count), between, 1000) << i;
    EXPECT_NEAR(between, 100'000.0 / 9, 5000) << "the axis is logarithmic, up to a fragment";
    entry_count += bins[i].entry_count;
    remaining_count += bins[i].remaining_count;
  }
  EXPECT_EQ(bins.back().last_priority, 0);
  EXPECT_EQ(bins[0].remaining_count, 0U);
  EXPECT_EQ(bins[8].remaining_count, bins[8].entry_count);
  EXPECT_EQ(entry_count, pages.size());
  EXPECT_EQ(remaining_count, view.runs().front().remaining_count);
  EXPECT_NEAR(static_cast<double>(remaining_count), 80'001, 1000);
}

TEST(QueueView, CountsWhatIsAllTheSameInOneBin) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  QueuedPages pages;
  for (std::uint64_t i = 0; i < 50'000; ++i) pages.push_back({i, 0.5});
  must(queue.insert(pages));
  must(store->commit());
  must(queue.take(10'000));
  const QueueView view = must(QueueView::open(commit_all(store)));
  EXPECT_TRUE(view.distribution(0).empty());
  const auto bins = view.distribution(9);
  ASSERT_EQ(bins.size(), 1U);
  EXPECT_EQ(bins[0].first_priority, 0.5);
  EXPECT_EQ(bins[0].last_priority, 0.5);
  EXPECT_EQ(bins[0].entry_count, 50'000U);
  EXPECT_NEAR(static_cast<double>(bins[0].remaining_count), 40'000, 100);
}

TEST(QueueView, PutsNotAWholeFragmentAtZero) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  QueuedPages pages;
  for (std::uint64_t i = 0; i < 3000; ++i) pages.push_back({i, static_cast<double>(i)});
  must(queue.insert(pages));
  must(store->commit());
  must(queue.take(1000));
  const QueueView view = must(QueueView::open(commit_all(store)));
  EXPECT_NEAR(static_cast<double>(view.runs().front().remaining_count), 2000, 2);
}

TEST(QueueView, CountsOnALinearAxisWhatIsBelowZero) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  must(queue.insert(QueuedPages{{1, -1}, {2, -1}, {3, 3}}));
  auto bins = must(QueueView::open(commit_all(store))).distribution(4);
  ASSERT_EQ(bins.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(bins[i].first_priority, 3 - static_cast<double>(i));
    EXPECT_EQ(bins[i].last_priority, 2 - static_cast<double>(i));
  }
  must(queue.insert(QueuedPages{{4, kEndless}, {5, -kEndless}}));
  bins = must(QueueView::open(commit_all(store))).distribution(2);
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_EQ(bins[0].first_priority, kEndless);
  EXPECT_EQ(bins[0].last_priority, 0);
  EXPECT_EQ(bins[1].last_priority, -kEndless);
  EXPECT_EQ(bins[0].entry_count + bins[1].entry_count, 5U);
}

TEST(QueueView, IsAMatterOfSegmentsInADiff) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  const Snapshot none = must(store->snapshot());
  must(queue.insert(QueuedPages{{1, 1}, {2, 2}}));
  must(store->commit());
  const Snapshot older = must(store->snapshot());
  must(queue.take(1));
  must(store->commit());
  const auto changes = [](const Snapshot& from, const Snapshot& to) {
    std::vector<std::pair<SegmentKind, Change>> told;
    DiffSink sink;
    sink.segment = [&told](const SegmentDiff& segment) {
      told.emplace_back(segment.kind, segment.change);
    };
    must(diff(from, to, sink));
    return told;
  };
  using enum SegmentKind;
  const Snapshot newer = must(store->snapshot());
  EXPECT_EQ(changes(none, older).size(), 2U);
  EXPECT_EQ(changes(older, newer), (std::vector{std::pair(kQueue, Change::kChanged)}));
  EXPECT_EQ(changes(newer, none).size(), 2U);
}

}  // namespace
}  // namespace crawlstore::testing
