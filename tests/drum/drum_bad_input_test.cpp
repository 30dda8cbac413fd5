// SPDX-License-Identifier: Apache-2.0
//
// The behaviour on bad days of a DRUM that merges from memory: every answer once and right, memory
// and space bounded.
#include <cerrno>
#include <optional>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/verify.h>

#include "drum/memory_store.h"
#include "support/random.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t>;
constexpr std::uint64_t kMemoryBytes = 512 << 10;
constexpr std::uint64_t kCount = 300'000;

DrumOptions small_memory() {
  DrumOptions options;
  options.bucket_count = 16;
  options.memory_bytes = kMemoryBytes;
  return options;
}

struct Counter {
  std::uint64_t unique = 0;
  std::uint64_t duplicate = 0;
  void unique_key_update(const Keys::AnswerType&) { ++unique; }
  void duplicate_key_update(const Keys::AnswerType&) { ++duplicate; }
};

/// Submits `count` keys, twice, in calls of 1,000; says what the arrays held at most.
template <class KeyOf>
std::uint64_t submit_twice(Keys& drum, std::uint64_t count, const KeyOf& key_of) {
  std::uint64_t peak_bytes = 0;
  std::vector<std::uint64_t> keys;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < count;) {
      keys.clear();
      for (; i < count && keys.size() < 1000; ++i) keys.push_back(key_of(i));
      must(drum.check_update(keys));
      peak_bytes = std::max(peak_bytes, drum.status().memory_bytes);
    }
  }
  return peak_bytes;
}

template <class KeyOf>
void expect_answers(const DrumOptions& options, std::uint64_t unique, const KeyOf& key_of) {
  MemoryStore store;
  auto drum = must(Keys::open(*store, "keys", options));
  Counter counter;
  drum.attach(counter);
  const std::uint64_t peak_bytes = submit_twice(drum, kCount, key_of);
  must(drum.merge());
  EXPECT_EQ(counter.unique, unique);
  EXPECT_EQ(counter.duplicate, 2 * kCount - unique);
  EXPECT_EQ(drum.status().key_count, unique);
  EXPECT_LE(peak_bytes, kMemoryBytes + 2 * 4096 * drum.status().bucket_count);
  must(drum.close());
  VerifyOptions deep;
  deep.level = VerifyLevel::kDeep;
  EXPECT_TRUE(
      must(verify(*open_memory_storage(store.file(), OpenMode::kRead), deep)).findings.empty());
}

TEST(DrumBadInput, AnswersKeysOfOneBucket) {
  expect_answers(small_memory(), kCount, [](std::uint64_t i) { return Random(i).next() >> 20; });
}

TEST(DrumBadInput, SplitsABucketThatTakesAllKeys) {
  DrumOptions options = small_memory();
  options.partition_keys_max = 20'000;
  expect_answers(options, kCount, [](std::uint64_t i) { return Random(i).next() >> 20; });
}

TEST(DrumBadInput, AnswersKeysThatComeSorted) {
  expect_answers(small_memory(), kCount, [](std::uint64_t i) { return i << 45; });
  expect_answers(small_memory(), kCount, [](std::uint64_t i) { return ~(i << 45); });
}

TEST(DrumBadInput, AnswersOneKeyAgainAndAgain) {
  expect_answers(small_memory(), 1, [](std::uint64_t) { return std::uint64_t{77}; });
}

TEST(DrumBadInput, WorksWithLessMemoryThanASlabABucket) {
  DrumOptions options = small_memory();
  options.bucket_count = 64;
  options.memory_bytes = 4096;
  MemoryStore store;
  auto drum = must(Keys::open(*store, "keys", options));
  Counter counter;
  drum.attach(counter);
  EXPECT_LE(submit_twice(drum, 5000, [](std::uint64_t i) { return Random(i).next(); }),
            2 * 64 * 4096U);
  must(drum.merge());
  EXPECT_EQ(counter.unique, 5000U);
  options.memory_bytes = 4095;
  EXPECT_FALSE(drum.tune(options));
}

