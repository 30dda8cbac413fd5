// SPDX-License-Identifier: Apache-2.0
#include "queue/run_join.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "container/container_store.h"
#include "queue/memory_sink.h"
#include "support/bytes.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using queue::Entry;
using queue::LiveRun;
using queue::RunJoin;
using Entries = std::vector<Entry>;

/// Few priorities, so that entries are equal now and then.
Entry random_entry(SeededRandom& random) {
  return {format::queue_order(static_cast<double>(random.below(500))), random.below(50)};
}

void append_there(const LiveRun& run, Entries& out) {
  for (std::size_t i = 0; i < run.stored->fragment_count(); ++i) {
    must(run.stored->read(i, run.cut, queue::kBeforeAll, out));
  }
}

/// Runs of which some have left in part.
std::vector<LiveRun> random_runs(MemorySink& sink, SeededRandom& random) {
  std::vector<LiveRun> runs;
  for (std::size_t i = 0; i <= random.below(12); ++i) {
    Entries entries;
    for (std::size_t k = 0; k <= random.below(30'000); ++k) entries.push_back(random_entry(random));
    Entries room;
    runs.push_back({.stored = must(queue::store_run(sink, entries, room))});
    if (random.one_in(2)) runs.back().cut = random_entry(random);
  }
  return runs;
}

TEST(RunJoin, HasWhatItsRunsHaveWhileEntriesLeave) {
  SeededRandom random;
  MemorySink sink;
  for (int round = 0; round < 12; ++round) {
    std::vector<LiveRun> runs = random_runs(sink, random);
    const bool is_filtered = random.one_in(2);
    const queue::Filter is_wanted = [](const Entry& entry) { return entry.page % 3 != 0; };
    const queue::Filter filter = is_filtered ? is_wanted : queue::Filter();
    auto join = must(RunJoin::start(sink, runs));
    EXPECT_TRUE(join.has(runs.front()));
    EXPECT_FALSE(join.has(random_runs(sink, random).front()));
    while (!must(join.step(random.below(20'000), filter))) {
      if (!random.one_in(3)) continue;
      const Entry cut = random_entry(random);
      join.note_cut(cut);
      for (LiveRun& run : runs) run.cut = std::max(run.cut, cut);
    }
    Entries expected;
    for (const LiveRun& run : runs) append_there(run, expected);
    if (is_filtered) std::erase_if(expected, std::not_fn(is_wanted));
    const LiveRun joined = must(join.finish());
    Entries found;
    if (joined.stored != nullptr) append_there(joined, found);
    std::ranges::sort(expected);
    std::ranges::sort(found);
    ASSERT_EQ(found, expected);
    ASSERT_FALSE(sink.was_too_long);
  }
}

TEST(RunJoin, IsNothingWhenNothingIsWanted) {
  SeededRandom random;
  MemorySink sink;
  auto join = must(RunJoin::start(sink, random_runs(sink, random)));
  EXPECT_TRUE(must(join.step(~std::size_t{0}, [](const Entry& /*entry*/) { return false; })));
  EXPECT_EQ(must(join.finish()).stored, nullptr);
}

TEST(RunJoin, FailsOfDamageAndOfAFullDisk) {
  SeededRandom random;
  MemorySink sink;
  const auto runs = random_runs(sink, random);
  auto damaged = must(RunJoin::start(sink, runs));
  sink.is_damaged = true;
  EXPECT_EQ(code_of(damaged.step(1)), Errc::kChunkDamaged);
  sink.is_damaged = false;
  auto full = must(RunJoin::start(sink, runs));
  sink.room_bytes = 10;
  EXPECT_TRUE(must(full.step(~std::size_t{0})));
  EXPECT_EQ(code_of(full.finish()), Errc::kNoSpace);
}

}  // namespace
}  // namespace crawlstore::testing
