// SPDX-License-Identifier: Apache-2.0
//
// Dispatchers that submit, merge, throw or are absent.

#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/transaction.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t, NoValue, std::string>;

struct World {
  explicit World(const DrumOptions& options = {})
      : seen(must(Keys::open(*store, "seen", options))),
        queue(must(Keys::open(*store, "queue", options))) {
    seen.attach(log);
    queue.attach(queue_log);
  }

  MemoryStore store;
  CallLog log;
  CallLog queue_log;
  Keys seen;
  Keys queue;
};

DrumOptions tiny_arrays() {
  DrumOptions options;
  options.bucket_count = 2;
  options.array_elements = 1;
  options.array_aux_bytes = 64;
  return options;
}

TEST(DrumDispatch, PutsSubmissionsToItselfIntoTheNextBatch) {
  for (const DrumOptions& options : {DrumOptions{}, tiny_arrays()}) {
    World world(options);
    world.log.then = [&](const std::string&) {
      if (world.log.calls.size() < 3) must(world.seen.check_update(1, {}, "again"));
    };
    must(world.seen.check_update(1, {}, "first"));
    EXPECT_EQ(must(world.seen.merge()).request_count, 1U);
    EXPECT_EQ(world.log.calls, Calls{"unique update 1 first"});
    EXPECT_EQ(world.seen.status().pending_count, 1U);
    must(world.seen.merge());
    EXPECT_EQ(world.log.calls.back(), "duplicate update 1 again");
  }
}

TEST(DrumDispatch, CommitsWhatItSubmitsElsewhereTogetherWithTheMerge) {
  for (const DrumOptions& options : {DrumOptions{}, tiny_arrays()}) {
    World world(options);
    world.log.then = [&](const std::string&) { must(world.queue.update(9, {}, "fetch")); };
    for (int i = 0; i < 3; ++i) must(world.seen.check_update(1));
    must(world.store->commit());
    EXPECT_EQ(must(world.seen.merge()).commit_count, 1U);
    MemoryStore survivor(world.store.image());
    EXPECT_EQ(drum_info(*survivor, "queue").pending_count, 3U);
    EXPECT_EQ(drum_info(*survivor, "seen").pending_count, 0U);
    EXPECT_EQ(drum_info(*survivor, "seen").key_count, 1U);
  }
}

TEST(DrumDispatch, StaysAttachedWhenOneMergeHasAnother) {
  World world;
  must(world.seen.check_update(1));
  CallLog alone;
  must(world.seen.merge(alone));
  EXPECT_EQ(alone.calls, Calls{"unique update 1"});
  must(world.seen.check_update(2));
  must(world.seen.merge());
  EXPECT_EQ(world.log.calls, Calls{"unique update 2"});

  world.log.then = [&](const std::string&) {
    EXPECT_EQ(world.seen.merge(alone).error().code, Errc::kReentrant);
  };
  for (std::uint64_t key = 3; key < 6; ++key) must(world.seen.check_update(key));
  must(world.seen.merge());
  EXPECT_EQ(world.log.calls.size(), 4U);
  EXPECT_EQ(alone.calls.size(), 1U);
}

TEST(DrumDispatch, KeepsEffectsExactlyOnceWhenItThrowsLater) {
  for (const DrumOptions& options : {DrumOptions{}, tiny_arrays()}) {
    World world(options);
    bool throws = true;
    world.log.then = [&](const std::string&) {
      if (throws && world.log.calls.size() % 5 == 0) throw std::runtime_error("full");
      must(world.queue.update(world.log.calls.size(), {}, "fetch"));
    };
    for (std::uint64_t key = 0; key < 7; ++key) must(world.seen.check_update(key << 61));
    EXPECT_EQ(code_of(world.seen.merge()), Errc::kDispatcherFailed);
    EXPECT_EQ(world.queue.status().pending_count, 0U);
    throws = false;
    must(world.seen.merge());
    must(world.queue.merge());
    EXPECT_EQ(world.queue_log.calls.size(), 7U);
  }
}

TEST(DrumDispatch, KeepsItsRequestsWhenItThrows) {
  World world;
  world.log.then = [](const std::string&) { throw 5; };  // NOLINT: any type
  must(world.seen.check_update(1, {}, "a"));
  must(world.seen.check_update(1, {}, "b"));
  EXPECT_EQ(code_of(world.seen.merge()), Errc::kDispatcherFailed);
  EXPECT_EQ(world.seen.status().pending_count, 2U);
  EXPECT_EQ(world.seen.status().key_count, 0U);
  must(world.store->commit());
  MemoryStore survivor(world.store.image());
  EXPECT_EQ(drum_info(*survivor, "seen").pending_count, 2U);
  EXPECT_EQ(drum_info(*survivor, "seen").key_count, 0U);
}

