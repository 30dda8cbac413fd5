// SPDX-License-Identifier: Apache-2.0
//
// Rows D1 to D22 of spec/features.md, one claim a test.
#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using TextDrum = Drum<std::uint64_t, std::string, std::string>;

DrumOptions one_bucket() {
  DrumOptions options;
  options.bucket_count = 1;
  return options;
}

/// A DRUM of texts and what it has said.
struct World {
  explicit World(const DrumOptions& options = {})
      : drum(must(TextDrum::open(*store, "texts", options))) {
    drum.attach(log);
  }
  Calls merge() {
    log.calls.clear();
    must(drum.merge());
    return log.calls;
  }
  std::map<std::uint64_t, std::string> content() {
    std::map<std::uint64_t, std::string> found;
    must(drum_view(*store, "texts").for_each_key([&](Key16 key, auto value) {
      found[key.head] = StringBytes<std::string>::load(value);
      return true;
    }));
    return found;
  }

  MemoryStore store;
  CallLog log;
  TextDrum drum;
};

using Content = std::map<std::uint64_t, std::string>;

// covers: D1
TEST(Drum, AnswersCheckWithUniqueOrTheStoredValue) {
  World world;
  must(world.drum.update(7, "stored"));
  world.merge();
  must(world.drum.check(7, "a"));
  must(world.drum.check(8, "b"));
  EXPECT_EQ(world.merge(), (Calls{"duplicate check 7 stored a", "unique check 8 b"}));
}

// covers: D1
TEST(Drum, LeavesTheStoreAsItIsAfterChecks) {
  World world;
  must(world.drum.update(7, "stored"));
  must(world.drum.check(7));
  must(world.drum.check(8));
  world.merge();
  EXPECT_EQ(world.content(), (Content{{7, "stored"}}));
}

// covers: D2
TEST(Drum, InsertsAndOverwritesWithUpdate) {
  World world;
  must(world.drum.update(7, "old", "first"));
  EXPECT_EQ(world.merge(), Calls{"update 7 old first"});
  must(world.drum.update(7, "new", "second"));
  EXPECT_EQ(world.merge(), Calls{"update 7 new second"});
  EXPECT_EQ(world.content(), (Content{{7, "new"}}));
}

// covers: D3
TEST(Drum, TellsTheNewValueOfCheckUpdate) {
  World world;
  must(world.drum.check_update(7, "old", "a"));
  EXPECT_EQ(world.merge(), Calls{"unique update 7 old a"});
  must(world.drum.check_update(7, "new", "b"));
  EXPECT_EQ(world.merge(), Calls{"duplicate update 7 new b"});
  EXPECT_EQ(world.content(), (Content{{7, "new"}}));
}

// covers: D4
TEST(Drum, ReturnsAuxiliariesByteForByte) {
  World world(one_bucket());
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes.push_back(static_cast<char>(byte));
  must(world.drum.check(1, all_bytes));
  must(world.drum.check(1, std::string(3, '\0')));
  must(world.drum.check(1));
  EXPECT_EQ(world.merge(), (Calls{"unique check 1 " + all_bytes,
                                  "unique check 1 " + std::string(3, '\0'), "unique check 1"}));
}

// covers: D4
TEST(Drum, GivesADefaultAuxiliaryWhenNoneWasGiven) {
  MemoryStore store;
  auto drum = must(Drum<std::uint64_t, NoValue, std::uint32_t>::open(*store, "numbers"));
  CallLog log;
  must(drum.check(5));
  must(drum.check(5, 9));
  must(drum.merge(log));
  EXPECT_EQ(log.calls, (Calls{"unique check 5 0", "unique check 5 9"}));
}

// covers: D4
TEST(Drum, NeverStoresAuxiliaries) {
  World world(one_bucket());
  must(world.drum.update(1, "value", "needle in the auxiliary"));
  world.merge();
  must(world.drum.update(2, "value"));
  world.merge();
  for (const SegmentInfo& segment : must(world.store->snapshot()).segments()) {
    EXPECT_NE(segment.kind, SegmentKind::kDrumAuxLog);
  }
  EXPECT_EQ(world.content(), (Content{{1, "value"}, {2, "value"}}));
}

