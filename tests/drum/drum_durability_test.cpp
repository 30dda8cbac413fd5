// SPDX-License-Identifier: Apache-2.0
//
// The contents after a crash, for each level by name (spec/features.md, Durability): the bytes that
// were written so far are opened as another process would find them.

#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"
#include "support/bytes.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t, NoValue, std::string>;

struct World {
  explicit World(Durability durability, std::uint32_t interval_ms = 1000) {
    DrumOptions options;
    options.durability = durability;
    options.interval_ms = interval_ms;
    drum.emplace(must(Keys::open(*store, "seen", options)));
    drum->attach(log);
  }
  /// Pending requests and keys that the file has after a crash now.
  std::pair<std::uint64_t, std::uint64_t> after_crash() {
    MemoryStore survivor(store.image());
    const DrumInfo info = drum_info(*survivor, "seen");
    return {info.pending_count, info.key_count};
  }

  using Found = std::pair<std::uint64_t, std::uint64_t>;
  MemoryStore store;
  CallLog log;
  std::optional<Keys> drum;
};

TEST(DrumDurability, LosesUnmergedRequestsAtLevelMerge) {
  World world(Durability::kMerge);
  must(world.drum->check_update(1));
  EXPECT_EQ(world.after_crash(), (World::Found{0, 0}));
}

TEST(DrumDurability, KeepsWhatAMergeAcknowledgedAtLevelMerge) {
  World world(Durability::kMerge);
  must(world.drum->check_update(1));
  must(world.drum->merge());
  must(world.drum->check_update(2));
  EXPECT_EQ(world.after_crash(), (World::Found{0, 1}));
}

TEST(DrumDurability, KeepsWhatACommitAcknowledgedAtEveryLevel) {
  for (const auto level :
       {Durability::kMerge, Durability::kInterval, Durability::kRequest, Durability::kNone}) {
    World world(level);
    must(world.drum->check_update(1, {}, "one"));
    must(world.store->commit());
    MemoryStore survivor(world.store.image());
    auto drum = must(Keys::open(*survivor, "seen"));
    CallLog log;
    must(drum.merge(log));
    EXPECT_EQ(log.calls, Calls{"unique update 1 one"});
  }
}

TEST(DrumDurability, KeepsEachRequestAtLevelRequest) {
  World world(Durability::kRequest);
  for (std::uint64_t i = 1; i <= 5; ++i) {
    must(world.drum->check_update(i));
    EXPECT_EQ(world.after_crash(), (World::Found{i, 0}));
  }
}

TEST(DrumDurability, BoundsTheLogsOfManyTinyCommits) {
  World world(Durability::kRequest);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    must(world.drum->check_update(i % 7, {}, std::to_string(i)));
  }
  std::size_t runs = 0;
  for (const SegmentInfo& segment : must(world.store->snapshot()).segments()) {
    runs = std::max(runs, segment.runs.size());
  }
  EXPECT_GT(runs, 1U);
  EXPECT_LE(runs, 256U);
  EXPECT_EQ(world.after_crash(), (World::Found{1000, 0}));
  must(world.drum->merge());
  ASSERT_EQ(world.log.calls.size(), 1000U);
  EXPECT_EQ(world.log.calls[6], "unique update 6 6");
  EXPECT_EQ(world.log.calls[999], "duplicate update 5 999");
}

