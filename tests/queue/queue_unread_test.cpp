// SPDX-License-Identifier: Apache-2.0
//
// Queues that are opened without being read: what is damaged is cleared, and used again.
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/transaction.h>

#include "queue/queue_words.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

/// A store of two queues, with wrong bytes in the first queue.
class DamagedStore {
 public:
  /// The last byte of each payload of this kind is wrong: that of a footer, where it is a run.
  explicit DamagedStore(SegmentKind damaged) {
    MemoryStore whole;
    QueueModel model;
    {
      auto queue = must(Queue::open(*whole));
      Random random(1);
      fill_queue(*whole, queue, random, model);
      must(queue.remove(std::vector{model.first(1).front().page}));
      must(whole->commit());
    }
    auto bytes = whole.image();
    for (const SegmentInfo& segment : must(whole->snapshot()).segments()) {
      if (segment.kind != damaged) continue;
      for (const RunInfo& run : segment.runs) {
        bytes[run.extent.offset_bytes + run.payload_bytes - 1] ^= std::byte{1};
      }
    }
    must(whole->close());
    store_.emplace(bytes);
    must(must(Queue::open(**store_, "other")).insert(kOther));
  }
  Store& operator*() { return **store_; }
  Store* operator->() { return &**store_; }
  MemoryStore& store() { return *store_; }

  /// Nothing of the file is damaged once the generation that had the queue is not the previous one
  /// any more, and the other queue is as it was.
  void expect_whole_now() {
    EXPECT_EQ(stored_pages(**store_, "other"), kOther);
    auto other = must(Queue::open(**store_, "other"));
    must(other.insert(QueuedPages{{2, 2}}));
    must((*store_)->commit());
    expect_nothing_reserved(**store_);
    expect_whole(store_->file());
  }

  inline static const QueuedPages kOther = {{1, 1}};

 private:
  std::optional<MemoryStore> store_;
};

const std::vector<SegmentKind> kKinds = {SegmentKind::kQueue, SegmentKind::kQueueEntries};
const QueuedPages kNew = {{9, 3}, {8, 2}};

std::uint64_t bytes_of_queues(const Store& store) {
  std::uint64_t bytes = 0;
  for (const SegmentInfo& segment : must(store.snapshot()).segments()) {
    const bool is_of_queue =
        segment.kind == SegmentKind::kQueue || segment.kind == SegmentKind::kQueueEntries;
    if (is_of_queue) bytes += segment.allocated_bytes();
  }
  return bytes;
}

TEST(QueueUnread, IsClearedAndUsedAgainAlthoughItIsDamaged) {
  for (const SegmentKind kind : kKinds) {
    DamagedStore store(kind);
    const auto refused = Queue::open(*store);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kChunkDamaged);
    EXPECT_GT(bytes_of_queues(*store), 100'000U);
    {
      auto queue = must(Queue::open_unread(*store));
      must(queue.clear());
      must(store->commit());
      EXPECT_EQ(stored_pages(*store), QueuedPages{});
      EXPECT_LT(bytes_of_queues(*store), 20'000U);
      must(queue.insert(kNew));
    }
    store.store().reopen();
    EXPECT_EQ(stored_pages(*store), kNew);
    EXPECT_EQ(must(must(Queue::open(*store)).take(9)), kNew);
    store.expect_whole_now();
  }
}

/// The pages go into the space of the old ones: the file does not grow by them.
TEST(QueueUnread, GivesItsSpaceBack) {
  for (const SegmentKind kind : kKinds) {
    DamagedStore store(kind);
    const std::uint64_t bytes = bytes_of_queues(*store);
    const std::uint64_t free_before = store->free_bytes();
    auto queue = must(Queue::open_unread(*store));
    must(queue.clear());
    // Runs that a generation refers to are kept until there are two newer ones.
    for (int i = 0; i < 3; ++i) {
      must(queue.insert(kNew));
      must(store->commit());
    }
    EXPECT_GT(store->free_bytes() + 40'000, free_before + bytes);
    store.expect_whole_now();
  }
}

TEST(QueueUnread, IsReplacedInOneCommit) {
  for (const SegmentKind kind : kKinds) {
    DamagedStore store(kind);
    auto queue = must(Queue::open_unread(*store));
    {
      const auto dropped = must(Transaction::begin(*store));
      must(queue.clear());
      must(queue.insert(kNew));
      must(queue.take(1));
    }
    must(store->commit());
    EXPECT_EQ(code_of(queue.take(1)), Errc::kInvalidArgument);
    EXPECT_EQ(code_of(QueueView::open(must(store->snapshot())).and_then([](const QueueView& view) {
                return view.peek(kAllPages);
              })),
              Errc::kChunkDamaged);
    auto changing = must(Transaction::begin(*store));
    must(queue.clear());
    must(queue.insert(kNew));
    const Generation before = store->generation();
    must(changing.commit());
    EXPECT_EQ(store->generation().value, before.value + 1);
    EXPECT_EQ(stored_pages(*store), kNew);
    store.expect_whole_now();
  }
}

TEST(QueueUnread, RefusesAllElseUntilItIsCleared) {
  MemoryStore store;
  must(must(Queue::open(*store)).insert(kNew));
  const Generation before = store->generation();
  auto queue = must(Queue::open_unread(*store));
  EXPECT_EQ(queue.count(), 0U);
  EXPECT_EQ(code_of(queue.insert(kNew)), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(queue.update(kNew)), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(queue.remove(std::vector<std::uint64_t>{9})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(queue.trim(0)), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(queue.take(1)), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(Queue::open(*store)), Errc::kInvalidArgument);
  must(queue.close());
  EXPECT_EQ(store->generation(), before);
  EXPECT_EQ(stored_pages(*store), kNew);
}

TEST(QueueUnread, IsMadeWhereThereIsNone) {
  MemoryStore store;
  auto queue = must(Queue::open_unread(*store));
  must(queue.insert(kNew));
  must(queue.close());
  EXPECT_EQ(stored_pages(*store), kNew);
}

}  // namespace
}  // namespace crawlstore::testing