// covers: D5
TEST(Drum, CallsNobodyBeforeAMerge) {
  World world;
  for (std::uint64_t key = 0; key < 100; ++key) must(world.drum.check(key));
  must(world.store->commit());
  EXPECT_TRUE(world.log.calls.empty());
}

// covers: D7
TEST(Drum, TransfersAllArraysWhenAnyIsFull) {
  DrumOptions options;
  options.bucket_count = 2;
  options.array_elements = 4;
  World world(options);
  must(world.drum.check(~std::uint64_t{0}));
  for (std::uint64_t key = 0; key < 4; ++key) must(world.drum.check(key));
  EXPECT_LE(world.drum.status().transfer_count, 1U);
  must(world.drum.check(4));
  EXPECT_EQ(world.drum.status().transfer_count, 1U);
  for (std::uint64_t key = 5; key < 8; ++key) must(world.drum.check(key));
  EXPECT_EQ(world.drum.status().transfer_count, 1U) << "the other array was transferred as well";
  for (int again = 0; again < 4; ++again) must(world.drum.check(~std::uint64_t{0}));
  EXPECT_LE(world.drum.status().transfer_count, 2U);
}

// covers: D7
TEST(Drum, TransfersWhenAnAuxiliaryArrayIsFull) {
  DrumOptions options;
  options.array_elements = 1000;
  options.array_aux_bytes = 100;
  World world(options);
  for (std::uint64_t key = 0; key < 20; ++key) must(world.drum.check(key, std::string(30, 'a')));
  EXPECT_GE(world.drum.status().transfer_count, 5U);
  EXPECT_LE(world.drum.status().transfer_count, 7U);
}

// covers: D8
TEST(Drum, KeepsKeysAndAuxiliariesApartAndInOrder) {
  World world(one_bucket());
  for (const std::uint64_t key : {9UL, 3UL, 5UL})
    must(world.drum.check(key, std::to_string(key * 10)));
  must(world.store->commit());
  Calls pending;
  must(drum_view(*world.store, "texts").for_each_pending([&](auto, const auto& request, auto) {
    pending.push_back(std::to_string(request.key) + ' ' +
                      StringBytes<std::string>::load(request.aux));
    return true;
  }));
  EXPECT_EQ(pending, (Calls{"9 90", "3 30", "5 50"}));
  const auto view = drum_view(*world.store, "texts");
  EXPECT_TRUE(view.buckets()[0].key_log);
  EXPECT_TRUE(view.buckets()[0].aux_log);
  EXPECT_NE(view.buckets()[0].key_log, view.buckets()[0].aux_log);
}

// covers: D9
TEST(Drum, MergesAllBucketsWhenOneIsPastItsBytes) {
  DrumOptions options;
  options.bucket_count = 4;
  options.array_elements = 4;
  options.bucket_bytes = 400;
  World world(options);
  must(world.drum.check(~std::uint64_t{0}));
  for (std::uint64_t key = 0; key < 200 && world.log.calls.empty(); ++key) {
    must(world.drum.check(key));
  }
  ASSERT_FALSE(world.log.calls.empty()) << "no merge of its own";
  EXPECT_EQ(world.log.calls.front(), "unique check 0");
  EXPECT_EQ(world.log.calls.back(), "unique check 18446744073709551615");
}

// covers: D9
TEST(Drum, MergesWhenAuxiliariesArePastTheirBytes) {
  DrumOptions options = one_bucket();
  options.array_elements = 4;
  options.bucket_bytes = 4000;
  World world(options);
  for (int i = 0; i < 12; ++i) must(world.drum.check(1, std::string(1000, 'a')));
  EXPECT_FALSE(world.log.calls.empty());
}

