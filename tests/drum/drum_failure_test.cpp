// SPDX-License-Identifier: Apache-2.0
//
// A full disk, a pinned reader, a clock that goes backwards; and what merges and lookups cost.

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/verify.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"
#include "support/bytes.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using Numbers = Drum<std::uint64_t, std::uint64_t, std::string>;
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;

/// A store whose storage can be made to fail.
struct FailingWorld {
  FailingWorld() : recorder(make_empty_store_file(std::uint64_t{1} << 26)) { open(); }
  void open() {
    drum.reset();
    store.reset();
    store.emplace(must(Store::open(recorder.open(OpenMode::kWrite))));
    DrumOptions options;
    options.bucket_count = 4;
    options.array_elements = 8;
    options.auto_merge = false;
    options.parallel = false;
    drum.emplace(must(Numbers::open(*store, "numbers", options)));
    drum->attach(log);
  }
  /// Submits requests until one is refused; returns how many were taken.
  std::uint64_t submit(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      if (!drum->check_update(i * kSpread, i, std::to_string(i))) return i - first;
    }
    return count;
  }

  /// Space is back. A failure at a superblock has poisoned the store: it is opened again, as its
  /// message says.
  void recover() {
    recorder.stop_injecting();
    if (code_of(store->commit()) == Errc::kPoisoned) open();
  }

  Recorder recorder;
  std::optional<Store> store;
  CallLog log;
  std::optional<Numbers> drum;
};

/// Each place where space can run out, until a whole round makes fewer calls.
template <class Round>
void for_each_failing_call(Round round) {
  for (std::uint64_t nth = 1; nth < 2000; ++nth) {
    FailingWorld world;
    world.submit(0, 50);
    must(world.drum->merge());
    world.submit(40, 50);
    must(world.store->commit());
    world.log.calls.clear();
    world.recorder.inject({.calls = calls(CallKind::kWrite, CallKind::kAllocate),
                           .nth = nth,
                           .forever = true,
                           .system_errno = ENOSPC});
    round(world);
    if (!world.recorder.has_injected()) return;
    if (::testing::Test::HasFailure()) FAIL() << "space ran out at call " << nth;
  }
  FAIL() << "never ran to the end";
}

TEST(DrumFailure, LosesNothingWhenTheDiskIsFullInAMerge) {
  for_each_failing_call([](FailingWorld& world) {
    const auto failed = world.drum->merge();
    if (!world.recorder.has_injected()) return;
    EXPECT_EQ(code_of(failed), Errc::kNoSpace);
    EXPECT_EQ(world.drum->status().pending_count, 50U);
    EXPECT_EQ(world.drum->status().key_count, 50U);
    world.recover();
    world.log.calls.clear();
    const auto report = world.drum->merge();
    ASSERT_TRUE(report) << describe(report.error());
    // The merge may have been published if a superblock failed: then all of it was.
    EXPECT_TRUE(report->unique_count == 40 || report->request_count == 0);
    EXPECT_EQ(world.log.calls.size(), report->request_count);
    EXPECT_EQ(world.drum->status().key_count, 90U);
  });
}

TEST(DrumFailure, LeavesAWholeFileWhenTheDiskIsFull) {
  for_each_failing_call([](FailingWorld& world) {
    static_cast<void>(world.drum->merge());
    if (world.recorder.has_injected()) world.recover();
    must(world.drum->merge());
    must(world.store->close());
    auto storage = world.recorder.open(OpenMode::kRead);
    EXPECT_FALSE(must(verify(*storage, {.level = VerifyLevel::kDeep, .progress = {}})).damaged());
  });
}

TEST(DrumFailure, TakesExactlyTheRequestsThatItAcknowledged) {
  for (std::uint64_t nth = 1; nth < 40; ++nth) {
    FailingWorld world;
    world.submit(0, 3);
    must(world.store->commit());
    world.recorder.inject({.calls = calls(CallKind::kWrite, CallKind::kAllocate),
                           .nth = nth,
                           .forever = true,
                           .system_errno = ENOSPC});
    const std::uint64_t taken = world.submit(3, 1000);
    EXPECT_EQ(world.drum->status().pending_count, taken + 3);
    world.recorder.stop_injecting();
    EXPECT_EQ(world.submit(3 + taken, 10), 10U);
    must(world.drum->merge());
    EXPECT_EQ(world.log.calls.size(), taken + 13);
    EXPECT_EQ(world.drum->status().key_count, taken + 13);
  }
}

