// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <stdexcept>

#include <gtest/gtest.h>

#include <crawlstore/transaction.h>

#include "queue/queue_words.h"
#include "support/bytes.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

/// A store with a queue of which pages wait in the file, and one in memory.
struct World {
  MemoryStore store;
  Queue queue = must(Queue::open(*store));
  Seen seen = must(Seen::open(*store, "seen", seen_options()));

  World() {
    must(queue.insert(QueuedPages{{1, 10}, {2, 9}, {3, 8}, {4, 7}}));
    must(queue.take(1));
    must(store->commit());
    must(queue.insert(QueuedPages{{5, 9.5}}));
  }
  QueuedPages stored() { return stored_pages(*store); }
};

const QueuedPages kBefore = {{2, 9}, {3, 8}, {4, 7}};
const QueuedPages kAlsoWaiting = {{5, 9.5}, {2, 9}, {3, 8}, {4, 7}};

TEST(QueueTransaction, CommitsInsertionsAndTakesTogether) {
  World world;
  const Generation before = world.store->generation();
  auto both = must(Transaction::begin(*world.store));
  EXPECT_EQ(must(world.queue.take(2)), (QueuedPages{{5, 9.5}, {2, 9}}));
  must(world.queue.insert(QueuedPages{{6, 20}}));
  must(world.seen.update(7));
  EXPECT_EQ(world.queue.count(), 3U);
  EXPECT_EQ(world.stored(), kBefore);
  EXPECT_EQ(must(both.commit()).value, before.value + 1);
  EXPECT_EQ(world.stored(), (QueuedPages{{6, 20}, {3, 8}, {4, 7}}));
  EXPECT_EQ(drum_info(*world.store, "seen").pending_count, 1U);
  expect_whole(world.store.file());
}

TEST(QueueTransaction, LeavesNothingBehindWhenItIsDropped) {
  World world;
  {
    auto dropped = must(Transaction::begin(*world.store));
    must(world.queue.insert(QueuedPages{{6, 20}, {7, 1}}));
    EXPECT_EQ(must(world.queue.take(3)), (QueuedPages{{6, 20}, {5, 9.5}, {2, 9}}));
    must(world.queue.insert(QueuedPages{{8, 2}}));
    dropped.drop();
    EXPECT_EQ(world.queue.count(), 4U);
  }
  {
    const auto dropped = must(Transaction::begin(*world.store));
    EXPECT_EQ(must(world.queue.take(kAllPages)), kAlsoWaiting);
  }
  EXPECT_EQ(world.stored(), kBefore);
  must(world.store->commit());
  EXPECT_EQ(world.stored(), kAlsoWaiting);
  EXPECT_EQ(must(world.queue.take(9)), kAlsoWaiting);
  expect_whole(world.store.file());
}

/// One that came to nothing is over as well: the next one must not go back to before it.
TEST(QueueTransaction, EndsWhenItChangedNothing) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  must(store->commit());
  {
    auto empty = must(Transaction::begin(*store));
    must(queue.insert(QueuedPages{{1, 1}}));
    must(queue.take(1));
    must(empty.commit());
  }
  must(queue.insert(QueuedPages{{2, 1}}));
  {
    const auto dropped = must(Transaction::begin(*store));
    must(queue.insert(QueuedPages{{3, 1}}));
  }
  EXPECT_EQ(queue.count(), 1U);
  must(store->commit());
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{2, 1}}));
}

std::uint64_t used_bytes(const Store& store) {
  return store.file_bytes() - store.free_bytes();
}

TEST(QueueTransaction, GivesItsSpaceBack) {
  World world;
  Random random(1);
  std::uint64_t early = 0;
  const QueuedPages pages = random_pages(random, 1'100'000);  // more than wait in memory
  for (int round = 0; round < 6; ++round) {
    {
      const auto dropped = must(Transaction::begin(*world.store));
      const std::uint64_t before = used_bytes(*world.store);
      must(world.queue.insert(pages));
      EXPECT_GT(used_bytes(*world.store), before) << "no run was written";
      must(world.queue.take(1000));
    }
    must(world.store->commit());
    if (round == 2) early = used_bytes(*world.store);
    ASSERT_TRUE(round < 2 || used_bytes(*world.store) == early) << round;
  }
  EXPECT_EQ(world.stored(), kAlsoWaiting);
  expect_nothing_reserved(*world.store);
  expect_whole(world.store.file());
}

