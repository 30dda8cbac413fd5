// SPDX-License-Identifier: Apache-2.0
// covers: P1
#include "queue/entry_queue.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/field.h"
#include "queue/memory_sink.h"
#include "support/seeded.h"

namespace crawlstore::queue {
namespace {

using namespace crawlstore::testing;
using Entries = std::vector<Entry>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Entry entry(double priority, std::uint64_t page) {
  return {format::queue_order(priority), page};
}

/// Priorities that queues find easy and hard: page number and random bits -> priority.
using Pattern = std::function<double(std::uint64_t page, std::uint64_t random)>;
const std::vector<std::pair<std::string, Pattern>>& patterns() {
  static const std::vector<std::pair<std::string, Pattern>> kAll = {
      {"floats", [](auto, auto random) { return static_cast<float>(random >> 40U); }},
      {"doubles", [](auto, auto random) { return static_cast<double>(random >> 11U) * 0x1p-53; }},
      {"equal", [](auto, auto) { return 1.0; }},
      {"rising", [](auto page, auto) { return static_cast<double>(page); }},
      {"falling", [](auto page, auto) { return -static_cast<double>(page); }},
      {"few", [](auto, auto random) { return 1.0 / static_cast<double>(1 + random % 1000); }},
      {"ends", [](auto, auto random) { return random % 2 == 0 ? kInfinity : -kInfinity; }},
  };
  return kAll;
}

/// The use of a queue.
struct Use {
  std::uint64_t page_count = 0;
  std::size_t insert_max = 0;
  std::size_t take_max = 0;
  bool is_sorted = true;
  bool is_flushed = false;
};

/// A queue beside a sorted reference.
class Compared {
 public:
  Compared(Pattern pattern, const Use& use, unsigned seed)
      : pattern_(std::move(pattern)), use_(use), random_(seed) {}

  /// Until all pages have come and left.
  void run() {
    while (next_page_ < use_.page_count || !reference_.empty()) {
      ASSERT_TRUE(insert_some());
      ASSERT_NO_FATAL_FAILURE(take_some());
      ASSERT_TRUE(!use_.is_flushed || random_() % 3 != 0 || queue_.flush());
      if (use_.is_flushed && random_() % 12 == 0) open_again();
    }
    EXPECT_EQ(queue_.count(), 0U);
    EXPECT_FALSE(sink_.was_too_long);
  }

 private:
  bool insert_some() {
    Entries entries;
    if (next_page_ < use_.page_count) {
      for (std::size_t left = random_() % (2 * use_.insert_max); left > 0; --left) {
        entries.push_back(entry(pattern_(next_page_, random_()), next_page_));
        ++next_page_;
        // Some come twice, some after they have left.
        if (random_() % 50 == 0) entries.push_back(entries[random_() % entries.size()]);
        if (random_() % 50 == 0 && !taken_.empty()) {
          entries.push_back(taken_[random_() % taken_.size()]);
        }
      }
    }
    reference_.insert(entries.begin(), entries.end());
    return queue_.insert(entries).has_value();
  }

  void take_some() {
    const std::size_t count = random_() % (2 * use_.take_max);
    taken_.clear();
    ASSERT_TRUE(queue_.take(count, use_.is_sorted, taken_));
    if (!use_.is_sorted) std::ranges::sort(taken_);
    ASSERT_EQ(taken_.size(), std::min(count, reference_.size()));
    const auto end = std::next(reference_.begin(), static_cast<std::ptrdiff_t>(taken_.size()));
    ASSERT_TRUE(std::equal(reference_.begin(), end, taken_.begin(), taken_.end()));
    reference_.erase(reference_.begin(), end);
    ASSERT_EQ(queue_.count(), reference_.size());
  }

  void open_again() {
    ASSERT_TRUE(queue_.flush());
    const std::vector<LiveRun> runs(queue_.runs().begin(), queue_.runs().end());
    queue_ = EntryQueue(sink_, runs, queue_.count());
  }