TEST(Drum, MergesOnlyFullBucketsWhenToldSo) {
  DrumOptions options;
  options.bucket_count = 4;
  options.array_elements = 4;
  options.bucket_bytes = 400;
  options.merge_scope = MergeScope::kFull;
  World world(options);
  must(world.drum.check(~std::uint64_t{0}));
  for (std::uint64_t key = 0; key < 200 && world.log.calls.empty(); ++key) {
    must(world.drum.check(key));
  }
  ASSERT_FALSE(world.log.calls.empty());
  EXPECT_NE(world.log.calls.back(), "unique check 18446744073709551615");
  EXPECT_EQ(world.merge().back(), "unique check 18446744073709551615");
}

TEST(Drum, MergesOnlyWhenAskedWithoutAutoMerge) {
  DrumOptions options = one_bucket();
  options.array_elements = 4;
  options.bucket_bytes = 64;
  options.auto_merge = false;
  World world(options);
  for (std::uint64_t key = 0; key < 100; ++key) must(world.drum.check(key));
  EXPECT_TRUE(world.log.calls.empty());
  EXPECT_GT(must(world.drum.core().merge_if_full()).request_count, 90U);
  EXPECT_EQ(must(world.drum.core().merge_if_full()).request_count, 0U);
}

// covers: D10, D11
TEST(Drum, DispatchesInArrivalOrderInsideABucket) {
  World world(one_bucket());
  for (const std::uint64_t key : {9UL, 3UL, 7UL, 3UL, 1UL}) must(world.drum.check_update(key));
  EXPECT_EQ(world.merge(), (Calls{"unique update 9", "unique update 3", "unique update 7",
                                  "duplicate update 3", "unique update 1"}));
}

// covers: D11
TEST(Drum, DispatchesBucketsInAscendingOrder) {
  DrumOptions options;
  options.bucket_count = 3;
  World world(options);
  constexpr std::uint64_t kThird = 0x5555555555555556;
  for (const std::uint64_t key : {2 * kThird, kThird, std::uint64_t{1}, kThird - 1}) {
    must(world.drum.check(key));
  }
  EXPECT_EQ(world.merge(), (Calls{"unique check 1", "unique check " + std::to_string(kThird - 1),
                                  "unique check " + std::to_string(kThird),
                                  "unique check " + std::to_string(2 * kThird)}));
}

// covers: D12
TEST(Drum, AppliesOperationsOnOneKeyInArrivalOrder) {
  World world;
  must(world.drum.check(5));
  must(world.drum.check_update(5, "one"));
  must(world.drum.check(5));
  must(world.drum.update(5, "two"));
  must(world.drum.check(5));
  must(world.drum.check_update(5, "three"));
  EXPECT_EQ(world.merge(),
            (Calls{"unique check 5", "unique update 5 one", "duplicate check 5 one", "update 5 two",
                   "duplicate check 5 two", "duplicate update 5 three"}));
  EXPECT_EQ(world.content(), (Content{{5, "three"}}));
}

// covers: D12
TEST(Drum, NumbersRequestsAscendingAndOnce) {
  World world(one_bucket());
  for (std::uint64_t key = 0; key < 10; ++key) must(world.drum.check(key % 3));
  world.merge();
  for (std::uint64_t key = 0; key < 10; ++key) must(world.drum.check(key % 3));
  world.merge();
  ASSERT_EQ(world.log.sequences.size(), 20U);
  EXPECT_TRUE(
      std::is_sorted(world.log.sequences.begin(), world.log.sequences.end(), std::less_equal<>()));
}

// covers: D13
TEST(Drum, IteratesInBucketThenKeyOrder) {
  DrumOptions options;
  options.bucket_count = 8;
  options.partition_keys_max = 10;
  World world(options);
  for (std::uint64_t i = 0; i < 300; ++i) must(world.drum.update(i * 0x9E3779B97F4A7C15, "v"));
  world.merge();
  std::vector<std::uint64_t> keys;
  must(drum_view(*world.store, "texts").for_each_key([&](Key16 key, auto) {
    keys.push_back(key.head);
    return true;
  }));
  EXPECT_EQ(keys.size(), 300U);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end(), std::less_equal<>()));
  EXPECT_GT(world.drum.status().bucket_count, 30U) << "partitions over their size split";
}

