// SPDX-License-Identifier: Apache-2.0
//
// Sizes, counts and keys at their ends.

#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/drum_view.h>
#include <crawlstore/tools/verify.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"
#include "format/request_run.h"
#include "golden/patch.h"
#include "support/bytes.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t>;
using TextDrum = Drum<std::uint64_t, std::string, std::string>;

template <std::size_t kSize>
struct Block {
  std::array<unsigned char, kSize> bytes{};
  friend bool operator==(const Block&, const Block&) = default;
};

template <std::size_t kSize>
void expect_fixed_values_return() {
  MemoryStore store;
  using Blocks = Drum<std::uint64_t, Block<kSize>>;
  Random random(kSize);
  std::map<std::uint64_t, Block<kSize>> expected;
  {
    auto drum = must(Blocks::open(*store, "blocks"));
    for (int i = 0; i < 2000; ++i) {
      Block<kSize>& block = expected[random.next()];
      for (auto& byte : block.bytes) byte = static_cast<unsigned char>(random.next());
    }
    for (const auto& [key, block] : expected) must(drum.update(key, block));
    must(drum.merge());
  }
  store.reopen();
  auto drum = must(Blocks::open(*store, "blocks"));
  for (const auto& [key, block] : expected) ASSERT_EQ(must(drum.lookup(key)), block);
}

TEST(DrumLimits, ReturnsValuesOfOneByte) {
  expect_fixed_values_return<1>();
}
TEST(DrumLimits, ReturnsEightByteValues) {
  expect_fixed_values_return<8>();
}
TEST(DrumLimits, ReturnsValuesOf255Bytes) {
  expect_fixed_values_return<255>();
}

TEST(DrumLimits, ReturnsVariableValuesUpToAMegabyte) {
  MemoryStore store;
  std::map<std::uint64_t, std::string> expected;
  auto drum = must(TextDrum::open(*store, "texts"));
  for (const std::size_t size : {0UL, 1UL, 255UL, 4096UL, 65535UL, 65536UL, 65537UL, 1UL << 20U}) {
    expected[size * 0x9E3779B97F4A7C15] = std::string(size, 'v') + std::string(size % 2, '\0');
  }
  for (const auto& [key, value] : expected) must(drum.update(key, value));
  must(drum.merge());
  must(drum.update(1, "another, so that all are copied"));
  must(drum.merge());
  for (const auto& [key, value] : expected) ASSERT_EQ(must(drum.lookup(key)), value);
}

TEST(DrumLimits, ReturnsAuxiliariesUpToTwoMegabytes) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  Calls expected;
  for (const std::size_t size : {0UL, 1UL, 4095UL, 65537UL, 1UL << 20U, 2UL << 20U, 0UL, 3UL}) {
    std::string aux(size, 'a');
    if (size > 2) aux[size / 2] = '\0';
    must(drum.check(5, aux));
    expected.push_back("unique check 5" + (aux.empty() ? "" : ' ' + aux));
  }
  CallLog log;
  must(drum.merge(log));
  EXPECT_EQ(log.calls, expected);
}

TEST(DrumLimits, RefusesAuxiliariesOver64Mebibytes) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  const std::string large((std::size_t{64} << 20) + 1, 'a');
  EXPECT_EQ(code_of(drum.check(1, large)), Errc::kTooLarge);
  EXPECT_EQ(drum.status().pending_count, 0U);
  EXPECT_TRUE(drum.check(1, "small"));
}

TEST(DrumLimits, TakesAnAuxiliaryOf64Mebibytes) {
  MemoryStore store(std::uint64_t{1} << 30);
  auto drum = must(TextDrum::open(*store, "texts"));
  const std::string large(std::size_t{64} << 20, 'a');
  struct Sizes {
    std::size_t size = 0;
    void unique_key_check(const TextDrum::AnswerType& answer) { size = answer.aux.size(); }
  } sizes;
  drum.attach(sizes);
  must(drum.check(1, large));
  must(drum.merge());
  EXPECT_EQ(sizes.size, large.size());
}

TEST(DrumLimits, RefusesValuesOver16Mebibytes) {
  MemoryStore store;
  auto drum = must(TextDrum::open(*store, "texts"));
  EXPECT_EQ(code_of(drum.update(1, std::string((std::size_t{16} << 20) + 1, 'v'))),
            Errc::kTooLarge);
  EXPECT_EQ(drum.status().pending_count, 0U);
}

TEST(DrumLimits, RefusesValuesOfAnotherSize) {
  MemoryStore store;
  auto core = must(DrumCore::open(*store, "raw", 8, {}));
  const auto seven = filled(7, 1);
  EXPECT_EQ(code_of(core->submit({DrumOperation::kUpdate, {}, 1, seven, {}})),
            Errc::kInvalidArgument);
  EXPECT_EQ(core->status().pending_count, 0U);
}

