// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/pages.h>

#include "queue/queue_words.h"
#include "support/bytes.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kPageEnd = std::uint64_t{1} << 40;

TEST(Queue, TakesTheHighestPriorityFirst) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  must(queue.insert(QueuedPages{{7, 0.5}, {8, 2}, {9, -1}, {kPageEnd - 1, 0.5}, {0, 0.5}}));
  EXPECT_EQ(queue.count(), 5U);
  EXPECT_EQ(must(queue.take(2)), (QueuedPages{{8, 2}, {0, 0.5}}));
  EXPECT_EQ(must(queue.take(0)), QueuedPages{});
  EXPECT_EQ(queue.count(), 3U);
  EXPECT_EQ(must(queue.take(100)), (QueuedPages{{7, 0.5}, {kPageEnd - 1, 0.5}, {9, -1}}));
  EXPECT_EQ(must(queue.take(100)), QueuedPages{});
  EXPECT_EQ(queue.count(), 0U);
}

TEST(Queue, HasAPageOnceWithItsLastPriority) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  const auto first = must(queue.insert(QueuedPages{{7, 1}, {7, 1}, {8, 2}, {7, 3}}));
  EXPECT_EQ(first.new_count, 2U);
  EXPECT_EQ(first.updated_count, 2U);
  must(store->commit());
  EXPECT_EQ(queue.count(), 2U);
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{7, 3}, {8, 2}}));
  EXPECT_EQ(must(queue.insert(QueuedPages{{7, 1}, {9, 1}})).new_count, 1U);
  must(store->commit());
  EXPECT_EQ(must(queue.take(1)), (QueuedPages{{8, 2}}));
  EXPECT_EQ(must(queue.insert(QueuedPages{{7, 1}})).updated_count, 1U);
  EXPECT_EQ(must(queue.take(1)), (QueuedPages{{7, 1}}));
  EXPECT_EQ(must(queue.insert(QueuedPages{{7, 3}})).new_count, 1U);
  must(store->commit());
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{7, 3}, {9, 1}}));
  expect_whole(store.file());
  EXPECT_EQ(must(queue.take(5)), (QueuedPages{{7, 3}, {9, 1}}));
}

TEST(Queue, UpdatesAndRemovesWhatWaits) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  EXPECT_EQ(must(queue.update(QueuedPages{{1, 1}})), 0U);
  EXPECT_EQ(must(queue.remove(std::vector<std::uint64_t>{1})), 0U);
  must(queue.insert(QueuedPages{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}}));
  EXPECT_EQ(must(queue.update(QueuedPages{{1, 9}, {6, 9}, {3, 0}})), 2U);
  EXPECT_EQ(must(queue.remove(std::vector<std::uint64_t>{3, 2, 3, kPageEnd})), 2U);
  EXPECT_EQ(queue.count(), 3U);
  EXPECT_EQ(code_of(queue.update(QueuedPages{{1, std::nan("")}})), Errc::kInvalidArgument);
  must(store->commit());
  const auto info = must(QueueView::list(must(store->snapshot()))).front();
  EXPECT_EQ(info.page_count, 3U);
  EXPECT_EQ(info.stale_count, 4U);
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{1, 9}, {5, 5}, {4, 4}}));
  expect_whole(store.file());
  store.reopen();
  queue = must(Queue::open(*store));
  EXPECT_EQ(must(queue.take(1)), (QueuedPages{{1, 9}}));
  EXPECT_EQ(must(queue.update(QueuedPages{{1, 2}, {2, 2}, {4, 6}})), 1U);
  EXPECT_EQ(must(queue.take(9)), (QueuedPages{{4, 6}, {5, 5}}));
  must(queue.insert(QueuedPages{{1, 1}, {2, 2}}));
  EXPECT_EQ(must(queue.remove(std::vector<std::uint64_t>{1, 2})), 2U);
  must(store->commit());
  EXPECT_EQ(stored_pages(*store), QueuedPages{});
  EXPECT_EQ(must(QueueView::list(must(store->snapshot()))).front().stale_count, 0U);
}

TEST(Queue, IsCleared) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  must(queue.insert(QueuedPages{{1, 1}, {2, 2}, {2, 1}}));
  must(store->commit());
  must(queue.clear());
  EXPECT_EQ(queue.count(), 0U);
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{1, 1}, {2, 1}}));
  must(queue.insert(QueuedPages{{2, 7}}));
  must(store->commit());
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{2, 7}}));
  must(queue.clear());
  must(store->commit());
  EXPECT_EQ(stored_pages(*store), QueuedPages{});
  expect_nothing_reserved(*store);
  expect_whole(store.file());
}

