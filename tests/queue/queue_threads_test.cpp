// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/transaction.h>

#include "queue/queue_words.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

TEST(QueueThreads, ReadOneView) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  Random random(1);
  must(queue.insert(random_pages(random, 20'000)));
  must(store->commit());
  const auto view = must(QueueView::open(must(store->snapshot())));
  const auto expected = must(view.peek(9000));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] { right += must(view.peek(9000)) == expected ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right.load(), 3);
}

TEST(QueueThreads, WaitForATransaction) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  must(queue.insert(QueuedPages{{1, 1}, {2, 2}}));
  auto both = must(Transaction::begin(*store));
  must(queue.take(1));
  auto other = std::async(std::launch::async, [&] { must(queue.insert(QueuedPages{{3, 3}})); });
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  EXPECT_EQ(queue.count(), 1U);
  both.drop();
  other.get();
  EXPECT_EQ(must(queue.take(9)), (QueuedPages{{3, 3}, {2, 2}, {1, 1}}));
}

/// The pages that a thread inserts, one after the other.
QueuedPages pages_of(std::uint64_t thread) {
  Random random(thread);
  QueuedPages pages;
  for (std::uint64_t i = 0; i < 60; ++i) {
    pages.push_back({thread << 32U | i, -static_cast<double>(random.below(9))});
  }
  return pages;
}

TEST(QueueThreads, UseAQueueThatIsCompacted) {
  Random random(test_seed());
  MemoryStore store;
  QueueModel model;
  auto queue = must(Queue::open(*store));
  fill_queue(*store, queue, random, model);
  std::mutex mutex;  // guards `taken`
  QueuedPages taken;
  std::atomic<int> running{2};
  const auto crawl = [&](std::uint64_t thread) {
    for (const QueuedPage& page : pages_of(thread)) {
      must(queue.insert({&page, 1}));
      const QueuedPages next = must(queue.take(200));
      if (page.page % 8 == 7) must(store->commit());
      const std::lock_guard lock(mutex);
      taken.insert(taken.end(), next.begin(), next.end());
    }
    --running;
  };
  for (const std::uint64_t thread : {1U, 2U}) model.insert(pages_of(thread));
  std::thread first(crawl, 1);
  std::thread second(crawl, 2);
  std::uint64_t moved = 0;
  while (running > 0) moved += must(store->compact()).moved_bytes;
  first.join();
  second.join();
  EXPECT_GT(moved, 0U);
  const QueuedPages rest = must(queue.take(kAllPages));
  taken.insert(taken.end(), rest.begin(), rest.end());
  std::ranges::sort(taken, LeavesBefore());
  EXPECT_EQ(taken, model.all());
  must(queue.close());
  expect_whole(store.file());
}

}  // namespace
}  // namespace crawlstore::testing