// covers: D17
TEST(Drum, TellsAnEmptyValueFromNoValue) {
  World world;
  must(world.drum.update(1, ""));
  world.merge();
  EXPECT_EQ(must(world.drum.lookup(1)), std::optional<std::string>(""));
  EXPECT_EQ(must(world.drum.lookup(2)), std::nullopt);
  must(world.drum.check(1));
  must(world.drum.check(2));
  EXPECT_EQ(world.merge(), (Calls{"duplicate check 1", "unique check 2"}));
}

// covers: D18
TEST(Drum, CallsOnlyTheMembersThatADispatcherHas) {
  struct OnlyUnique {
    int calls = 0;
    void unique_key_update(const TextDrum::AnswerType&) { ++calls; }
  };
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  for (int i = 0; i < 3; ++i) must(drum.check_update(1));
  must(drum.update(1));
  must(drum.check(1));
  must(drum.check(2));
  OnlyUnique dispatcher;
  EXPECT_EQ(must(drum.merge(dispatcher)).request_count, 6U);
  EXPECT_EQ(dispatcher.calls, 1);
}

// covers: D18
TEST(Drum, AcceptsADispatcherWithoutMembers) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  must(drum.check_update(1));
  NullDispatcher nobody;
  must(drum.merge(nobody));
  EXPECT_EQ(drum_info(*store, "texts").result_count, 0U) << "it took the answers";
}

// covers: D19
TEST(Drum, OpensByNameWithOrWithoutADispatcher) {
  MemoryStore store;
  auto plain = must(Drum<std::uint64_t>::open(*store, "plain"));
  auto tuned = must(Drum<std::uint64_t>::open(*store, "tuned", one_bucket()));
  CallLog log;
  tuned.attach(log);
  must(plain.check(1));
  must(tuned.check(2));
  must(plain.merge());
  must(tuned.merge());
  EXPECT_EQ(log.calls, Calls{"unique check 2"});
}

// covers: D20
TEST(Drum, DispatchesEverythingPendingAtMerge) {
  DrumOptions options;
  options.array_elements = 3;
  options.auto_merge = false;
  World world(options);
  for (std::uint64_t i = 0; i < 1000; ++i) must(world.drum.check(i * 0x9E3779B97F4A7C15));
  EXPECT_EQ(world.merge().size(), 1000U);
  EXPECT_EQ(world.drum.status().pending_count, 0U);
}

// covers: D20
TEST(Drum, DoesNothingAtASecondMerge) {
  World world;
  must(world.drum.check_update(1));
  world.merge();
  const auto generation = world.store->generation();
  const auto before = world.store.image();
  const MergeReport report = must(world.drum.merge());
  EXPECT_EQ(report.request_count, 0U);
  EXPECT_EQ(report.commit_count, 0U);
  EXPECT_EQ(world.store->generation(), generation);
  EXPECT_EQ(world.store.image(), before);
}

// covers: D21
TEST(Drum, RefusesUseAfterClose) {
  World world;
  must(world.drum.check(1));
  must(world.drum.close());
  EXPECT_EQ(code_of(world.drum.check(2)), Errc::kClosed);
  EXPECT_EQ(code_of(world.drum.merge()), Errc::kClosed);
  EXPECT_EQ(code_of(world.drum.lookup(1)), Errc::kClosed);
  EXPECT_EQ(code_of(world.drum.consumer("x")), Errc::kClosed);
  EXPECT_EQ(code_of(world.drum.tune({})), Errc::kClosed);
  EXPECT_TRUE(world.drum.close()) << "again: no effect";
}

// covers: D21
TEST(Drum, RefusesUseAfterTheStoreWasClosed) {
  World world;
  must(world.drum.check(1));
  must(world.store->close());
  EXPECT_EQ(code_of(world.drum.check(2)), Errc::kClosed);
  EXPECT_EQ(code_of(world.drum.merge()), Errc::kClosed);
  EXPECT_EQ(code_of(world.drum.lookup(1)), Errc::kClosed);
  EXPECT_EQ(code_of(world.drum.take_results(world.log)), Errc::kClosed);
  EXPECT_EQ(world.drum.status().key_count, 0U);
}