TEST(DrumLimits, TakesTheFirstAndTheLastKey) {
  for (const std::uint32_t buckets : {1U, 3U, 65536U}) {
    MemoryStore store;
    DrumOptions options;
    options.bucket_count = buckets;
    auto drum = must(Keys::open(*store, "keys", options));
    CallLog log;
    drum.attach(log);
    for (int twice = 0; twice < 2; ++twice) {
      must(drum.check_update(~std::uint64_t{0}));
      must(drum.check_update(0));
      must(drum.merge());
    }
    std::sort(log.calls.begin(), log.calls.end());
    EXPECT_EQ(log.calls, (Calls{"duplicate update 0", "duplicate update 18446744073709551615",
                                "unique update 0", "unique update 18446744073709551615"}));
  }
}

TEST(DrumLimits, WorksWith65536Buckets) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 65536;
  {
    auto drum = must(Keys::open(*store, "keys", options));
    for (std::uint64_t i = 0; i < 300; ++i) must(drum.check_update(i << 55));
    EXPECT_EQ(must(drum.merge()).unique_count, 300U);
  }
  store.reopen();
  auto drum = must(Keys::open(*store, "keys", options));
  EXPECT_EQ(drum.status().bucket_count, 65536U);
  EXPECT_EQ(drum.status().key_count, 300U);
  EXPECT_TRUE(must(drum.lookup(std::uint64_t{299} << 55)));
}

TEST(DrumLimits, StopsSplittingAt65536Buckets) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 65530;
  options.partition_keys_max = 2;
  {
    auto drum = must(Keys::open(*store, "keys", options));
    for (std::uint64_t key = 0; key < 40; ++key) must(drum.check_update(key));
    must(drum.merge());
    EXPECT_LE(drum.status().bucket_count, 65536U);
  }
  store.reopen();
  auto drum = must(Keys::open(*store, "keys", options));
  EXPECT_EQ(drum.status().key_count, 40U);
  EXPECT_TRUE(must(drum.lookup(39)));
}

TEST(DrumLimits, AnswersOneKeyAMillionTimes) {
  MemoryStore store;
  DrumOptions options;
  options.memory_bytes = 1 << 20;
  auto drum = must(Keys::open(*store, "keys", options));
  struct Counts {
    std::uint64_t unique = 0;
    std::uint64_t duplicates = 0;
    void unique_key_update(const Keys::AnswerType&) { ++unique; }
    void duplicate_key_update(const Keys::AnswerType&) { ++duplicates; }
  } counts;
  drum.attach(counts);
  const std::vector<std::uint64_t> same(1000, 12345);
  for (int i = 0; i < 1000; ++i) must(drum.check_update(same));
  must(drum.merge());
  EXPECT_EQ(counts.unique, 1U);
  EXPECT_EQ(counts.duplicates, 999999U);
  EXPECT_EQ(drum.status().key_count, 1U);
}

TEST(DrumLimits, LogsAnArrayBeforeItsRepeatsAreMoreThanARunHolds) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 1;
  options.auto_merge = false;
  auto drum = must(Keys::open(*store, "keys", options));
  const std::vector<std::uint64_t> same(1 << 16, 12345);
  const std::uint64_t calls = (format::kRequestsPerRunMax >> 16) + 1;
  for (std::uint64_t i = 0; i < calls; ++i) must(drum.check_update(same));
  EXPECT_EQ(drum.status().transfer_count, 1U);
  EXPECT_EQ(drum.status().repeat_count, calls * same.size() - 2) << "a key an array";
  must(store->commit());
  const DrumInfo info = drum_info(*store, "keys");
  EXPECT_EQ(info.pending_count, calls * same.size());
  EXPECT_EQ(drum.status().transfer_count, 2U);
}

TEST(DrumLimits, AnswersSortedKeysThatLieInOneBucket) {
  MemoryStore store;
  DrumOptions options;
  options.memory_bytes = 1 << 18;
  options.partition_keys_max = 10000;
  auto drum = must(Keys::open(*store, "keys", options));
  struct Counts {
    std::uint64_t next = 0;
    bool is_sorted = true;
    void unique_key_update(const Keys::AnswerType& answer) {
      is_sorted = is_sorted && answer.key == next;
      ++next;
    }
  } counts;
  drum.attach(counts);
  std::vector<std::uint64_t> keys(100000);
  std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  must(drum.check_update(keys));
  must(drum.merge());
  EXPECT_EQ(counts.next, 100000U);
  EXPECT_TRUE(counts.is_sorted);
  EXPECT_GE(drum.status().bucket_count, 25U) << "a skewed partition splits";
}