/// The transaction is so large that runs are written, and joined, before it ends.
TEST(QueueTransaction, IsAsLargeAsItLikes) {
  World world;
  Random random(1);
  QueueModel model;
  model.insert(kAlsoWaiting);
  for (const bool commits : {false, true}) {
    auto large = must(Transaction::begin(*world.store));
    QueueModel inside = model;
    for (int piece = 0; piece < 10; ++piece) {
      const QueuedPages pages = random_pages(random, 20'000);
      inside.insert(pages);
      must(world.queue.insert(pages));
      ASSERT_EQ(must(world.queue.take(4000)), inside.take(4000));
    }
    if (commits) model = inside;
    commits ? (void)must(large.commit()) : large.drop();
    ASSERT_EQ(world.queue.count(), model.count());
  }
  ASSERT_EQ(must(world.queue.take(9000)), model.take(9000));
  must(world.store->commit());
  EXPECT_EQ(world.stored(), model.all());
  expect_nothing_reserved(*world.store);
  expect_whole(world.store.file());
}

TEST(QueueTransaction, RefusesToOpenOrCloseAQueueInside) {
  World world;
  auto both = must(Transaction::begin(*world.store));
  must(world.queue.take(1));
  EXPECT_EQ(code_of(Queue::open(*world.store, "new")), Errc::kReentrant);
  EXPECT_EQ(code_of(world.queue.close()), Errc::kReentrant);
  must(both.commit());
  EXPECT_EQ(world.stored(), kBefore);
}

TEST(QueueTransaction, OutlivesTheHandleOfTheQueue) {
  for (const bool commits : {false, true}) {
    World world;
    auto both = must(Transaction::begin(*world.store));
    must(world.queue.take(2));
    { const Queue gone = std::move(world.queue); }
    commits ? (void)must(both.commit()) : both.drop();
    const auto expected = commits ? QueuedPages{{3, 8}, {4, 7}} : kAlsoWaiting;
    EXPECT_EQ(world.stored(), expected);
    world.queue = must(Queue::open(*world.store));
    EXPECT_EQ(must(world.queue.take(9)), expected);
  }
}

TEST(QueueTransaction, CommitsAgainOrIsDroppedWhenTheDiskWasFull) {
  for (const bool commits : {false, true}) {
    Recorder recorder(make_empty_store_file(std::uint64_t{1} << 26));
    auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
    auto queue = must(Queue::open(store));
    must(queue.insert(QueuedPages{{1, 1}}));
    must(store.commit());
    auto both = must(Transaction::begin(store));
    must(queue.take(1));
    must(queue.insert(QueuedPages{{2, 1}}));
    recorder.inject({.calls = calls(CallKind::kAllocate, CallKind::kWrite),
                     .forever = true,
                     .system_errno = ENOSPC});
    EXPECT_EQ(code_of(both.commit()), Errc::kNoSpace);
    recorder.stop_injecting();
    EXPECT_EQ(stored_pages(store), (QueuedPages{{1, 1}}));
    commits ? (void)must(both.commit()) : both.drop();
    EXPECT_EQ(must(queue.take(9)), (QueuedPages{{commits ? 2U : 1U, 1}}));
  }
}

/// Each key that is new goes to the queue.
struct Fetch {
  Queue& queue;
  std::uint64_t calls_max = ~std::uint64_t{0};
  std::uint64_t calls = 0;
  void unique_key_update(const Seen::AnswerType& answer) {
    if (++calls > calls_max) throw std::runtime_error("no");
    must(queue.insert(QueuedPages{{answer.key >> 32U, 1}}));
    must(queue.take(answer.key % 2));
  }
};

TEST(QueueTransaction, IsThatOfADispatcher) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  auto seen = must(Seen::open(*store, "seen", seen_options()));
  must(queue.insert(QueuedPages{{1, 2}, {2, 2}, {3, 2}}));
  constexpr std::uint64_t kKeys = 40;
  for (std::uint64_t i = 0; i < kKeys; ++i) must(seen.check_update(i << 58U | i));
  Fetch fails{queue, kKeys - 1};
  const auto merged = seen.merge(fails);
  EXPECT_EQ(code_of(merged), Errc::kDispatcherFailed);
  const auto known = seen.status().key_count;
  EXPECT_LT(known, kKeys);
  EXPECT_EQ(queue.count(), 3 + known - known / 2);
  MemoryStore survivor(store.image());
  EXPECT_EQ(must(Queue::open(*survivor)).count(), 3 + drum_info(*survivor, "seen").key_count / 2);
  Fetch fetch{queue};
  must(seen.merge(fetch));
  EXPECT_EQ(queue.count(), 3 + kKeys / 2);
  EXPECT_EQ(stored_pages(*store).size(), 3 + kKeys / 2);
  expect_whole(store.file());
}

TEST(QueueTransaction, IsKeptByAMergeThatDoesNotCommit) {
  MemoryStore store;
  auto queue = must(Queue::open(*store));
  DrumOptions options = seen_options();
  options.durability = Durability::kNone;
  auto seen = must(Seen::open(*store, "seen", options));
  const Generation before = must(store->commit());
  must(seen.check_update(std::uint64_t{6} << 32U));
  Fetch fetch{queue};
  must(seen.merge(fetch));
  EXPECT_EQ(store->generation(), before);
  must(seen.check_update(std::uint64_t{7} << 32U));
  Fetch fails{queue, 0};
  EXPECT_EQ(code_of(seen.merge(fails)), Errc::kDispatcherFailed);
  EXPECT_EQ(queue.count(), 1U);
  must(store->commit());
  EXPECT_EQ(stored_pages(*store), (QueuedPages{{6, 1}}));
}

}  // namespace
}  // namespace crawlstore::testing
