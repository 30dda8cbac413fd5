// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_parts.h"

#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;

Errc code_of(const Result<void>& result) {
  return result ? Errc{} : result.error().code;
}

TEST(BucketLogs, TakeWhatArraysHold) {
  DrumParts parts;
  parts.append(5);
  parts.append(6, DrumOperation::kCheck);
  parts.append(kHalf + 5);
  must(parts.logs.log_arrays(0, 1));
  EXPECT_EQ(parts.drum.state.buckets[0].pending.request_count, 2U);
  EXPECT_EQ(parts.drum.state.buckets[1].pending.request_count, 0U);
  EXPECT_EQ(parts.drum.state.next_sequence, 2U);
  EXPECT_TRUE(parts.drum.dirty);
  EXPECT_FALSE(parts.inbox.find({5, 0}, false));
  EXPECT_TRUE(parts.inbox.find({kHalf + 5, 0}, false));
  EXPECT_TRUE(must(parts.logs.inserts.contain(0, {5, 0}, false)));
  EXPECT_FALSE(must(parts.logs.inserts.contain(0, {6, 0}, false))) << "a check inserts nothing";
  EXPECT_TRUE(must(parts.logs.inserts.find(0, {5, 0}, false)).has_value());
}

TEST(BucketLogs, KeepATransactionApart) {
  DrumParts parts;
  parts.append(4);
  parts.inbox.append_tentative(0, {DrumOperation::kUpdate, {}, 5, {}, {}, 0});
  must(parts.logs.log_tentative());
  EXPECT_TRUE(must(parts.logs.inserts.contain(0, {4, 0}, false))) << "it arrived before";
  EXPECT_FALSE(must(parts.logs.inserts.contain(0, {5, 0}, false)));
  EXPECT_TRUE(must(parts.logs.inserts.contain(0, {5, 0}, true)));
  EXPECT_TRUE(must(parts.logs.inserts.contain_tentative(0, {5, 0})));
  parts.logs.drop_tentative();
  EXPECT_FALSE(must(parts.logs.inserts.contain(0, {5, 0}, true)));

  parts.inbox.append_tentative(0, {DrumOperation::kUpdate, {}, 6, {}, {}, 0});
  must(parts.logs.log_tentative());
  parts.logs.keep_tentative();
  EXPECT_TRUE(must(parts.logs.inserts.contain(0, {6, 0}, false)));
}

TEST(BucketLogs, JoinRunsBeforeThereAreTooMany) {
  DrumParts parts;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    must(parts.logs.ensure_room_for_run(0));
    parts.append(key);
    must(parts.logs.log_arrays());
  }
  const drum::LogRuns& log = parts.drum.state.buckets[0].pending;
  EXPECT_LE(log.keys.size(), drum::kJoinRunCount + 1);
  EXPECT_EQ(log.request_count, 1000U);
  for (std::uint64_t key = 0; key < 1000; ++key) {
    ASSERT_TRUE(must(parts.logs.inserts.contain(0, {key, 0}, false)));
  }
}

TEST(BucketLogs, RefuseMoreRunsThanAMergeLeavesRoomFor) {
  DrumParts parts;
  Result<void> room;
  for (std::uint64_t key = 0; room && key < 1000; ++key) {
    parts.drum.state.buckets[0].locked_run_count = parts.drum.state.buckets[0].pending.keys.size();
    room = parts.logs.ensure_room_for_run(0);
    if (!room) break;
    parts.append(key);
    must(parts.logs.log_arrays());
  }
  EXPECT_EQ(code_of(room), Errc::kTooLarge);
  EXPECT_TRUE(parts.logs.has_too_many_runs());
  parts.drum.state.buckets[0].locked_run_count = 0;
  must(parts.logs.ensure_room_for_run(0));
}

TEST(BucketLogs, GiveEachPieceItsRequests) {
  DrumParts parts({}, 1);
  SeededRandom random;
  std::vector<std::uint64_t> counts(3);
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t key = random.next();
    ++counts[key < kHalf ? 0 : key < kHalf + kHalf / 2 ? 1 : 2];
    parts.append(key);
    if (random.one_in(100)) must(parts.logs.log_arrays());
  }
  must(parts.logs.log_arrays());
  auto& buckets = parts.drum.state.buckets;
  for (const std::uint64_t first_key : {kHalf, kHalf + kHalf / 2}) {
    buckets.emplace_back().first_key = first_key;
  }
  must(parts.logs.redistribute(0, 3));
  parts.logs.adapt_to_buckets();
  for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(buckets[b].pending.request_count, counts[b]);
}

using Keys = std::vector<std::uint64_t>;

/// A sink that notes the keys.
RawSink into(Keys& keys) {
  return [&keys](std::span<const RawAnswer> answers) {
    for (const RawAnswer& answer : answers) keys.push_back(answer.key);
  };
}

TEST(Delivery, TellsAnswersInArrivalOrder) {
  DrumParts parts({}, 1);
  Keys told;
  parts.delivery.set_sink({}, into(told));
  Keys keys(1000);
  std::iota(keys.begin(), keys.end(), 0U);
  for (auto& key : keys) parts.append(key = key * 7919 % 1009);
  drum::Delivery::Absent absent;
  for (const auto& outcome : parts.merge_all()) must(parts.delivery.tell(outcome, absent));
  EXPECT_EQ(told, keys);
  EXPECT_TRUE(absent.empty());
}

