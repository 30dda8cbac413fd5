// SPDX-License-Identifier: Apache-2.0
//
// Requests and entries that wait in a part of a store outlive a close() that fails.

#include <cerrno>
#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "queue/queue_words.h"
#include "support/bytes.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

/// A store of a part of each kind, in each of which something waits.
struct World {
  Recorder recorder{make_empty_store_file(std::uint64_t{1} << 26)};
  std::optional<Store> store;
  std::optional<Queue> queue;
  std::optional<Seen> seen;
  std::optional<PageDb> pages;

  World() {
    store.emplace(must(Store::open(recorder.open(OpenMode::kWrite))));
    queue.emplace(must(Queue::open(*store)));
    seen.emplace(must(Seen::open(*store, "seen", seen_options())));
    pages.emplace(must(PageDb::open(*store)));
    must(queue->insert(QueuedPages{{9, 9}}));
    must(store->commit());
    must(queue->take(1));
    must(queue->insert(QueuedPages{{1, 1}}));
    must(seen->update(7));
    must(pages->add(CrawledPage("http://a.test/")));
  }

  void fill_disk(std::uint64_t nth = 1) {
    recorder.inject({.calls = calls(CallKind::kAllocate, CallKind::kWrite),
                     .nth = nth,
                     .forever = true,
                     .system_errno = ENOSPC});
  }
  void let_go_of_parts() {
    queue.reset();
    seen.reset();
    pages.reset();
  }
  /// Another process finds what waited, whole.
  void expect_everything_is_stored() {
    let_go_of_parts();
    store.reset();
    Store again = must(Store::open(recorder.open(OpenMode::kWrite)));
    EXPECT_EQ(stored_pages(again), (QueuedPages{{1, 1}}));
    EXPECT_EQ(drum_info(again, "seen").pending_count, 1U);
    auto reopened = must(PageDb::open(again));
    must(reopened.merge());
    EXPECT_EQ(reopened.status().page_count, 1U);
  }
};

TEST(Closing, SucceedsLaterWhenTheDiskWasFull) {
  World world;
  world.fill_disk();
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(code_of(world.queue->close()), Errc::kNoSpace);
    EXPECT_EQ(code_of(world.seen->close()), Errc::kNoSpace);
    EXPECT_EQ(code_of(world.pages->close()), Errc::kNoSpace);
  }
  EXPECT_EQ(world.queue->count(), 1U);
  EXPECT_EQ(world.seen->status().pending_count, 1U);
  EXPECT_EQ(world.pages->status().edit_count, 1U);
  world.recorder.stop_injecting();
  must(world.queue->close());
  must(world.seen->close());
  must(world.pages->close());
  EXPECT_EQ(code_of(world.queue->insert(QueuedPages{{2, 1}})), Errc::kClosed);
  world.expect_everything_is_stored();
}

TEST(Closing, LeavesTheStoreOpenWhenTheDiskIsFull) {
  World world;
  world.fill_disk();
  EXPECT_EQ(code_of(world.store->close()), Errc::kNoSpace);
  EXPECT_EQ(code_of(world.store->commit()), Errc::kNoSpace);
  world.recorder.stop_injecting();
  must(world.store->close());
  must(world.store->close());
  EXPECT_EQ(code_of(world.store->commit()), Errc::kClosed);
  world.expect_everything_is_stored();
}

TEST(Closing, LeavesWhatADestructorCannotCommitToTheNextCommit) {
  World world;
  world.fill_disk();
  world.let_go_of_parts();
  EXPECT_EQ(code_of(Queue::open(*world.store)), Errc::kNoSpace);
  EXPECT_EQ(code_of(world.store->commit()), Errc::kNoSpace);
  world.recorder.stop_injecting();
  must(world.store->commit());
  EXPECT_EQ(stored_pages(*world.store), (QueuedPages{{1, 1}}));
  world.queue.emplace(must(Queue::open(*world.store)));
  EXPECT_EQ(world.queue->count(), 1U);
  world.expect_everything_is_stored();
}

TEST(Closing, IsMadeGoodByWhoeverOpensNextAfterADestructor) {
  World world;
  world.fill_disk();
  world.let_go_of_parts();
  world.recorder.stop_injecting();
  world.queue.emplace(must(Queue::open(*world.store)));
  EXPECT_EQ(must(world.queue->take(1)), (QueuedPages{{1, 1}}));
  must(world.queue->insert(QueuedPages{{1, 1}}));
  must(world.queue->close());
  world.expect_everything_is_stored();
}

/// Else the end of 20,000 queues would ask each 20,000 times whether something waits.
TEST(Closing, CommitsNothingForAQueueOfWhichNothingWaits) {
  World world;
  Queue other = must(Queue::open(*world.store, "other"));
  must(world.store->commit());
  must(world.queue->insert(QueuedPages{{2, 2}}));
  must(other.close());
  EXPECT_EQ(stored_pages(*world.store), (QueuedPages{{1, 1}}));
  EXPECT_EQ(code_of(other.insert(QueuedPages{{1, 1}})), Errc::kClosed);
  must(world.queue->close());
  EXPECT_EQ(stored_pages(*world.store), (QueuedPages{{2, 2}, {1, 1}}));
  must(Queue::open(*world.store, "other"));
}

/// A store that is poisoned can save nothing more: it lets go of the file.
TEST(Closing, GivesThePlaceOfEachFailedCallBackOrLosesTheStore) {
  std::uint64_t poisoned_count = 0;
  std::uint64_t repeated_count = 0;
  for (std::uint64_t nth = 1; nth < 200; ++nth) {
    World world;
    world.fill_disk(nth);
    const auto closed = world.store->close();
    const bool has_failed = world.recorder.has_injected();
    world.recorder.stop_injecting();
    if (!has_failed) {
      must(closed);
      EXPECT_GT(repeated_count, 3U);
      EXPECT_GT(poisoned_count, 0U);
      return;
    }
    ASSERT_EQ(code_of(closed), Errc::kNoSpace) << nth;
    if (world.store->commit()) {
      ++repeated_count;
      must(world.store->close());
      world.expect_everything_is_stored();
    } else {
      ++poisoned_count;
      EXPECT_EQ(code_of(world.store->commit()), Errc::kClosed);
      must(Store::open(world.recorder.open(OpenMode::kWrite)));
    }
  }
  FAIL() << "closing never ran to the end";
}

}  // namespace
}  // namespace crawlstore::testing
