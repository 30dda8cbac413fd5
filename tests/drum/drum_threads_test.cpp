// SPDX-License-Identifier: Apache-2.0
//
// Submissions from any thread, while others merge, commit and read. Run under TSan.

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/drum_view.h>
#include <crawlstore/tools/verify.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"

namespace crawlstore::testing {
namespace {

using Numbers = Drum<std::uint64_t, std::uint64_t, std::string>;
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;

DrumOptions tiny_arrays() {
  DrumOptions options;
  options.bucket_count = 4;
  options.array_elements = 16;
  options.bucket_bytes = 4000;
  options.partition_keys_max = 100;
  return options;
}

/// Arrays that are merged from memory, in flights of some hundred requests.
DrumOptions small_memory() {
  DrumOptions options;
  options.bucket_count = 4;
  options.memory_bytes = 16 << 10;
  options.partition_keys_max = 100;
  return options;
}

/// Four threads submit 500 requests each, of keys that are their own; `meanwhile` runs beside them.
template <class Submit, class Meanwhile>
void run_threads(Submit submit, Meanwhile meanwhile) {
  std::atomic<int> running{4};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&running, &submit, t] {
      for (std::uint64_t i = 0; i < 500; ++i) submit(t * 500 + i);
      --running;
    });
  }
  while (running.load() != 0) meanwhile();
  for (auto& thread : threads) thread.join();
}

/// Every answer of 2000 requests came once, and those of one thread and bucket in their order.
void expect_all_once(const std::vector<std::string>& calls) {
  std::set<std::string> different(calls.begin(), calls.end());
  EXPECT_EQ(calls.size(), 2000U);
  EXPECT_EQ(different.size(), calls.size());
}

struct World {
  explicit World(const DrumOptions& options = tiny_arrays())
      : drum(must(Numbers::open(*store, "numbers", options))) {
    drum.attach(log);
  }
  void submit(std::uint64_t number) {
    must(drum.check_update(number * kSpread, number, std::to_string(number)));
  }
  MemoryStore store;
  CallLog log;  // dispatched on one thread at a time
  Numbers drum;
};

TEST(DrumThreads, TakesSubmissionsWhileOneMerges) {
  World world;
  run_threads([&](std::uint64_t number) { world.submit(number); },
              [&] { must(world.drum.merge()); });
  must(world.drum.merge());
  expect_all_once(world.log.calls);
  EXPECT_EQ(world.drum.status().key_count, 2000U);
}

TEST(DrumThreads, TakesSubmissionsWhileOneCommits) {
  World world;
  run_threads([&](std::uint64_t number) { world.submit(number); },
              [&] { must(world.store->commit()); });
  must(world.drum.merge());
  expect_all_once(world.log.calls);
}

TEST(DrumThreads, AnswersLookupsAndStatusMeanwhile) {
  World world;
  run_threads([&](std::uint64_t number) { world.submit(number); },
              [&] {
                must(world.drum.merge());
                static_cast<void>(must(world.drum.lookup(3 * kSpread)));
                static_cast<void>(world.drum.status());
                static_cast<void>(must(drum_view(*world.store, "numbers").lookup(3 * kSpread)));
              });
  must(world.drum.merge());
  expect_all_once(world.log.calls);
}

TEST(DrumThreads, MergesFromMemoryWhileOthersSubmitCommitAndLook) {
  World world(small_memory());
  must(world.store->commit());  // for views to find it
  std::uint64_t looks = 0;
  run_threads(
      [&](std::uint64_t number) {
        world.submit(number);
        EXPECT_TRUE(must(world.drum.contains(number * kSpread))) << number;
      },
      [&] {
        if (++looks % 3 == 0) must(world.store->commit());
        if (looks % 7 == 0) must(world.drum.merge());
        static_cast<void>(must(drum_view(*world.store, "numbers").contains(3 * kSpread)));
        EXPECT_FALSE(must(world.drum.contains(5000 * kSpread)));
      });
  must(world.drum.merge());
  expect_all_once(world.log.calls);
  EXPECT_EQ(world.drum.status().key_count, 2000U);
}

