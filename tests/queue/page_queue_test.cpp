// SPDX-License-Identifier: Apache-2.0
#include "queue/page_queue.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "container/container_store.h"
#include "queue/memory_sink.h"
#include "support/bytes.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using queue::Entry;
using queue::PageQueue;
using queue::PageSet;
using queue::StoredRunPtr;

Entry entry(double priority, std::uint64_t page) {
  return {format::queue_order(priority), page};
}

std::vector<Entry> take_all(PageQueue& queue) {
  std::vector<Entry> taken;
  must(queue.take(~std::size_t{0}, true, taken));
  return taken;
}

PageQueue::State must_flushed(PageQueue& queue) {
  must(queue.flush());
  return queue.state();
}

template <class T>
std::string text_of(const Result<T>& result) {
  return result ? "" : result.error().text;
}

TEST(PageSet, IsASetOfNearAndFarPages) {
  SeededRandom random;
  PageSet set;
  std::set<std::uint64_t> reference;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t page = random.below(std::uint64_t{1} << random.below(41));
    EXPECT_EQ(set.contains(page), reference.contains(page));
    if (random.one_in(3)) {
      ASSERT_EQ(set.erase(page), reference.erase(page) > 0);
    } else {
      ASSERT_EQ(set.insert(page), reference.insert(page).second);
    }
    ASSERT_EQ(set.count(), reference.size());
  }
  for (const std::uint64_t page : reference) ASSERT_TRUE(set.contains(page));
}

/// Pages at distances that a hostile file may choose, such as bucket counts of hash tables.
TEST(SeededHash, SpreadsPagesAtEqualDistances) {
  constexpr std::uint64_t kBuckets = 16'384;
  const SeededHash hash;
  for (const std::uint64_t distance : {1U, 64U, 107'897U, 1U << 16U, 1U << 24U}) {
    std::vector<bool> is_taken(kBuckets);
    for (std::uint64_t i = 0; i < kBuckets; ++i) is_taken[hash(i * distance) % kBuckets] = true;
    EXPECT_GE(std::ranges::count(is_taken, true), kBuckets / 2) << distance;
  }
}

TEST(SeededHash, IsAnotherInEachTable) {
  const SeededHash hashes[2];
  EXPECT_NE(hashes[0](1), hashes[1](1));
}

/// The changes are so many that all is rewritten some times, beside a reference.
TEST(PageQueue, ForgetsChangesWhenTheyAreMany) {
  constexpr std::uint64_t kPages = 100'000;
  MemorySink sink;
  PageQueue queue(sink);
  SeededRandom random;
  std::map<std::uint64_t, std::uint64_t> orders;
  std::size_t most_changes = 0;
  for (int round = 0; round < 16; ++round) {
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < 50'000; ++i) {
      entries.push_back(entry(static_cast<double>(random.below(1000)), random.below(kPages)));
      orders[entries.back().page] = entries.back().order;
    }
    must(queue.insert(entries));
    std::vector<std::uint64_t> gone;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      gone.push_back(random.below(kPages));
      orders.erase(gone.back());
    }
    must(queue.remove(gone));
    ASSERT_EQ(queue.count(), orders.size());
    if (round % 3 == 0) {
      must(queue.flush());
      ASSERT_EQ(text_of(queue.check()), "");
      const auto state = queue.state();
      std::size_t changes = 0;
      for (const auto& run : state.changes) changes += run->index.entry_count;
      most_changes = std::max(most_changes, changes);
      queue = PageQueue(sink, state);
    }
  }
  EXPECT_LT(queue.state().entry_count, (std::size_t{1} << 18) + 2 * kPages);
  EXPECT_GT(most_changes, 0U);
  std::vector<Entry> expected;
  for (const auto& [page, order] : orders) expected.push_back({order, page});
  std::ranges::sort(expected);
  EXPECT_EQ(take_all(queue), expected);
  EXPECT_EQ(queue.state().entry_count, 0U);
}