// covers: D21
TEST(Drum, KeepsWhatIsPendingWhenItIsForgotten) {
  MemoryStore store;
  {
    auto forgotten = must(Drum<std::uint64_t>::open(*store, "urls"));
    must(forgotten.check_update(5));
  }
  EXPECT_EQ(drum_info(*store, "urls").pending_count, 1U);
}

// covers: D22
TEST(Drum, DescribesItsErrors) {
  World world;
  must(world.drum.close());
  const auto result = world.drum.check(1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::kClosed);
  EXPECT_NE(describe(result.error()).find("closed"), std::string::npos);
}

// covers: D24
TEST(Drum, KeepsSeveralDrumsOfOneStoreApart) {
  MemoryStore store;
  auto seen = must(Drum<std::uint64_t>::open(*store, "seen"));
  auto robots = must(TextDrum::open(*store, "robots"));
  must(seen.check_update(1));
  must(robots.update(2, "Disallow: /"));
  must(seen.merge());
  must(robots.merge());
  EXPECT_TRUE(must(seen.lookup(1)));
  EXPECT_FALSE(must(seen.lookup(2)));
  EXPECT_FALSE(must(robots.lookup(1)));
  EXPECT_EQ(must(robots.lookup(2)), std::optional<std::string>("Disallow: /"));
}

TEST(Drum, SharesADrumThatIsOpenedTwice) {
  World world;
  auto other = must(TextDrum::open(*world.store, "texts"));
  must(other.check(1, "from the other"));
  EXPECT_EQ(world.merge(), Calls{"unique check 1 from the other"});
  EXPECT_EQ(&other.core(), &world.drum.core());
}

TEST(Drum, RefusesAnotherValueSize) {
  World world;
  using Numbers = Drum<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(code_of(Numbers::open(*world.store, "texts")), Errc::kTypeMismatch);
  must(world.drum.close());
  EXPECT_EQ(code_of(Numbers::open(*world.store, "texts")), Errc::kTypeMismatch);
  EXPECT_EQ(code_of(Drum<std::uint64_t>::open(*world.store, "texts")), Errc::kTypeMismatch);
  EXPECT_TRUE(TextDrum::open(*world.store, "texts"));
}

// covers: D25
TEST(Drum, TakesNewSettingsWhileItRuns) {
  World world(one_bucket());
  DrumOptions options = one_bucket();
  options.array_elements = 2;
  must(world.drum.tune(options));
  for (std::uint64_t key = 0; key < 10; ++key) must(world.drum.check(key));
  EXPECT_GE(world.drum.status().transfer_count, 4U);
}

// covers: D25
TEST(Drum, RefusesSettingsThatCannotBe) {
  MemoryStore store;
  DrumOptions options;
  options.expected_keys = ~std::uint64_t{0};
  EXPECT_EQ(code_of(TextDrum::open(*store, "x", options)), Errc::kInvalidArgument);
  options.bucket_count = 65537;
  EXPECT_EQ(code_of(TextDrum::open(*store, "x", options)), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(TextDrum::open(*store, std::string(256, 'n'))), Errc::kTooLarge);
  auto drum = must(TextDrum::open(*store, std::string(255, 'n')));
  EXPECT_EQ(code_of(drum.tune(options)), Errc::kInvalidArgument);
}

// covers: D26
TEST(Drum, AppendsIntoSpaceThatIsThereAlready) {
  DrumOptions options = one_bucket();
  options.array_elements = 64;
  options.auto_merge = false;
  World world(options);
  const auto round = [&] {
    for (std::uint64_t key = 0; key < 2000; ++key) must(world.drum.check_update(key, "v", "aux"));
    must(world.drum.merge());
  };
  for (int warm_up = 0; warm_up < 3; ++warm_up) round();
  const auto before = world.store->file_bytes();
  for (int again = 0; again < 5; ++again) round();
  EXPECT_EQ(world.store->file_bytes(), before) << "space of merged buckets is used again";
}

}  // namespace
}  // namespace crawlstore::testing
