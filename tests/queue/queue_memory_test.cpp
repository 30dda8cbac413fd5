// SPDX-License-Identifier: Apache-2.0
//
// How much memory a queue takes, counted by operator new: an allocation above the bound fails.
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/queue.h>
#include <crawlstore/store.h>
#include <crawlstore/transaction.h>

#include "drum/memory_store.h"
#include "support/allocation_failure.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using QueuedPages = std::vector<QueuedPage>;

/// The least memory that a queue may have, of which a bit for each page is no part.
constexpr std::uint64_t kMemoryBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kPagesMax = std::uint64_t{1} << 23;
constexpr std::size_t kPagesAtOnce = 4096;

/// The bound of allocations while it lives: those that a queue of kMemoryBytes and its store need.
class Bound {
 public:
  Bound() {
    const std::uint64_t bytes = kMemoryBytes + kPagesMax / 8 + (1 << 20);
    live_bytes_max = live_bytes + static_cast<std::int64_t>(bytes);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound() { live_bytes_max = std::numeric_limits<std::int64_t>::max(); }
};

struct World {
  TemporaryFolder folder;
  Store store = must(Store::create(folder / "x.crawl"));
  Bound bound;
  Queue queue = must(Queue::open(store, Queue::kDefaultName, {.memory_bytes = kMemoryBytes}));
  SeededRandom random;
  std::uint64_t next = 0;

  /// Pages that do not wait, with priorities from `low` on.
  void insert_new(std::uint64_t count, double low = 0) {
    QueuedPages pages(kPagesAtOnce);
    for (const std::uint64_t end = next + count; next < end;) {
      for (QueuedPage& page : pages) page = {next++, low + priority()};
      must(queue.insert(pages));
    }
  }
  double priority() { return static_cast<double>(random.below(1 << 20)) / (1 << 20); }
};

/// All in one commit, so that runs become many before it.
TEST(QueueMemory, IsBoundedWhereManyAreInsertedAtOnce) {
  World world;
  world.insert_new(6'000'000);
  must(world.store.commit());
  EXPECT_EQ(must(world.queue.take(1000)).size(), 1000U);
  EXPECT_EQ(world.queue.count(), 5'999'000U + kPagesAtOnce - 6'000'000U % kPagesAtOnce);
}

/// The best comes last, for ever: what is inserted is near, and born between two commits.
TEST(QueueMemory, IsBoundedWhereTheBestComesLast) {
  World world;
  world.insert_new(1'000'000);
  must(world.store.commit());
  for (int round = 1; round < 20; ++round) {
    must(world.queue.take(10'000));
    world.insert_new(100'000, round);
    if (round % 7 == 0) must(world.store.commit());
  }
  must(world.store.commit());
  const auto first = must(world.queue.take(100'000, QueueOrder::kAny));
  for (const QueuedPage& page : first) ASSERT_GE(page.priority, 19);
}

/// Many times as many changes as are kept, with and without commits between them.
TEST(QueueMemory, IsBoundedWherePagesChange) {
  World world;
  world.insert_new(1'000'000);
  QueuedPages pages(kPagesAtOnce);
  for (int round = 1; round < 100; ++round) {
    for (QueuedPage& page : pages) page = {world.random.below(1'000'000), world.priority()};
    must(world.queue.update(pages));
    if (round % 40 == 0) must(world.store.commit());
  }
  EXPECT_GE(must(world.queue.trim(100'000)), 900'000U);
  EXPECT_EQ(world.queue.count(), 100'000U);
}

/// All of it at once: pages that change are near, and come and leave between commits.
TEST(QueueMemory, IsBoundedWhereThePagesThatChangeAreTheBest) {
  World world;
  world.insert_new(1'200'000);
  must(world.store.commit());
  QueuedPages pages(kPagesAtOnce);
  for (int round = 1; round < 80; ++round) {
    const double low = round / 40.0;
    for (QueuedPage& page : pages) {
      page = {world.random.below(world.next), low + world.priority()};
    }
    must(world.queue.update(pages));
    must(world.queue.take(kPagesAtOnce / 2));
    world.insert_new(kPagesAtOnce / 2, low);
    if (round % 30 == 0) must(world.store.commit());
  }
  EXPECT_GE(must(world.queue.trim(100'000)), 1'000'000U);
}

TEST(QueueMemory, IsNotLessThan32MiB) {
  MemoryStore store;
  const QueueOptions options{.memory_bytes = kMemoryBytes - 1};
  EXPECT_EQ(Queue::open(*store, "queue", options).error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace crawlstore::testing