TEST(DrumDispatch, HasItsRequestsInTheFileWhenItThrowsAndLogsFirst) {
  DrumOptions options;
  options.log_first = true;
  World world(options);
  world.log.then = [](const std::string&) { throw 5; };  // NOLINT: any type
  must(world.seen.check_update(1, {}, "a"));
  must(world.seen.check_update(1, {}, "b"));
  EXPECT_EQ(code_of(world.seen.merge()), Errc::kDispatcherFailed);
  EXPECT_EQ(world.seen.status().pending_count, 2U);
  MemoryStore survivor(world.store.image());
  EXPECT_EQ(drum_info(*survivor, "seen").pending_count, 2U);
}

TEST(DrumDispatch, KeepsSequencesWhenRequestsAreDispatchedAgain) {
  World world(tiny_arrays());
  bool throws = true;
  world.log.then = [&](const std::string&) {
    must(world.seen.check(77));
    if (throws && world.log.calls.size() == 3) throw std::runtime_error("no");
  };
  for (std::uint64_t key = 0; key < 6; ++key) must(world.seen.check_update(key << 61));
  EXPECT_FALSE(world.seen.merge());
  const auto first = std::exchange(world.log.sequences, {});
  const auto calls = std::exchange(world.log.calls, {});
  throws = false;
  must(world.seen.merge());
  ASSERT_EQ(world.log.calls.size(), 6U);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), world.log.sequences.begin()));
  EXPECT_TRUE(std::equal(calls.begin(), calls.end(), world.log.calls.begin()));
}

TEST(DrumDispatch, NeverGivesASequenceTwice) {
  World world(tiny_arrays());
  std::set<std::uint64_t> used;
  std::size_t answers = 0;
  for (int round = 0; round < 20; ++round) {
    world.log = {};
    world.log.then = [&](const std::string&) {
      must(world.seen.check(5));
      if (round % 2 == 0 && world.log.calls.size() == 2) throw std::runtime_error("no");
    };
    for (std::uint64_t key = 0; key < 3; ++key) must(world.seen.check(key << 61));
    if (world.seen.merge()) {
      used.insert(world.log.sequences.begin(), world.log.sequences.end());
      answers += world.log.sequences.size();
    }
  }
  EXPECT_GT(answers, 60U);
  EXPECT_EQ(used.size(), answers);
}

TEST(DrumDispatch, RefusesToMergeOrCommitInside) {
  World world;
  std::vector<Errc> codes;
  world.log.then = [&](const std::string&) {
    codes = {code_of(world.seen.merge()), code_of(world.queue.merge()),
             code_of(world.store->commit()), code_of(world.queue.take_results(world.queue_log)),
             code_of(world.queue.close())};
  };
  must(world.seen.check(1));
  must(world.seen.merge());
  EXPECT_EQ(codes, std::vector<Errc>(5, Errc::kReentrant));
  EXPECT_TRUE(world.queue.check(1)) << "nothing was closed";
}