TEST(DrumThreads, TakesSubmissionsToOneDrumWhileAnotherMerges) {
  World world;
  auto other = must(Numbers::open(*world.store, "other", tiny_arrays()));
  CallLog log;
  other.attach(log);
  std::uint64_t next = 0;
  run_threads([&](std::uint64_t number) { world.submit(number); },
              [&] {
                for (int i = 0; i < 20; ++i) must(other.check_update(++next * kSpread, 1));
                must(other.merge());
              });
  must(world.drum.merge());
  expect_all_once(world.log.calls);
  EXPECT_EQ(log.calls.size(), next);
}

TEST(DrumThreads, KeepsTheOrderOfEachThread) {
  MemoryStore store;
  DrumOptions options = tiny_arrays();
  options.bucket_count = 1;
  options.partition_keys_max = 1 << 20;
  auto drum = must(Numbers::open(*store, "numbers", options));
  struct Order {
    std::array<std::uint64_t, 4> last{};
    std::uint64_t last_sequence = 0;
    bool ascends = true;
    void update(const Numbers::AnswerType& answer) {
      std::uint64_t& before = last_of(answer.key);
      ascends = ascends && answer.value + 1 > before && answer.sequence + 1 > last_sequence;
      before = answer.value + 1;
      last_sequence = answer.sequence + 1;
    }
    std::uint64_t& last_of(std::uint64_t key) { return last[key]; }
  } order;
  drum.attach(order);
  run_threads([&](std::uint64_t number) { must(drum.update(number / 500, number)); },
              [&] { must(drum.merge()); });
  must(drum.merge());
  EXPECT_TRUE(order.ascends);
  EXPECT_EQ(order.last, (std::array<std::uint64_t, 4>{500, 1000, 1500, 2000}));
}

TEST(DrumThreads, LosesNothingWhenADispatcherSubmitsAsWell) {
  World world;
  std::uint64_t nested = 0;
  world.log.then = [&](const std::string&) {
    if (nested < 300) must(world.drum.check_update((5000 + nested++) * kSpread, 7));
  };
  run_threads([&](std::uint64_t number) { world.submit(number); },
              [&] { must(world.drum.merge()); });
  for (int i = 0; i < 3; ++i) must(world.drum.merge());
  EXPECT_EQ(world.log.calls.size(), 2300U);
  EXPECT_EQ(world.drum.status().key_count, 2300U);
}

TEST(DrumThreads, LetsConsumersBeNamedWhileResultsAreTaken) {
  World world;
  world.drum.detach();
  std::atomic<std::uint64_t> names{0};
  CallLog log;
  run_threads(
      [&](std::uint64_t number) {
        world.submit(number);
        if (number % 50 == 0) must(world.drum.consumer("consumer " + std::to_string(++names)));
      },
      [&] {
        must(world.drum.merge());
        must(world.drum.take_results(log));
      });
  must(world.drum.merge());
  must(world.drum.take_results(log));
  expect_all_once(log.calls);
}

/// The first transfers of two DRUMs, on two threads, find the file's free space together.
TEST(DrumThreads, ShareTheFirstUseOfAStore) {
  for (int round = 0; round < 20; ++round) {
    MemoryStore store;
    DrumOptions options;
    options.bucket_count = 1;
    options.array_elements = 4000;
    options.auto_merge = false;
    auto a = must(Drum<std::uint64_t>::open(*store, "a", options));
    auto b = must(Drum<std::uint64_t>::open(*store, "b", options));
    const auto fill = [](Drum<std::uint64_t>& drum) {
      for (std::uint64_t i = 0; i < 4001; ++i) must(drum.check_update(i * kSpread));
    };
    std::thread other([&] { fill(a); });
    fill(b);
    other.join();
    must(store->commit());
    const auto storage = open_memory_storage(store.file(), OpenMode::kRead);
    ASSERT_TRUE(must(verify(*storage, {VerifyLevel::kDeep, {}})).findings.empty());
  }
}