TEST(DrumDurability, KeepsOlderRequestsAtLevelInterval) {
  World world(Durability::kInterval, 20);
  must(world.drum->check_update(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  must(world.drum->check_update(2));
  EXPECT_GE(world.after_crash().first, 1U);
}

TEST(DrumDurability, WaitsForTheIntervalAtLevelInterval) {
  World world(Durability::kInterval, 3600 * 1000);
  for (std::uint64_t i = 0; i < 100; ++i) must(world.drum->check_update(i));
  EXPECT_EQ(world.after_crash(), (World::Found{0, 0}));
}

TEST(DrumDurability, PublishesNothingByMergesAtLevelNone) {
  World world(Durability::kNone);
  must(world.drum->check_update(1));
  must(world.drum->merge());
  EXPECT_EQ(world.log.calls, Calls{"unique update 1"});
  EXPECT_EQ(must(world.drum->lookup(1)).has_value(), true);
  EXPECT_EQ(world.after_crash(), (World::Found{0, 0}));
  must(world.store->commit());
  EXPECT_EQ(world.after_crash(), (World::Found{0, 1}));
}

TEST(DrumDurability, GoesBackToTheLastCommitAtLevelNone) {
  World world(Durability::kNone);
  for (std::uint64_t round = 0; round < 20; ++round) {
    must(world.drum->check_update(round));
    if (round == 9) must(world.store->commit());
    must(world.drum->merge());
  }
  MemoryStore survivor(world.store.image());
  auto drum = must(Keys::open(*survivor, "seen"));
  CallLog log;
  must(drum.merge(log));
  EXPECT_EQ(drum.status().key_count, 10U);
  EXPECT_EQ(log.calls, Calls{"unique update 9"});
}

TEST(DrumDurability, MergesWhatAnotherDrumSubmittedAtLevelNone) {
  World world(Durability::kNone);
  DrumOptions options;
  options.durability = Durability::kNone;
  auto queue = must(Keys::open(*world.store, "queue", options));
  CallLog log;
  queue.attach(log);
  world.log.then = [&](const std::string&) { must(queue.update(9, {}, "fetch")); };
  must(world.drum->check_update(1));
  must(world.drum->merge());
  must(queue.merge());
  EXPECT_EQ(log.calls, Calls{"update 9 fetch"});
}

/// Its superblock is in the cache, and a sync that failed has lost it: no later sync writes it.
TEST(DrumDurability, MakesDurableWhatADeadProcessPublishedWhenNothingWaits) {
  Recorder recorder(make_empty_store_file(std::uint64_t{1} << 26));
  {
    auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
    auto drum = must(Keys::open(store, "seen"));
    must(store.commit());
    must(drum.check_update(1));
    recorder.inject({.calls = calls(CallKind::kSync), .nth = 2, .forever = true});
    EXPECT_FALSE(store.commit());
  }
  recorder.stop_injecting();
  const auto pending_on_disk = [&recorder] {
    MemoryStore survivor(recorder.disk());
    return drum_info(*survivor, "seen").pending_count;
  };
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  EXPECT_EQ(drum_info(store, "seen").pending_count, 1U);
  EXPECT_EQ(pending_on_disk(), 0U);
  must(store.commit());
  EXPECT_EQ(pending_on_disk(), 1U);
}

TEST(DrumDurability, ShowsSnapshotsOnlyWhatWasCommitted) {
  World world(Durability::kMerge);
  must(world.drum->check_update(1));
  must(world.drum->merge());
  const auto before = drum_view(*world.store, "seen");
  must(world.drum->check_update(2));
  must(world.drum->merge());
  EXPECT_TRUE(must(before.lookup(1)));
  EXPECT_FALSE(must(before.lookup(2)));
  EXPECT_TRUE(must(drum_view(*world.store, "seen").lookup(2)));
}

TEST(DrumDurability, NeverGivesASequenceTwice) {
  World world(Durability::kMerge);
  std::vector<std::byte> image;
  world.log.then = [&](const std::string&) { image = world.store.image(); };
  for (const char* aux : {"a", "b", "c"}) must(world.drum->check_update(1, {}, aux));
  must(world.drum->merge());
  MemoryStore survivor(image);  // a crash inside the last call: the requests are lost
  auto drum = must(Keys::open(*survivor, "seen"));
  CallLog log;
  must(drum.merge(log));
  EXPECT_TRUE(log.calls.empty());
  for (const char* aux : {"a", "b", "c"}) must(drum.check_update(1, {}, aux));
  must(drum.merge(log));
  EXPECT_EQ(log.calls, world.log.calls);
  EXPECT_GT(log.sequences.front(), world.log.sequences.back());
}

TEST(DrumDurability, DispatchesAgainWithTheSameSequencesWhenItLogsFirst) {
  World world(Durability::kMerge);
  DrumOptions options;
  options.log_first = true;
  must(world.drum->tune(options));
  std::vector<std::byte> image;
  world.log.then = [&](const std::string&) { image = world.store.image(); };
  for (const char* aux : {"a", "b", "c"}) must(world.drum->check_update(1, {}, aux));
  must(world.drum->merge());
  MemoryStore survivor(image);  // a crash inside the last call
  auto drum = must(Keys::open(*survivor, "seen"));
  CallLog log;
  must(drum.merge(log));
  EXPECT_EQ(log.calls, world.log.calls);
  EXPECT_EQ(log.sequences, world.log.sequences);
}

}  // namespace
}  // namespace crawlstore::testing
