// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <crawlstore/diff.h>

#include "queue/queue_words.h"
#include "support/bytes.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

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