TEST(Delivery, KeepsAnswersForConsumersThatAreAbsent) {
  DrumParts parts({}, 1);
  const ConsumerId id = must(parts.delivery.consumer("later"));
  EXPECT_EQ(must(parts.delivery.consumer("later")), id);
  parts.append(3, DrumOperation::kCheck, id);
  drum::Delivery::Absent absent;
  for (const auto& outcome : parts.merge_all()) must(parts.delivery.tell(outcome, absent));
  must(parts.delivery.keep(absent));
  Keys told;
  EXPECT_EQ(must(parts.delivery.take_results(id, into(told))), 1U);
  EXPECT_EQ(told, Keys{3});
  EXPECT_EQ(must(parts.delivery.take_results(id, into(told))), 0U) << "they are taken once";
}

TEST(Delivery, KeepsResultsWhoseSinkThrows) {
  DrumParts parts({}, 1);
  const ConsumerId id = must(parts.delivery.consumer("later"));
  parts.append(3, DrumOperation::kCheck, id);
  drum::Delivery::Absent absent;
  for (const auto& outcome : parts.merge_all()) must(parts.delivery.tell(outcome, absent));
  must(parts.delivery.keep(absent));
  const auto taken = parts.delivery.take_results(
      id, [](std::span<const RawAnswer>) { throw std::runtime_error("no"); });
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Errc::kDispatcherFailed);
  EXPECT_EQ(parts.store->transacting.load(), 0U);
  Keys told;
  EXPECT_EQ(must(parts.delivery.take_results(id, into(told))), 1U);
}

TEST(Delivery, ForgetsAnswersToInserts) {
  DrumParts parts({}, 1);
  const ConsumerId nobody = must(parts.delivery.make_nobody());
  parts.append(3, DrumOperation::kUpdate, nobody);
  parts.append(3, DrumOperation::kUpdate);
  Keys told;
  parts.delivery.set_sink({}, into(told));
  drum::Delivery::Absent absent;
  for (const auto& outcome : parts.merge_all()) must(parts.delivery.tell(outcome, absent));
  EXPECT_EQ(told, Keys{3});
  EXPECT_TRUE(absent.empty());
}

TEST(Delivery, RefusesAConsumerThatTheDrumLacks) {
  DrumParts parts({}, 1);
  parts.append(3, DrumOperation::kUpdate, {7});
  drum::Delivery::Absent absent;
  for (const auto& outcome : parts.merge_all()) {
    EXPECT_EQ(code_of(parts.delivery.tell(outcome, absent)), Errc::kSegmentInvalid);
  }
}

TEST(Merger, StoresWhatItHasTold) {
  DrumParts parts;
  Keys told;
  parts.delivery.set_sink({}, into(told));
  std::set<std::uint64_t> keys;
  SeededRandom random;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t key = random.below(2000) << 52;
      keys.insert(key);
      parts.append(key);
    }
    const auto report = must(parts.merger.merge(drum::MergeCall::kAll, nullptr));
    EXPECT_EQ(report.request_count, 1000U);
    EXPECT_EQ(parts.stored_keys(), keys);
  }
  EXPECT_EQ(told.size(), 5000U);
  EXPECT_FALSE(parts.inbox.fills(1)) << "nothing is left in memory";
}

TEST(Merger, CutsABucketWithTooManyKeys) {
  DrumOptions options;
  options.partition_keys_max = 100;
  DrumParts parts(options, 1);
  for (std::uint64_t i = 0; i < 1000; ++i) parts.append(i << 54);
  const auto report = must(parts.merger.merge(drum::MergeCall::kAll, nullptr));
  EXPECT_EQ(report.split_count, parts.drum.state.buckets.size() - 1);
  EXPECT_GE(parts.drum.state.buckets.size(), 10U);
  EXPECT_EQ(parts.stored_keys().size(), 1000U);
}

TEST(Merger, LeavesNoTraceWhenASinkThrows) {
  DrumParts parts;
  for (std::uint64_t key = 0; key < 100; ++key) parts.append(key);
  parts.delivery.set_sink({},
                          [](std::span<const RawAnswer>) { throw std::runtime_error("not yet"); });
  const auto failed = parts.merger.merge(drum::MergeCall::kAll, nullptr);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kDispatcherFailed);
  EXPECT_TRUE(parts.stored_keys().empty());
  EXPECT_TRUE(parts.inbox.find({99, 0}, false)) << "they wait, sealed";
  Keys told;
  parts.delivery.set_sink({}, into(told));
  must(parts.merger.merge(drum::MergeCall::kAll, nullptr));
  EXPECT_EQ(told.size(), 100U);
  EXPECT_EQ(parts.stored_keys().size(), 100U);
}

TEST(Merger, RelievesTheMemory) {
  DrumOptions options;
  options.memory_bytes = 64 << 10;
  DrumParts parts(options, 16);
  std::uint64_t count = 0;
  SeededRandom random;
  while (!parts.logs.wants_relief()) {
    parts.append(random.next());
    ++count;
  }
  must(parts.merger.relieve());
  EXPECT_FALSE(parts.logs.wants_relief());
  must(parts.merger.merge(drum::MergeCall::kAll, nullptr));
  EXPECT_EQ(parts.stored_keys().size(), count);
}

TEST(Merger, GivesUpWhatIsUnderWay) {
  DrumOptions options;
  options.memory_bytes = 64 << 10;
  DrumParts parts(options, 16);
  SeededRandom random;
  std::uint64_t count = 0;
  for (; !parts.logs.wants_relief(); ++count) parts.append(random.next());
  must(parts.merger.relieve());  // a flight may be under way
  parts.merger.cancel();
  for (const auto& bucket : parts.drum.state.buckets) EXPECT_FALSE(bucket.is_planned);
  must(parts.merger.merge(drum::MergeCall::kAll, nullptr));
  EXPECT_EQ(parts.stored_keys().size(), count);
}

}  // namespace
}  // namespace crawlstore::testing