/// A run has at most 2^24 requests, whatever the memory.
TEST(DrumBadInput, EndsRunsWhenNobodyMerges) {
  DrumOptions options;
  options.bucket_count = 1;
  options.memory_bytes = std::uint64_t{1} << 29;
  options.auto_merge = false;
  constexpr std::uint64_t kMany = (std::uint64_t{1} << 24) + 1000;
  MemoryStore store;
  {
    auto drum = must(Keys::open(*store, "keys", options));
    const std::vector<std::uint64_t> keys(1 << 20, 77);
    for (std::uint64_t i = 0; i < kMany; i += keys.size()) {
      must(drum.check_update(
          std::span(keys).first(std::min<std::uint64_t>(keys.size(), kMany - i))));
    }
    must(drum.close());
  }
  auto drum = must(Keys::open(*store, "keys", options));
  Counter counter;
  must(drum.merge(counter));
  EXPECT_EQ(counter.unique, 1U);
  EXPECT_EQ(counter.duplicate, kMany - 1);
}

/// The disk is full for a while; the caller goes on where it was. Answers whose commit failed come
/// again, with their sequences.
TEST(DrumBadInput, LosesNothingWhenTheDiskFillsInTheMiddleOfAMerge) {
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1; nth < 60; nth += 7) {
    MemoryStore empty;
    Recorder recorder(make_memory_file(empty.image()));
    OpenOptions open_options;
    open_options.time_us = kFixedTimeUs;
    auto store = must(Store::open(recorder.open(OpenMode::kWrite), open_options));
    auto drum = must(Keys::open(store, "keys", small_memory()));
    struct Sequences {
      std::set<std::uint64_t> seen;
      void unique_key_update(const Keys::AnswerType& answer) { seen.insert(answer.sequence); }
    } unique;
    drum.attach(unique);
    must(store.commit());
    // Blocks are reserved before they are written: there it shows.
    recorder.inject(
        {.calls = calls(CallKind::kAllocate), .nth = nth, .forever = true, .system_errno = ENOSPC});
    for (std::uint64_t i = 0; i < 200'000; ++i) {
      // Requests that a failed call took stay taken: its merge is tried again by the next one.
      if (const auto taken = drum.check_update(Random(i).next()); !taken) {
        ASSERT_EQ(taken.error().code, Errc::kNoSpace) << describe(taken.error());
        ++failures;
        recorder.stop_injecting();
      }
    }
    recorder.stop_injecting();
    must(drum.merge());
    EXPECT_EQ(unique.seen.size(), 200'000U) << nth;
    EXPECT_EQ(drum.status().key_count, 200'000U) << nth;
  }
  EXPECT_GE(failures, 5U);
}

TEST(DrumBadInput, HasEffectsOnceWhenTheDispatcherThrowsNowAndThen) {
  MemoryStore store;
  auto drum = must(Keys::open(*store, "keys", small_memory()));
  auto firsts = must(Keys::open(*store, "firsts", small_memory()));
  struct Forward {
    Keys& to;
    std::uint64_t calls = 0;
    std::uint64_t throws = 0;
    void unique_key_update(const Keys::AnswerType& answer) {
      if (++calls % 9973 == 0) {
        ++throws;
        throw std::runtime_error("not now");
      }
      must(to.check_update(answer.key));
    }
  } forward{firsts};
  drum.attach(forward);
  Counter counter;
  firsts.attach(counter);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const auto taken = drum.check_update(Random(i % 70'000).next());
    ASSERT_TRUE(taken || taken.error().code == Errc::kDispatcherFailed);
  }
  for (int attempts = 0; !drum.merge(); ++attempts) ASSERT_LT(attempts, 100);
  must(firsts.merge());
  EXPECT_GT(forward.throws, 2U);
  EXPECT_EQ(counter.unique, 70'000U) << "each was forwarded";
  EXPECT_EQ(counter.duplicate, 0U) << "and none twice";
}

/// A reader that never goes away keeps its generation, and nothing else.
TEST(DrumBadInput, BoundsTheFileWhileAReaderHoldsAGeneration) {
  std::array<std::uint64_t, 2> file_bytes{};
  for (const bool is_pinned : {false, true}) {
    MemoryStore store;
    auto drum = must(Keys::open(*store, "keys", small_memory()));
    Counter counter;
    drum.attach(counter);
    submit_twice(drum, 50'000, [](std::uint64_t i) { return Random(i).next(); });
    must(drum.merge());
    std::optional<Snapshot> reader;
    if (is_pinned) reader.emplace(must(store->snapshot()));
    const std::uint64_t before = store->file_bytes();
    submit_twice(drum, kCount, [](std::uint64_t i) { return Random(i).next(); });
    must(drum.merge());
    EXPECT_EQ(drum.status().key_count, kCount);
    file_bytes[is_pinned ? 1 : 0] = store->file_bytes();
    if (is_pinned) {
      EXPECT_LE(file_bytes[1], file_bytes[0] + before);
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
