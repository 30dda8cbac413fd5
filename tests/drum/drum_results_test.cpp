// SPDX-License-Identifier: Apache-2.0
//
// Consumers, and the verdicts that wait for them in the file.

#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using TextDrum = Drum<std::uint64_t, std::string, std::string>;

TEST(DrumResults, WaitsInTheFileOverReopening) {
  MemoryStore store;
  {
    auto drum = must(TextDrum::open(*store, "texts"));
    must(drum.update(1, "stored", "a"));
    must(drum.check(1, "b"));
    must(drum.check(2, "c"));
    must(drum.merge());
  }
  store.reopen();
  auto drum = must(TextDrum::open(*store, "texts"));
  CallLog log;
  EXPECT_EQ(must(drum.take_results(log)), 3U);
  EXPECT_EQ(log.calls,
            (Calls{"update 1 stored a", "duplicate check 1 stored b", "unique check 2 c"}));
}

TEST(DrumResults, AreThereAfterACrashBehindTheMerge) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  must(drum.check_update(1, "v", "a"));
  must(drum.merge());
  MemoryStore survivor(store.image());
  auto again = must(TextDrum::open(*survivor, "texts"));
  CallLog log;
  must(again.take_results(log));
  EXPECT_EQ(log.calls, Calls{"unique update 1 v a"});
}

TEST(DrumResults, AreTakenInOneCommit) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  auto queue = must(TextDrum::open(*store, "queue"));
  must(drum.check_update(1, "v", "a"));
  must(drum.merge());
  const auto before = store->generation();
  CallLog log;
  log.then = [&](const std::string&) { must(queue.update(5, "from the taker")); };
  must(drum.take_results(log));
  EXPECT_EQ(store->generation(), before.next());
  EXPECT_EQ(drum_info(*store, "texts").result_count, 0U);
  EXPECT_EQ(drum_info(*store, "queue").pending_count, 1U);
  EXPECT_EQ(must(drum.take_results(log)), 0U);
}

TEST(DrumResults, StayWhenTheTakerThrows) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  auto queue = must(TextDrum::open(*store, "queue"));
  must(drum.check_update(1, "v", "a"));
  must(drum.check_update(2, "v", "b"));
  must(drum.merge());
  CallLog log;
  log.then = [&](const std::string&) {
    must(queue.update(5));
    if (log.calls.size() == 2) throw std::runtime_error("no");
  };
  EXPECT_EQ(code_of(drum.take_results(log)), Errc::kDispatcherFailed);
  EXPECT_EQ(drum_info(*store, "texts").result_count, 2U);
  EXPECT_EQ(queue.status().pending_count, 0U);
  const auto calls = std::exchange(log.calls, {});
  log.then = {};
  EXPECT_EQ(must(drum.take_results(log)), 2U);
  EXPECT_EQ(log.calls, calls);
}

TEST(DrumResults, GoesToTheConsumerThatAsked) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  const auto fetcher = must(drum.consumer("fetcher"));
  const auto auditor = must(drum.consumer("auditor"));
  CallLog fetched;
  drum.attach(fetched, fetcher);
  must(drum.check_update(1, "v", "f", fetcher));
  must(drum.check_update(1, "w", "a", auditor));
  must(drum.check(1, "f again", fetcher));
  must(drum.merge());
  EXPECT_EQ(fetched.calls, (Calls{"unique update 1 v f", "duplicate check 1 w f again"}));
  CallLog audited;
  EXPECT_EQ(must(drum.take_results(audited, auditor)), 1U);
  EXPECT_EQ(audited.calls, Calls{"duplicate update 1 w a"});
}

TEST(DrumResults, KeepTheirSequences) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  CallLog thrower;
  thrower.then = [](const std::string&) { throw std::runtime_error("no"); };
  must(drum.check(1));
  EXPECT_FALSE(drum.merge(thrower));
  must(drum.merge());
  CallLog log;
  must(drum.take_results(log));
  EXPECT_EQ(log.sequences, thrower.sequences);
}

TEST(DrumResults, KeepTheIdOfAConsumer) {
  MemoryStore store;
  ConsumerId id;
  {
    auto drum = must(TextDrum::open(*store, "texts"));
    id = must(drum.consumer("fetcher"));
    EXPECT_NE(id, ConsumerId{});
    EXPECT_NE(must(drum.consumer("other")), id);
    EXPECT_EQ(must(drum.consumer("fetcher")), id);
  }
  store.reopen();
  auto drum = must(TextDrum::open(*store, "texts"));
  EXPECT_EQ(must(drum.consumer("fetcher")), id);
}

TEST(DrumResults, RefusesUnknownConsumers) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  CallLog log;
  EXPECT_EQ(code_of(drum.check(1, "", {5})), Errc::kUnknownName);
  EXPECT_EQ(code_of(drum.take_results(log, {5})), Errc::kUnknownName);
  EXPECT_EQ(drum.status().pending_count, 0U);
}

TEST(DrumResults, LetsTheTakerNameConsumers) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  must(drum.check(1));
  must(drum.merge());
  CallLog log;
  log.then = [&](const std::string&) {
    for (int i = 0; i < 50; ++i) must(drum.consumer("consumer " + std::to_string(i)));
  };
  EXPECT_EQ(must(drum.take_results(log)), 1U);
  EXPECT_EQ(must(drum.take_results(log)), 0U);
  EXPECT_EQ(drum_info(*store, "texts").result_count, 0U);
}

TEST(DrumResults, OutlastsHundredsOfMerges) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  constexpr std::uint64_t kMerges = 700;
  for (std::uint64_t i = 0; i < kMerges; ++i) {
    must(drum.check_update(i % 50, "v", std::to_string(i)));
    must(drum.merge());
  }
  store.reopen();
  auto again = must(TextDrum::open(*store, "texts"));
  CallLog log;
  EXPECT_EQ(must(again.take_results(log)), kMerges);
  ASSERT_EQ(log.calls.size(), kMerges);
  EXPECT_EQ(log.calls[49], "unique update 49 v 49");
  EXPECT_EQ(log.calls[699], "duplicate update 49 v 699");
  EXPECT_TRUE(std::is_sorted(log.sequences.begin(), log.sequences.end()));
}

TEST(DrumResults, CarriesLargeValuesAndAuxiliaries) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  const std::string value(300000, 'v');
  const std::string aux(2 << 20, 'a');
  must(drum.update(1, value, aux));
  must(drum.check(1, aux));
  must(drum.merge());
  CallLog log;
  must(drum.take_results(log));
  EXPECT_EQ(log.calls,
            (Calls{"update 1 " + value + ' ' + aux, "duplicate check 1 " + value + ' ' + aux}));
}

}  // namespace
}  // namespace crawlstore::testing