TEST(Queue, KnowsOneZeroAndBothInfinities) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  must(queue.insert(QueuedPages{
      {1, -0.0}, {2, 0.0}, {3, -0.0}, {4, -kInfinity}, {5, kInfinity}, {6, 5e-324}, {7, -5e-324}}));
  const QueuedPages sorted = {{5, kInfinity}, {6, 5e-324},  {1, 0},         {2, 0},
                              {3, 0},         {7, -5e-324}, {4, -kInfinity}};
  must(store->commit());
  EXPECT_EQ(stored_pages(*store), sorted);
  const auto taken = must(queue.take(7));
  EXPECT_EQ(taken, sorted);
  EXPECT_FALSE(std::signbit(taken[2].priority));
  expect_whole(store.file());
}

TEST(Queue, RefusesAllOfWhatHasAPageOrPriorityThatIsNone) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  for (const QueuedPage& wrong :
       QueuedPages{{1, std::nan("")}, {1, -std::nan("")}, {kPageEnd, 1}, {~std::uint64_t{0}, 1}}) {
    EXPECT_EQ(code_of(queue.insert(QueuedPages{{1, 1}, wrong})), Errc::kInvalidArgument);
  }
  EXPECT_EQ(queue.count(), 0U);
}

TEST(Queue, TakesInAnyOrderThosePagesThatAreFirst) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  SeededRandom random;
  QueueModel model;
  for (int round = 0; round < 3; ++round) {
    const QueuedPages pages = random_pages(random, 20'000);
    model.insert(pages);
    must(queue.insert(pages));
    auto taken = must(queue.take(7000, QueueOrder::kAny));
    std::ranges::sort(taken, LeavesBefore());
    EXPECT_EQ(taken, model.take(7000));
    must(store->commit());
  }
  EXPECT_EQ(must(queue.take(kAllPages)), model.all());
}

TEST(Queue, KeepsItsPagesWhenItIsOpenedAgain) {
  MemoryStore store;
  for (std::uint64_t page = 0; page < 5; ++page) {
    auto queue = must(Queue::open(*store));
    EXPECT_EQ(queue.count(), page);
    must(queue.insert(QueuedPages{{page, 1}}));
    must(queue.close());
    must(queue.close());
    EXPECT_EQ(code_of(queue.insert(QueuedPages{{9, 1}})), Errc::kClosed);
    EXPECT_EQ(code_of(queue.take(1)), Errc::kClosed);
    if (page % 2 == 0) store.reopen();
  }
  auto queue = must(Queue::open(*store));
  EXPECT_EQ(must(queue.take(9)), (QueuedPages{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}));
  must(queue.close());
  EXPECT_EQ(stored_pages(*store), QueuedPages{});
  expect_whole(store.file());
}

TEST(Queue, CommitsWhenItGoes) {
  MemoryStore store;
  {
    auto queue = must(Queue::open(*store, "a"));
    must(queue.insert(QueuedPages{{1, 1}}));
    auto other = must(Queue::open(*store, "b"));
    must(other.insert(QueuedPages{{2, 1}}));
    queue = std::move(other);
    EXPECT_EQ(stored_pages(*store, "a"), (QueuedPages{{1, 1}}));
    EXPECT_EQ(must(queue.take(1)), (QueuedPages{{2, 1}}));
  }
  EXPECT_EQ(stored_pages(*store, "b"), QueuedPages{});
}

TEST(Queue, IsClosedWithItsStore) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  must(queue.insert(QueuedPages{{1, 1}, {2, 1}}));
  store.reopen();
  EXPECT_EQ(code_of(queue.take(1)), Errc::kClosed);
  EXPECT_TRUE(queue.close());
  auto again = must(Queue::open(*store));
  EXPECT_EQ(again.count(), 2U);
}

TEST(Queue, IsOneOfSeveralInAStore) {
  MemoryStore store;
  auto first = must(Queue::open(*store, "first"));
  auto second = must(Queue::open(*store, "second"));
  EXPECT_EQ(code_of(Queue::open(*store, "first")), Errc::kInvalidArgument);
  must(first.insert(QueuedPages{{1, 1}}));
  must(second.insert(QueuedPages{{2, 1}, {3, 1}}));
  must(first.close());
  EXPECT_EQ(must(second.take(1)), (QueuedPages{{2, 1}}));
  must(second.close());
  EXPECT_EQ(stored_pages(*store, "first"), (QueuedPages{{1, 1}}));
  EXPECT_EQ(stored_pages(*store, "second"), (QueuedPages{{3, 1}}));
  expect_whole(store.file());
}