TEST(DrumLimits, AnswersKeysInBulkLikeOneByOne) {
  MemoryStore store;
  DrumOptions options;
  options.array_elements = 7;
  auto bulk = must(Keys::open(*store, "bulk", options));
  auto single = must(Keys::open(*store, "single", options));
  std::vector<std::uint64_t> keys;
  Random random(3);
  for (int i = 0; i < 500; ++i) keys.push_back(random.below(90) << 57);
  must(bulk.check_update(keys));
  for (const auto key : keys) must(single.check_update(key));
  CallLog bulk_log;
  CallLog single_log;
  must(bulk.merge(bulk_log));
  must(single.merge(single_log));
  EXPECT_EQ(bulk_log.calls, single_log.calls);
}

TEST(DrumLimits, DoesNothingWhenNothingWasSubmitted) {
  MemoryStore store;
  auto drum = must(Keys::open(*store, "keys"));
  must(store->commit());
  const auto before = store.image();
  EXPECT_EQ(must(drum.merge()).request_count, 0U);
  must(drum.check_update(std::span<const std::uint64_t>{}));
  EXPECT_EQ(must(drum.merge()).bucket_count, 0U);
  EXPECT_EQ(store.image(), before);
}

/// Memory of the arrays after so many requests, at its highest.
template <class Submit>
std::uint64_t memory_peak(Drum<std::uint64_t, std::string, std::string>& drum, Submit submit) {
  std::uint64_t peak = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    submit(i);
    peak = std::max(peak, drum.status().memory_bytes);
  }
  return peak;
}

TEST(DrumLimits, BoundsMemoryOfVariableValues) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 4;
  options.memory_bytes = 1 << 20;
  auto drum = must(TextDrum::open(*store, "texts", options));
  const std::string value(60000, 'v');
  EXPECT_LE(memory_peak(drum, [&](std::uint64_t i) { must(drum.update(i << 56, value)); }),
            std::uint64_t{4} << 20);
}

TEST(DrumLimits, BoundsMemoryOfAuxiliariesWhenOnlyElementsAreGiven) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 4;
  options.memory_bytes = 1 << 20;
  options.array_elements = 1000;
  auto drum = must(TextDrum::open(*store, "texts", options));
  const std::string aux(60000, 'a');
  EXPECT_LE(memory_peak(drum, [&](std::uint64_t i) { must(drum.check(i << 56, aux)); }),
            std::uint64_t{4} << 20);
}

TEST(DrumLimits, BoundsMemoryOfKeysWhenOnlyAuxiliaryBytesAreGiven) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 1;
  options.memory_bytes = 1 << 16;
  options.array_aux_bytes = 1 << 16;
  auto drum = must(Keys::open(*store, "keys", options));
  for (std::uint64_t i = 0; i < 100000; ++i) must(drum.check_update(i));
  EXPECT_LE(drum.status().memory_bytes, std::uint64_t{1} << 18);
}

/// The file opens again and is whole.
void expect_reopens(const MemoryFile& file) {
  MemoryStore store(contents(file));
  const auto storage = open_memory_storage(store.file(), OpenMode::kRead);
  EXPECT_TRUE(must(verify(*storage, {VerifyLevel::kDeep, {}})).findings.empty());
}

DrumOptions one_bucket(std::uint64_t array_elements) {
  DrumOptions options;
  options.bucket_count = 1;
  options.array_elements = array_elements;
  options.auto_merge = false;
  return options;
}

/// A transfer finds room and the join behind it does not: requests are taken until the log is full.
TEST(DrumLimits, NeverPublishesMoreRunsThanALogHolds) {
  const auto file = make_empty_store_file(2 << 20);
  std::uint64_t taken = 0;
  {
    auto store = must(Store::open(open_memory_storage(file, OpenMode::kWrite)));
    auto drum = must(Keys::open(store, "keys", one_bucket(512)));
    std::uint64_t refused = 0;
    for (std::uint64_t i = 0; i < std::uint64_t{300} * 512 && refused < 3; ++i) {
      const auto done = drum.check_update(i * 0x9E3779B97F4A7C15);
      done ? ++taken : ++refused;
    }
    EXPECT_EQ(refused, 3U);
    (void)store.commit();
  }
  EXPECT_GT(taken, 100U * 512);
  expect_reopens(*file);
}