TEST(DrumFailure, KeepsResultsWhenTheDiskIsFull) {
  for_each_failing_call([](FailingWorld& world) {
    world.drum->detach();
    CallLog log;
    const bool merged = world.drum->merge().has_value();
    const bool taken = world.drum->take_results(log).has_value();
    if (!world.recorder.has_injected()) return;
    EXPECT_TRUE(!taken || merged);
    if (taken) return;
    world.recover();
    world.drum->detach();
    log.calls.clear();
    must(world.drum->merge());
    must(world.drum->take_results(log));
    // The taking may have been published if its superblock failed.
    EXPECT_TRUE(log.calls.size() == 50 || (merged && log.calls.empty()));
    EXPECT_EQ(must(world.drum->take_results(log)), 0U);
  });
}

TEST(DrumFailure, TakesSubmissionsWhileACommitIsUnderWay) {
  FailingWorld world;
  std::atomic<std::uint64_t> next{1000};
  std::vector<std::thread> threads;
  world.recorder.set_hook([&](CallKind kind, Extent) {
    if (kind != CallKind::kSync || threads.size() > 50) return;
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const std::uint64_t number = next++;
        must(world.drum->check_update(number * kSpread, number));
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  });
  for (int round = 0; round < 5; ++round) {
    must(world.drum->check_update(static_cast<std::uint64_t>(round)));
    must(world.store->commit());
    must(world.drum->merge());
  }
  world.recorder.set_hook({});
  for (auto& thread : threads) thread.join();
  must(world.drum->merge());
  EXPECT_EQ(world.log.calls.size(), 5 + 20 * threads.size());
  EXPECT_EQ(world.drum->status().key_count, 5 + 20 * threads.size());
}

TEST(DrumFailure, ServesAReaderThatNeverCloses) {
  MemoryStore store;
  auto drum = must(Numbers::open(*store, "numbers"));
  for (std::uint64_t i = 0; i < 500; ++i) must(drum.update(i * kSpread, i));
  must(drum.merge());
  const auto pinned = drum_view(*store, "numbers");
  for (std::uint64_t round = 1; round < 30; ++round) {
    for (std::uint64_t i = 0; i < 500; ++i) must(drum.update(i * kSpread, i + round));
    must(drum.merge());
  }
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto found = must((lookup<std::uint64_t, std::uint64_t>(pinned, i * kSpread)));
    ASSERT_EQ(found, i) << "the pinned generation changed";
  }
  EXPECT_EQ(must(drum.lookup(0)), 29U);
}

TEST(DrumFailure, WorksWithAClockThatGoesBackwards) {
  const auto file = make_empty_store_file(std::uint64_t{1} << 26);
  for (int day = 5; day > 0; --day) {
    OpenOptions options;
    options.time_us = kFixedTimeUs - (6 - day) * 86'400'000'000;
    auto store = must(Store::open(open_memory_storage(file, OpenMode::kWrite), options));
    auto drum = must(Numbers::open(store, "numbers"));
    CallLog log;
    must(drum.check_update(1, 2));
    must(drum.merge(log));
    EXPECT_EQ(log.calls, Calls{day == 5 ? "unique update 1 2" : "duplicate update 1 2"});
  }
}

/// The bytes of a file after a fixed run of operations.
std::vector<std::byte> bytes_of_a_run(bool parallel) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 4;
  options.array_elements = 16;
  options.array_aux_bytes = 256;
  options.bucket_bytes = 2000;
  options.partition_keys_max = 40;
  options.parallel = parallel;
  auto drum = must(Numbers::open(*store, "numbers", options));
  auto queue = must(Numbers::open(*store, "queue", options));
  CallLog log;
  drum.attach(log);
  log.then = [&](const std::string& call) { must(queue.update(call.size(), 1, call)); };
  Random random(9);
  for (int i = 0; i < 1500; ++i) {
    must(drum.check_update(random.below(400) * kSpread, random.next(), std::to_string(i)));
    if (i % 300 == 0) must(queue.merge());
  }
  must(drum.merge());
  must(store->close());
  return store.image();
}

TEST(DrumFailure, WritesTheSameBytesWhateverTheThreads) {
  const auto alone = bytes_of_a_run(false);
  EXPECT_EQ(alone, bytes_of_a_run(false));
  for (int again = 0; again < 5; ++again) EXPECT_EQ(alone, bytes_of_a_run(true));
}

}  // namespace
}  // namespace crawlstore::testing