TEST(Queue, HasANameAsOthersDo) {
  MemoryStore store;
  EXPECT_EQ(code_of(Queue::open(*store, "")), Errc::kTooLarge);
  EXPECT_EQ(code_of(Queue::open(*store, std::string(256, 'a'))), Errc::kTooLarge);
  EXPECT_EQ(code_of(Queue::open(*store, "a\nb")), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(Queue::open(*store, "\xff")), Errc::kInvalidArgument);
  const auto longest = must(Queue::open(*store, std::string(255, 'a')));
  const auto drum = must(Drum<std::uint64_t>::open(*store, "both"));
  auto queue = must(Queue::open(*store, "both"));
  must(queue.insert(QueuedPages{{1, 1}}));
  store.reopen();
  EXPECT_EQ(stored_pages(*store, "both"), (QueuedPages{{1, 1}}));
  EXPECT_EQ(must(list_drums(must(store->snapshot()))).size(), 1U);
}

TEST(Queue, WritesNothingWhenNothingChanged) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  must(queue.insert(QueuedPages{{1, 1}, {2, 0.5}, {3, 0.25}}));
  must(queue.take(1));
  const Generation generation = must(store->commit());
  const auto image = store.image();
  must(queue.insert({}));
  EXPECT_TRUE(must(queue.take(0)).empty());
  EXPECT_EQ(must(store->commit()), generation);
  EXPECT_TRUE(store.image() == image);
  must(queue.close());
  queue = must(Queue::open(*store));
  EXPECT_EQ(must(store->commit()), generation);
  EXPECT_TRUE(store.image() == image);
}

TEST(Queue, IsCommittedWithAllElse) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  auto seen = must(Drum<std::uint64_t>::open(*store, "seen"));
  auto pages = must(PageDb::open(*store));
  must(queue.insert(QueuedPages{{1, 1}}));
  must(seen.update(5));
  must(seen.merge());
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{1, 1}}));
  must(queue.insert(QueuedPages{{2, 1}}));
  must(pages.add(CrawledPage("http://a.test/", 1'000'000)));
  must(pages.merge());
  must(store->commit());
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{1, 1}, {2, 1}}));
  must(queue.take(1));
  const Generation before = store->generation();
  must(seen.update(6));
  EXPECT_EQ(must(store->commit()).value, before.value + 1);
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{2, 1}}));
}

/// 300,000 pages, more than a run of the smallest kind has, with commits between.
TEST(Queue, IsASortedSetHoweverLarge) {
  constexpr std::size_t kRounds = 20;
  constexpr std::size_t kPages = 15'000;
  MemoryStore store;
  SeededRandom random;
  QueueModel model;
  std::optional<Queue> queue(must(Queue::open(*store)));
  for (std::size_t round = 0; round < kRounds; ++round) {
    const QueuedPages pages = random_pages(random, kPages);
    model.insert(pages);
    must(queue->insert(pages));
    const QueuedPages others = random_pages(random, kPages / 10);
    model.update(others);
    must(queue->update(others));
    std::vector<std::uint64_t> removed;
    for (const QueuedPage& page : random_pages(random, kPages / 20)) removed.push_back(page.page);
    for (const QueuedPage& page : model.first(random.below(100))) removed.push_back(page.page);
    const std::size_t count_before = model.count();
    for (const std::uint64_t page : removed) model.remove(page);
    ASSERT_EQ(must(queue->remove(removed)), count_before - model.count());
    const std::size_t count = random.below(kPages);
    ASSERT_EQ(must(queue->take(count)), model.take(count));
    ASSERT_EQ(queue->count(), model.count());
    must(store->commit());
    expect_nothing_reserved(*store);
    expect_whole(store.file());
    if (round % 4 == 0) {
      ASSERT_EQ(stored_pages(*store), model.all());
    }
    if (!random.one_in(3)) continue;
    queue.reset();
    queue.emplace(must(Queue::open(*store)));
  }
  ASSERT_EQ(must(queue->take(kAllPages)), model.all());
}

/// A caller that takes a page each time that one is inserted needs no more space with time.
TEST(Queue, NeedsSpaceForWhatWaitsOnly) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  Random random(1);
  must(queue.insert(random_pages(random, 5000)));
  std::uint64_t most_early = 0;
  std::uint64_t most = 0;
  for (int round = 0; round < 200; ++round) {
    must(queue.insert(random_pages(random, 500)));
    must(queue.take(500));
    must(store->commit());
    const auto queues = must(QueueView::list(must(store->snapshot())));
    most = std::max(most, queues.front().allocated_bytes);
    if (round == 40) most_early = most;
    ASSERT_LE(queues.front().run_count, 16U);
  }
  EXPECT_LE(most, 2 * most_early);
  EXPECT_LE(store->file_bytes(), std::uint64_t{4} << 20);
}

}  // namespace
}  // namespace crawlstore::testing