/// Whether or not there is something to merge: arrays that are over their memory call for it.
TEST(DrumDispatch, RefusesToMergeWhatIsFullInside) {
  for (const std::uint64_t memory_bytes : {std::uint64_t{1} << 20, std::uint64_t{1} << 14}) {
    DrumOptions options;
    options.bucket_count = 4;
    options.auto_merge = false;
    World world(options);
    for (std::uint64_t key = 0; key < 20'000; ++key) must(world.seen.check_update(key << 50));
    options.memory_bytes = memory_bytes;
    must(world.seen.tune(options));
    must(world.queue.check(1));
    std::vector<Errc> codes;
    world.queue_log.then = [&](const std::string&) {
      codes = {code_of(world.seen.core().merge_if_full()),
               code_of(world.queue.core().merge_if_full())};
    };
    must(world.queue.merge());
    EXPECT_EQ(codes, std::vector<Errc>(2, Errc::kReentrant));
    auto transaction = must(Transaction::begin(*world.store));
    EXPECT_EQ(code_of(world.seen.core().merge_if_full()), Errc::kReentrant);
    transaction.drop();
    EXPECT_TRUE(world.log.calls.empty());
    EXPECT_EQ(world.seen.status().pending_count, 20'000U);
  }
}

TEST(DrumDispatch, IsAttachedByTheSinkOfOneMerge) {
  World world;
  CallLog next;
  CallLog alone;
  alone.then = [&](const std::string&) { world.seen.attach(next); };
  must(world.seen.check_update(1));
  must(world.seen.merge(alone));
  must(world.seen.check_update(2));
  must(world.seen.merge());
  EXPECT_EQ(alone.calls, Calls{"unique update 1"});
  EXPECT_EQ(next.calls, Calls{"unique update 2"});
  EXPECT_TRUE(world.log.calls.empty());
}

TEST(DrumDispatch, RefusesToCloseTheStoreInside) {
  World world;
  Errc code{};
  world.log.then = [&](const std::string&) { code = code_of(world.store->close()); };
  must(world.seen.check(1));
  must(world.seen.merge());
  EXPECT_EQ(code, Errc::kReentrant);
  EXPECT_TRUE(world.store->commit());
}

TEST(DrumDispatch, RefusesToRollBackOrCompactInside) {
  MemoryStore store;
  auto drum = must(Keys::open(*store, "seen"));
  CallLog log;
  std::vector<bool> worked;
  log.then = [&](const std::string&) {
    worked = {store->rollback().has_value(), store->compact().has_value()};
  };
  must(drum.check(1));
  must(drum.merge(log));
  EXPECT_EQ(worked, (std::vector<bool>{false, false}));
}

TEST(DrumDispatch, SurvivesADrumThatEndsInside) {
  World world;
  auto brief = std::make_unique<Keys>(must(Keys::open(*world.store, "brief")));
  must(brief->check_update(3));
  world.log.then = [&](const std::string&) { brief.reset(); };
  must(world.seen.check(1));
  must(world.seen.merge());
  must(world.store->commit());
  EXPECT_EQ(drum_info(*world.store, "brief").pending_count, 1U);
  auto again = must(Keys::open(*world.store, "brief"));
  CallLog log;
  must(again.merge(log));
  EXPECT_EQ(log.calls, Calls{"unique update 3"});
}

TEST(DrumDispatch, AnswersLookupsInsideAsOfTheLastMerge) {
  World world;
  std::vector<bool> found;
  world.log.then = [&](const std::string&) {
    found.push_back(must(world.seen.lookup(1)).has_value());
  };
  must(world.seen.check_update(1));
  must(world.seen.merge());
  must(world.seen.check(1));
  must(world.seen.merge());
  EXPECT_EQ(found, (std::vector<bool>{false, true}));
}

TEST(DrumDispatch, NumbersRequestsOfOtherThreadsAfterThoseOfTheDispatcher) {
  World world(tiny_arrays());
  world.log.then = [&](const std::string& call) {
    if (call != "unique check 0") return;
    must(world.seen.check(1, "inside 1"));
    must(world.seen.check(1, "inside 2"));
    std::thread([&] {
      for (const char* aux : {"outside 1", "outside 2"}) must(world.seen.check(1, aux));
    }).join();
    must(world.seen.check(1, "inside 3"));
  };
  must(world.seen.check(0));
  must(world.seen.merge());
  world.log.sequences.clear();
  must(world.seen.merge());
  EXPECT_EQ(world.log.sequences.size(), 5U);
  EXPECT_TRUE(
      std::is_sorted(world.log.sequences.begin(), world.log.sequences.end(), std::less_equal<>()));
}

TEST(DrumDispatch, BoundsLogsThatOtherThreadsFillMeanwhile) {
  DrumOptions options = tiny_arrays();
  options.auto_merge = false;
  World world(options);
  std::size_t taken = 0;
  world.log.then = [&](const std::string& call) {
    if (call != "unique check 0 start") return;
    for (int i = 0; i < 3; ++i) must(world.seen.check(1, "inside"));
    std::thread([&] {
      while (taken < 700 && world.seen.check(2, "outside")) ++taken;
    }).join();
  };
  must(world.seen.check(0, "start"));
  must(world.seen.merge());
  EXPECT_GT(taken, 200U);
  EXPECT_EQ(world.seen.status().pending_count, 3 + taken) << "refused requests are not taken";
  world.log.calls.clear();
  must(world.seen.merge());
  EXPECT_EQ(world.log.calls.size(), 3 + taken);
}

TEST(DrumDispatch, KeepsWhatMergesWithoutCommitSubmittedElsewhere) {
  DrumOptions options;
  options.durability = Durability::kNone;
  World world(options);
  bool throws = false;
  world.log.then = [&](const std::string&) {
    must(world.queue.update(9, {}, "fetch"));
    if (throws) throw std::runtime_error("no");
  };
  must(world.seen.check_update(1));
  must(world.seen.merge());
  throws = true;
  must(world.seen.check_update(2));
  EXPECT_FALSE(world.seen.merge());
  must(world.queue.merge());
  EXPECT_EQ(world.queue_log.calls, Calls{"update 9 fetch"});
}

}  // namespace
}  // namespace crawlstore::testing