/// The last handle of a DRUM goes while another thread opens the DRUM.
TEST(DrumThreads, LoseNothingWhenHandlesComeAndGo) {
  for (int round = 0; round < 10; ++round) {
    MemoryStore store;
    std::atomic<std::uint64_t> taken{0};
    std::atomic<bool> done{false};
    std::thread committer([&] {
      auto other = must(Drum<std::uint64_t>::open(*store, "other"));
      for (std::uint64_t i = 0; !done.load(); ++i) {
        must(other.check_update(i));
        must(store->commit());
        std::this_thread::sleep_for(std::chrono::microseconds(100));  // others want the lock
      }
    });
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 8; ++i) {
          auto drum = must(Drum<std::uint64_t>::open(*store, "keys"));
          for (std::uint64_t k = 0; k < 10; ++k) {
            must(drum.check_update(t * 1000 + i * 10 + k));
            ++taken;
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
    done = true;
    committer.join();
    store.reopen();
    ASSERT_EQ(drum_info(*store, "keys").pending_count, taken.load());
  }
}

// covers: D9, D10
TEST(DrumThreads, DispatchOnlyWhatIsDurable) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 1;
  options.array_elements = 64;
  options.auto_merge = false;
  auto drum = must(Drum<std::uint64_t>::open(*store, "keys", options));
  std::uint64_t generation = 0;
  std::uint64_t durable = 0;
  std::uint64_t early = 0;
  std::uint64_t answers = 0;
  drum.core().attach({}, [&](std::span<const RawAnswer> batch) {
    if (generation != store->generation().value) {
      generation = store->generation().value;
      durable = must(list_drums(must(store->snapshot()))).front().next_sequence;
    }
    for (const RawAnswer& answer : batch) early += answer.sequence >= durable ? 1U : 0U;
    answers += batch.size();
  });
  std::atomic<bool> done{false};
  std::thread submitter([&] {
    std::vector<std::uint64_t> keys(300);
    for (std::uint64_t round = 0; round < 100; ++round) {
      for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = (round * 300 + i) * kSpread;
      must(drum.check_update(keys));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    done = true;
  });
  while (!done.load()) must(drum.merge());
  submitter.join();
  must(drum.merge());
  EXPECT_EQ(answers, 30000U);
  EXPECT_EQ(early, 0U);
}

TEST(DrumThreads, AttachingWaitsForTheDispatcherOfBefore) {
  MemoryStore store;
  auto drum = must(Drum<std::uint64_t>::open(*store, "keys"));
  std::atomic<bool> inside{false};
  std::atomic<bool> left{false};
  drum.core().attach({}, [&](std::span<const RawAnswer>) {
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    left = true;
  });
  must(drum.check_update(1));
  std::thread merging([&] { must(drum.merge()); });
  while (!inside.load()) std::this_thread::yield();
  drum.detach();
  EXPECT_TRUE(left.load());
  merging.join();
}

/// Counts all that it is told of check_update().
struct Counter {
  std::atomic<std::uint64_t>* count;
  void unique_key_update(const auto& /*answer*/) { ++*count; }
  void duplicate_key_update(const auto& /*answer*/) { ++*count; }
};

/// Each thread merges with a dispatcher of its own: one of them hears of each key, and none waits.
TEST(DrumThreads, TellEachAnswerToTheDispatcherOfSomeMerge) {
  MemoryStore store;
  auto keys = must(Drum<std::uint64_t>::open(*store, "keys"));
  std::atomic<std::uint64_t> told{0};
  run_threads(
      [&](std::uint64_t i) {
        must(keys.check_update(i * kSpread));
        Counter counter{&told};
        must(keys.merge(counter));
      },
      [] { std::this_thread::yield(); });
  EXPECT_EQ(told, 2000U);
  Counter waiting{&told};
  EXPECT_EQ(must(keys.take_results(waiting)), 0U);
}

}  // namespace
}  // namespace crawlstore::testing