/// Runs of a dispatcher and of another thread take turns, so that none can be joined.
TEST(DrumLimits, RefusesARequestWhenALogHasAllItsRuns) {
  MemoryStore store;
  auto drum = must(Keys::open(*store, "keys", one_bucket(1)));
  std::uint64_t refused = 0;
  drum.core().attach({}, [&](std::span<const RawAnswer> answers) {
    if (answers.front().key != 0) return;
    for (std::uint64_t i = 0; i < 200; ++i) {
      const Result<void> inside = drum.check_update(1000 + i);
      Result<void> outside;
      std::thread([&] { outside = drum.check_update(5000 + i); }).join();
      for (const Result<void>& done : {inside, outside}) {
        if (done) continue;
        EXPECT_EQ(done.error().code, Errc::kTooLarge);
        ++refused;
      }
    }
  });
  must(drum.check_update(0));
  must(drum.merge());
  EXPECT_GT(refused, 50U);
  must(drum.merge());
  EXPECT_EQ(drum.status().key_count, 401 - refused);
  must(store->commit());
  expect_reopens(*store.file());
}

TEST(DrumLimits, SplitsAPartitionOfFixedValuesInThree) {
  MemoryStore store;
  DrumOptions options = one_bucket(0);
  options.partition_keys_max = 8192;
  auto drum = must(Drum<std::uint64_t, Block<64>>::open(*store, "blocks", options));
  for (std::uint64_t i = 0; i < 8300; ++i) must(drum.update(i * 0x9E3779B97F4A7C15, {}));
  EXPECT_EQ(must(drum.merge()).split_count, 2U);
  EXPECT_EQ(drum_info(*store, "blocks").key_count, 8300U);
  expect_reopens(*store.file());
}

TEST(DrumLimits, EndsABlockBeforeItsValuesAreTooMany) {
  MemoryStore store;
  {
    auto drum = must(TextDrum::open(*store, "texts", one_bucket(0)));
    for (std::uint64_t i = 0; i < 3; ++i) must(drum.update(i, std::string((9U << 20) + i, 'v')));
    must(drum.merge());
    for (std::uint64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(must(drum.lookup(i)).value().size(), (9U << 20) + i);
    }
  }
  expect_reopens(*store.file());
}

TEST(DrumLimits, RefusesWhatAReaderWouldReject) {
  MemoryStore store;
  for (const char* name : {"caf\xE9", "a\nb", "\xC2\x85"}) {
    EXPECT_EQ(code_of(Keys::open(*store, name)), Errc::kInvalidArgument) << name;
  }
  EXPECT_EQ(code_of(Keys::open(*store, std::string_view("a\0b", 3))), Errc::kInvalidArgument);
  DrumOptions options;
  options.key_scheme = KeyScheme::kPage;
  EXPECT_EQ(code_of(Keys::open(*store, "keys", options)), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(DrumCore::open(*store, "keys", (16 << 20) + 1, {})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(DrumCore::open(*store, "keys", -2, {})), Errc::kInvalidArgument);
  auto drum = must(Keys::open(*store, "keys"));
  EXPECT_EQ(code_of(drum.consumer("a\nb")), Errc::kInvalidArgument);
}

/// The checksums of the file are right: somebody wrote it so.
void expect_merges_nothing(const std::string& name) {
  MemoryStore store(rejected_file(name).bytes);
  const DrumInfo info = must(list_drums(must(store->snapshot()))).front();
  auto core = must(DrumCore::open(*store, info.name, info.value_bytes, {}));
  EXPECT_EQ(code_of(core->merge()), Errc::kSegmentInvalid);
  EXPECT_EQ(core->status().pending_count, info.pending_count);
}

TEST(DrumLimits, KeepsRequestsOfAConsumerThatDoesNotExist) {
  expect_merges_nothing("drum_consumer_unknown");
}

TEST(DrumLimits, MergesNoPartitionOfAnotherBucket) {
  expect_merges_nothing("drum_keys_outside_bucket");
}

/// A caller that commits so often that arrays never fill has full logs instead.
TEST(DrumLimits, MergesOnItsOwnWhenCommitsFillTheLogs) {
  for (const auto durability : {Durability::kMerge, Durability::kInterval}) {
    MemoryStore store;
    DrumOptions options;
    options.bucket_count = 1;
    options.memory_bytes = 1 << 16;  // the log calls at 4,096 requests
    options.durability = durability;
    options.interval_ms = 0;
    auto drum = must(Drum<std::uint64_t>::open(*store, "keys", options));
    NullDispatcher nobody;
    drum.attach(nobody);
    std::uint64_t pending_max = 0;
    for (std::uint64_t i = 0; i < 15'000; ++i) {
      must(drum.check_update(i * 0x9E3779B97F4A7C15));
      if (i % 500 == 499) must(store->commit());
      pending_max = std::max(pending_max, drum.status().pending_count);
    }
    EXPECT_LE(pending_max, 4096U) << "of 15,000";
    EXPECT_GE(drum.status().merge_count, 3U);
  }
}

}  // namespace
}  // namespace crawlstore::testing