  Pattern pattern_;
  Use use_;
  std::mt19937_64 random_;
  MemorySink sink_;
  EntryQueue queue_{sink_};
  std::multiset<Entry> reference_;
  std::uint64_t next_page_ = 0;
  Entries taken_;
};

class EntryQueueUse : public ::testing::TestWithParam<std::size_t> {
 protected:
  static void compare(Use use) {
    const auto& [name, pattern] = patterns().at(GetParam());
    for (const bool is_sorted : {true, false}) {
      for (const bool is_flushed : {true, false}) {
        use.is_sorted = is_sorted;
        use.is_flushed = is_flushed;
        SCOPED_TRACE(name + (is_sorted ? " sorted" : " as sets") + (is_flushed ? " flushed" : ""));
        ASSERT_NO_FATAL_FAILURE(Compared(pattern, use, 5).run());
      }
    }
  }
};

TEST_P(EntryQueueUse, GivesWhatASortedReferenceGivesInSmallSteps) {
  compare({.page_count = 3'000, .insert_max = 30, .take_max = 10});
}

TEST_P(EntryQueueUse, GivesWhatASortedReferenceGivesInLargeSteps) {
  compare({.page_count = 150'000, .insert_max = 40'000, .take_max = 9'000});
}

INSTANTIATE_TEST_SUITE_P(Patterns, EntryQueueUse,
                         ::testing::Range<std::size_t>(0, patterns().size()),
                         [](const auto& tested) { return patterns().at(tested.param).first; });

/// Entries with random priorities of 24 bits.
Entries random_entries(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  Entries entries;
  for (std::size_t i = 0; i < count; ++i) {
    entries.push_back(entry(static_cast<float>(random() >> 40U), i));
  }
  return entries;
}

Entries taken(EntryQueue& queue, std::size_t count) {
  Entries out;
  EXPECT_TRUE(queue.take(count, true, out));
  return out;
}

Entries first_of(Entries entries, std::size_t count) {
  std::ranges::sort(entries);
  entries.resize(std::min(count, entries.size()));
  return entries;
}

TEST(EntryQueue, GivesNothingWhenThereIsNothing) {
  MemorySink sink;
  EntryQueue queue(sink);
  EXPECT_TRUE(taken(queue, 10).empty());
  ASSERT_TRUE(queue.flush());
  EXPECT_TRUE(queue.runs().empty());
  ASSERT_TRUE(queue.insert(std::vector{entry(1, 1)}));
  EXPECT_TRUE(taken(queue, 0).empty());
  EXPECT_EQ(taken(queue, 10).size(), 1U);
  EXPECT_TRUE(taken(queue, 10).empty());
}

TEST(EntryQueue, KeepsEqualEntriesThatStay) {
  MemorySink sink;
  EntryQueue queue(sink);
  ASSERT_TRUE(queue.insert(Entries(5, entry(1, 7))));
  ASSERT_TRUE(queue.flush());
  ASSERT_TRUE(queue.insert(Entries(4, entry(1, 7))));
  EXPECT_EQ(taken(queue, 3).size(), 3U);
  ASSERT_TRUE(queue.flush());
  EntryQueue again(sink, {queue.runs().begin(), queue.runs().end()}, queue.count());
  EXPECT_EQ(taken(again, 100), Entries(6, entry(1, 7)));
}

TEST(EntryQueue, RewritesNothingWhenEntriesLeave) {
  MemorySink sink;
  EntryQueue queue(sink);
  const Entries entries = random_entries(200'000, 1);
  ASSERT_TRUE(queue.insert(entries));
  ASSERT_TRUE(queue.flush());
  const std::uint64_t written = sink.written_bytes;
  EXPECT_LT(written, 200'000 * 7U);
  EXPECT_EQ(taken(queue, 50'000), first_of(entries, 50'000));
  ASSERT_TRUE(queue.flush());
  EXPECT_EQ(sink.written_bytes, written);
}

TEST(EntryQueue, JoinsSmallRunsSoThatThereAreFew) {
  MemorySink sink;
  EntryQueue queue(sink);
  const Entries entries = random_entries(100'000, 2);
  for (std::size_t i = 0; i < entries.size(); i += 100) {
    ASSERT_TRUE(queue.insert(std::span(entries).subspan(i, 100)));
    ASSERT_TRUE(queue.flush());
    ASSERT_LE(queue.runs().size(), 16U);
  }
  EXPECT_EQ(taken(queue, 100'000), first_of(entries, 100'000));
}

/// A queue of so many times the same large run.
class RepeatedRun {
 public:
  static constexpr std::size_t kEntries = 270'000;
  explicit RepeatedRun(std::size_t run_count) : run_count_(run_count) {
    EntryQueue one(sink);
    EXPECT_TRUE(one.insert(entries_));
    EXPECT_TRUE(one.flush());
    EXPECT_EQ(one.runs().size(), 1U);
    queue = EntryQueue(sink, std::vector(run_count, one.runs().front()), run_count * kEntries);
    std::ranges::sort(entries_);
  }
  /// Takes so many more, and looks at them.
  void take(std::size_t count) {
    const Entries out = taken(queue, count);
    ASSERT_EQ(out.size(), count);
    for (const Entry& entry : out) ASSERT_EQ(entry, entries_[taken_count_++ / run_count_]);
    ASSERT_EQ(queue.count(), run_count_ * kEntries - taken_count_);
  }

  MemorySink sink;
  EntryQueue queue{sink};

 private:
  std::size_t run_count_;
  Entries entries_ = random_entries(kEntries, 2);
  std::size_t taken_count_ = 0;
};

/// Each entry that leaves joins two others, so that no call takes long.
TEST(EntryQueue, JoinsManyLargeRunsBitByBit) {
  constexpr std::size_t kRuns = 96;
  RepeatedRun repeated(kRuns);
  repeated.take(1000);
  const std::uint64_t written = repeated.sink.written_bytes;
  ASSERT_TRUE(repeated.queue.flush());
  EXPECT_GE(repeated.queue.runs().size(), kRuns);
  EXPECT_LT(repeated.sink.written_bytes, written + 10'000);
  std::size_t rounds = 0;
  for (; repeated.queue.runs().size() >= kRuns; ++rounds) {
    ASSERT_NO_FATAL_FAILURE(repeated.take(100'000));
  }
  EXPECT_LE(rounds, kRuns * RepeatedRun::kEntries / 200'000 + 1);
  EXPECT_LE(repeated.queue.runs().size(), 2U);  // equal ones that stayed of those that left
  EXPECT_FALSE(repeated.sink.was_too_long);
  ASSERT_TRUE(repeated.queue.flush());
  ASSERT_NO_FATAL_FAILURE(repeated.take(500'000));
}

/// A log takes no more.
TEST(EntryQueue, JoinsAtOnceWhenThereAreTooManyRuns) {
  if (!is_long()) GTEST_SKIP() << "joins 60 million entries";
  RepeatedRun repeated(223);
  repeated.take(1000);
  ASSERT_TRUE(repeated.queue.flush());
  EXPECT_LE(repeated.queue.runs().size(), 2U);
  repeated.take(100'000);
}

TEST(EntryQueue, BoundsMemoryWhenTheBestComesLast) {
  MemorySink sink;
  EntryQueue queue(sink);
  Entries batch;
  std::uint64_t page = 0;
  for (int i = 0; i < 40; ++i) {
    batch.clear();
    for (int k = 0; k < 100'000; ++k, ++page)
      batch.push_back(entry(static_cast<double>(page), page));
    ASSERT_TRUE(queue.insert(batch));
    const Entries out = taken(queue, 1'000);
    ASSERT_EQ(out.front().page, page - 1);
    ASSERT_EQ(out.back().page, page - 1'000);
  }
  EXPECT_EQ(queue.count(), 40 * 99'000U);
  EXPECT_GT(sink.written_bytes, 2'000'000 * 3U);
}

TEST(EntryQueue, ChangesNothingWhenTheDiskIsFull) {
  MemorySink sink;
  EntryQueue queue(sink);
  const Entries entries = random_entries(60'000, 3);
  ASSERT_TRUE(queue.insert(std::span(entries).first(10'000)));
  ASSERT_TRUE(queue.flush());
  ASSERT_TRUE(queue.insert(std::span(entries).subspan(10'000)));
  for (const std::uint64_t room : {0U, 1'000U, 100'000U}) {
    sink.room_bytes = room;
    const auto flushed = queue.flush();
    ASSERT_FALSE(flushed);
    EXPECT_EQ(flushed.error().code, Errc::kNoSpace);
  }
  // Taking writes nothing.
  sink.room_bytes = 0;
  EXPECT_EQ(taken(queue, 100), first_of(entries, 100));
  sink.room_bytes.reset();
  ASSERT_TRUE(queue.flush());
  const Entries all = first_of(entries, 60'000);
  EXPECT_EQ(taken(queue, 60'000), Entries(all.begin() + 100, all.end()));
}

TEST(EntryQueue, ChangesNothingWhenAFragmentIsDamaged) {
  MemorySink sink;
  EntryQueue queue(sink);
  const Entries entries = random_entries(60'000, 4);
  ASSERT_TRUE(queue.insert(entries));
  ASSERT_TRUE(queue.flush());
  EXPECT_EQ(taken(queue, 10), first_of(entries, 10));
  sink.is_damaged = true;
  Entries out(1);
  const auto refused = queue.take(50'000, true, out);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kChunkDamaged);
  EXPECT_EQ(out.size(), 1U);
  EXPECT_EQ(queue.count(), 59'990U);
  sink.is_damaged = false;
  const Entries all = first_of(entries, 60'000);
  EXPECT_EQ(taken(queue, 60'000), Entries(all.begin() + 10, all.end()));
}

TEST(EntryQueue, JoinsNoDamagedRuns) {
  MemorySink sink;
  EntryQueue queue(sink);
  const Entries entries = random_entries(900, 6);
  const auto commit = [&](std::size_t i) {
    ASSERT_TRUE(queue.insert(std::span(entries).subspan(100 * i, 100)));
    ASSERT_TRUE(queue.flush());
  };
  for (std::size_t i = 0; i < 8; ++i) commit(i);
  ASSERT_EQ(queue.runs().size(), 8U);
  sink.is_damaged = true;
  commit(8);
  EXPECT_EQ(queue.runs().size(), 9U);
  sink.is_damaged = false;
  ASSERT_TRUE(queue.flush());
  EXPECT_EQ(queue.runs().size(), 1U);
  EXPECT_EQ(taken(queue, 900), first_of(entries, 900));
}

TEST(EntryQueue, SaysWhenThereIsLessThanWasCounted) {
  MemorySink sink;
  EntryQueue queue(sink);
  ASSERT_TRUE(queue.insert(std::vector{entry(1, 1)}));
  ASSERT_TRUE(queue.flush());
  EntryQueue wrong(sink, {queue.runs().begin(), queue.runs().end()}, 5);
  Entries out;
  const auto refused = wrong.take(2, true, out);
  ASSERT_FALSE(refused);
  EXPECT_STREQ(refused.error().text, "a queue has fewer entries than it says");
  EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace crawlstore::queue