/// Pages come, change, leave and go while all runs are rewritten, beside a reference.
TEST(PageQueue, IsRewrittenWhilePagesComeAndLeave) {
  MemorySink sink;
  PageQueue queue(sink);
  SeededRandom random;
  std::map<std::uint64_t, std::uint64_t> orders;
  std::set<Entry> waiting;
  const auto forget = [&](std::uint64_t page) {
    const auto at = orders.find(page);
    if (at == orders.end()) return;
    waiting.erase({at->second, page});
    orders.erase(at);
  };
  std::size_t rewrite_count = 0;
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t before = queue.state().entry_count;
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      entries.push_back(entry(static_cast<double>(random.below(60)), random.below(20'000)));
      forget(entries.back().page);
      orders[entries.back().page] = entries.back().order;
      waiting.insert(entries.back());
    }
    must(queue.insert(entries));
    std::vector<std::uint64_t> gone;
    for (std::uint64_t i = 0; i < 50; ++i) {
      gone.push_back(random.below(20'000));
      forget(gone.back());
    }
    must(queue.remove(gone));
    if (queue.state().entry_count + 10'000 < before) ++rewrite_count;
    std::vector<Entry> taken;
    must(queue.take(random.below(400), true, taken));
    for (const Entry& one : taken) {
      ASSERT_EQ(one, *waiting.begin()) << round;
      forget(one.page);
    }
    ASSERT_EQ(queue.count(), orders.size());
    if (random.one_in(40)) {
      must(queue.flush());
      ASSERT_EQ(text_of(queue.check()), "") << round;
    }
  }
  EXPECT_GT(rewrite_count, 3U);
  EXPECT_EQ(take_all(queue), std::vector<Entry>(waiting.begin(), waiting.end()));
}

/// A command does the same: it opens a queue, inserts, trims, takes and closes it again.
TEST(PageQueue, StaysSmallWhenItIsOpenedForAFewPagesAtATime) {
  MemorySink sink;
  SeededRandom random;
  PageQueue::State state;
  std::uint64_t most_entries = 0;
  std::uint64_t most_changes = 0;
  for (int time = 0; time < 120; ++time) {
    PageQueue queue(sink, state);
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      entries.push_back(entry(static_cast<double>(random.below(1000)), random.below(1'000'000)));
    }
    must(queue.insert(entries));
    must(queue.trim(5000));
    std::vector<Entry> taken;
    must(queue.take(250, true, taken));
    state = must_flushed(queue);
    std::uint64_t changes = 0;
    for (const auto& run : state.changes) changes += run->index.entry_count;
    most_changes = std::max(most_changes, changes);
    most_entries = std::max(most_entries, state.entry_count);
  }
  EXPECT_LT(most_entries, std::uint64_t{1} << 17);
  EXPECT_LT(most_changes, std::uint64_t{1} << 17);
  EXPECT_GT(most_entries, 20'000U);
  EXPECT_EQ(text_of(PageQueue(sink, state).check()), "");
}

/// Beside a reference; of equal priority the higher page goes.
TEST(PageQueue, TrimsThoseThatWouldLeaveLast) {
  SeededRandom random;
  for (int round = 0; round < 10; ++round) {
    MemorySink sink;
    PageQueue queue(sink);
    std::map<std::uint64_t, std::uint64_t> orders;
    for (int piece = 0; piece < 8; ++piece) {
      std::vector<Entry> entries;
      for (std::uint64_t i = 0; i < 9000; ++i) {
        entries.push_back(entry(static_cast<double>(random.below(500)), random.below(50'000)));
        orders[entries.back().page] = entries.back().order;
      }
      must(queue.insert(entries));
      if (random.one_in(2)) must(queue.flush());
    }
    std::vector<Entry> expected;
    for (const auto& [page, order] : orders) expected.push_back({order, page});
    std::ranges::sort(expected);
    EXPECT_EQ(must(queue.trim(expected.size())), 0U);
    std::vector<Entry> taken;
    must(queue.take(random.below(2000), true, taken));
    expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(taken.size()));
    for (int time = 0; time < 3; ++time) {
      const std::size_t kept = random.below(expected.size());
      EXPECT_EQ(must(queue.trim(kept)), expected.size() - kept);
      expected.resize(kept);
      ASSERT_EQ(queue.count(), kept);
      must(queue.flush());
      ASSERT_EQ(text_of(queue.check()), "");
      if (kept > 0 && random.one_in(2)) {
        must(queue.insert(std::vector<Entry>{expected.back()}));  // it is there already
        queue = PageQueue(sink, must_flushed(queue));
      }
    }
    ASSERT_EQ(take_all(queue), expected) << round;
    EXPECT_EQ(must(queue.trim(0)), 0U);
  }
}

/// A change run has twice as many as all younger ones, so there are few.
TEST(PageQueue, KeepsFewRunsOfChanges) {
  MemorySink sink;
  PageQueue queue(sink);
  std::vector<Entry> entries;
  for (std::uint64_t page = 0; page < 40'000; ++page) entries.push_back(entry(1, page));
  must(queue.insert(entries));
  for (std::size_t round = 0; round < 400; ++round) {
    must(queue.update(std::span(entries).subspan(100 * round, 100)));
    must(queue.flush());
    ASSERT_LE(queue.state().changes.size(), 9U);
  }
  EXPECT_EQ(text_of(queue.check()), "");
  PageQueue again(sink, queue.state());
  EXPECT_EQ(take_all(again).size(), 40'000U);
}

TEST(PageQueue, ChangesNothingWhenTheDiskIsFull) {
  MemorySink sink;
  PageQueue queue(sink);
  must(queue.insert(std::vector<Entry>{entry(1, 1), entry(2, 2), entry(3, 3)}));
  must(queue.flush());
  must(queue.insert(std::vector<Entry>{entry(9, 1)}));
  must(queue.remove(std::vector<std::uint64_t>{3}));
  for (const std::uint64_t room : {0U, 100U}) {
    sink.room_bytes = room;
    EXPECT_EQ(code_of(queue.flush()), Errc::kNoSpace);
  }
  sink.room_bytes.reset();
  must(queue.flush());
  EXPECT_EQ(text_of(queue.check()), "");
  PageQueue again(sink, queue.state());
  EXPECT_EQ(take_all(again), (std::vector<Entry>{entry(9, 1), entry(2, 2)}));
}

/// Nothing is taken, and nothing is lost, when damage is met in the middle of stale entries.
TEST(PageQueue, TakesNothingWhenARunIsDamaged) {
  MemorySink sink;
  PageQueue queue(sink);
  std::vector<Entry> entries;
  for (std::uint64_t page = 0; page < 30'000; ++page) {
    entries.push_back(entry(static_cast<double>(page), page));
  }
  must(queue.insert(entries));
  for (Entry& one : entries) one.order += one.page % 2;
  must(queue.update(entries));
  must(queue.flush());
  queue = PageQueue(sink, queue.state());
  std::vector<Entry> taken;
  must(queue.take(10, true, taken));
  sink.is_damaged = true;
  EXPECT_EQ(code_of(queue.take(29'000, true, taken)), Errc::kChunkDamaged);
  EXPECT_EQ(taken.size(), 10U);
  EXPECT_EQ(queue.count(), 29'990U);
  sink.is_damaged = false;
  std::ranges::sort(entries);
  const auto rest = take_all(queue);
  taken.insert(taken.end(), rest.begin(), rest.end());
  EXPECT_EQ(taken, entries);
}

TEST(PageQueue, GoesOnWithoutARewriteWhenARunIsDamaged) {
  MemorySink sink;
  PageQueue queue(sink);
  std::vector<Entry> entries;
  for (std::uint64_t page = 0; page < 300'000; ++page) entries.push_back(entry(1, page));
  must(queue.insert(entries));
  must(queue.flush());
  sink.is_damaged = true;
  must(queue.update(entries));
  must(queue.update(std::span(entries).first(1)));
  EXPECT_EQ(queue.state().entry_count, 600'001U);
  sink.is_damaged = false;
  must(queue.update(entries));
  must(queue.update(std::span(entries).first(1)));
  EXPECT_LE(queue.state().entry_count, 900'002U);
  must(queue.flush());
  EXPECT_EQ(text_of(queue.check()), "");
}

/// No PageQueue writes such a state, and a file may hold it.
TEST(PageQueue, ChecksItsState) {
  MemorySink sink;
  const auto run = [&sink](std::vector<Entry> entries) {
    std::vector<Entry> room;
    return must(queue::store_run(sink, entries, room));
  };
  const auto check = [&sink](std::vector<StoredRunPtr> runs, std::uint64_t entry_count,
                             std::uint64_t page_count, std::vector<StoredRunPtr> changes) {
    PageQueue::State state{{}, entry_count, page_count, std::move(changes)};
    for (StoredRunPtr& one : runs) state.runs.push_back({.stored = std::move(one)});
    return text_of(PageQueue(sink, std::move(state)).check());
  };
  const auto two = run({entry(2, 5), entry(1, 6)});
  constexpr auto kPages = "a queue has another number of pages than its table says";
  EXPECT_EQ(check({two}, 2, 2, {}), "");
  EXPECT_EQ(check({two}, 3, 2, {}), "a queue has another number of entries than its table says");
  EXPECT_EQ(check({two}, 2, 1, {}), kPages);
  EXPECT_EQ(check({two, run({entry(3, 5)})}, 3, 3, {}), "a page is in a queue twice");
  EXPECT_EQ(check({run({{format::kQueueGone, 5}})}, 1, 1, {}),
            "an entry of a queue is of no priority");
  const auto gone = run({{format::kQueueGone, 5}});
  const auto moved = run({entry(3, 5)});
  EXPECT_EQ(check({two}, 2, 1, {gone}), "");
  EXPECT_EQ(check({two}, 2, 2, {moved}), kPages);
  EXPECT_EQ(check({two, moved}, 3, 2, {gone, moved}), "");
  EXPECT_EQ(check({two, moved}, 3, 1, {moved, gone}), "");
  EXPECT_EQ(check({two, moved}, 3, 2, {moved, gone}), kPages);
}

}  // namespace
}  // namespace crawlstore::testing
