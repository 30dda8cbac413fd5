// SPDX-License-Identifier: Apache-2.0
//
// Whatever happens, a DRUM with a recent-keys window answers exactly as one without.

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/verify.h>

#include "drum/memory_store.h"
#include "drum/told.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

/// A store with one DRUM, and all that it told.
struct Side {
  Side(const DrumOptions& given, std::uint16_t consumer_count)
      : options(given), consumers(consumer_count) {
    open();
  }
  void open() {
    core = must(DrumCore::open(*store, "keys", 0, options));
    for (std::uint16_t id = 1; id < consumers; ++id) {
      must(core->consumer("consumer " + std::to_string(id)));
    }
    for (std::uint16_t id = 0; id < consumers; id += 2) {  // the others are absent
      core->attach({id}, [this](std::span<const RawAnswer> given) {
        for (const RawAnswer& answer : given) take(answer);
      });
    }
  }
  void take(const RawAnswer& answer) {
    if (throws_after == 0) throw std::runtime_error("enough");
    --throws_after;
    answers.push_back(told(answer));
    if (!resubmits || answer.key % 5 != 0 || answer.operation == DrumOperation::kCheck) return;
    const std::string again = "from inside";
    must(core->submit({DrumOperation::kCheck,
                       answer.consumer,
                       answer.key * 3,
                       {},
                       std::as_bytes(std::span(again))}));
    must(core->submit({DrumOperation::kCheckUpdate, {}, answer.key * 7, {}, {}}));
  }
  void reopen() {
    repeat_count += core->status().repeat_count;
    core.reset();
    store.reopen();
    open();
  }

  DrumOptions options;
  std::uint16_t consumers;
  MemoryStore store;
  std::shared_ptr<DrumCore> core;
  std::vector<Told> answers;
  std::uint64_t throws_after = ~std::uint64_t{0};
  bool resubmits = false;
  std::uint64_t repeat_count = 0;
};

/// Does the same to a DRUM with the window and to one without.
class Twins {
 public:
  Twins(std::uint64_t seed, const DrumOptions& options, std::uint16_t consumers,
        std::uint64_t key_count)
      : random_(seed),
        with_(options, consumers),
        without_(off(options), consumers),
        key_count_(key_count) {}

  void run(int step_count, bool resubmits) {
    both([&](Side& side) { side.resubmits = resubmits; });
    for (int i = 0; i < step_count && !::testing::Test::HasFailure(); ++i) step();
    both([](Side& side) { side.resubmits = false; });
    merge();
    merge();
    compare();
    with_.repeat_count += with_.core->status().repeat_count;
    EXPECT_EQ(without_.core->status().repeat_count, 0U);
    EXPECT_EQ(keys_of(with_), keys_of(without_));
  }
  [[nodiscard]] std::uint64_t repeat_count() const { return with_.repeat_count; }

 private:
  static DrumOptions off(DrumOptions options) {
    options.recent_keys = 0;
    return options;
  }
  template <class Work>
  void both(const Work& work) {
    work(with_);
    work(without_);
  }

  /// The keys of a file without damage.
  static std::vector<std::uint64_t> keys_of(Side& side) {
    must(side.store->commit());
    VerifyOptions deep;
    deep.level = VerifyLevel::kDeep;
    EXPECT_TRUE(must(verify(*open_memory_storage(side.store.file(), OpenMode::kRead), deep))
                    .findings.empty());
    std::vector<std::uint64_t> keys;
    must(drum_view(*side.store, "keys").for_each_key([&](Key16 key, auto) {
      keys.push_back(key.head);
      return true;
    }));
    return keys;
  }

  std::uint64_t some_key() {
    const std::uint64_t pick = random_.below(key_count_);
    return pick == 0 ? 0 : pick == 1 ? ~std::uint64_t{0} : pick * kSpread;
  }
  void submit_one() {
    const auto operation = static_cast<DrumOperation>(random_.below(3));
    const auto consumer = static_cast<std::uint16_t>(random_.below(with_.consumers));
    const std::uint64_t key = some_key();
    const std::string aux(random_.below(3) == 0 ? random_.below(2000) : random_.below(3), 'a');
    both([&](Side& side) {
      must(side.core->submit({operation, {consumer}, key, {}, std::as_bytes(std::span(aux))}));
    });
  }
  void submit_many() {
    const auto operation = static_cast<DrumOperation>(random_.below(3));
    const auto consumer = static_cast<std::uint16_t>(random_.below(with_.consumers));
    std::vector<std::uint64_t> keys(random_.below(2000));
    for (auto& key : keys) key = some_key();
    both([&](Side& side) { must(side.core->submit_keys(operation, keys, {consumer})); });
  }
  void merge() {
    const auto first = must(with_.core->merge());
    const auto second = must(without_.core->merge());
    EXPECT_EQ(first.request_count, second.request_count);
    EXPECT_EQ(first.unique_count, second.unique_count);
    EXPECT_EQ(first.duplicate_count, second.duplicate_count);
    EXPECT_EQ(first.new_key_count, second.new_key_count);
    EXPECT_EQ(first.split_count, second.split_count);
    EXPECT_EQ(first.commit_count, second.commit_count);
  }
  /// Only once: what was told since the last commit comes again.
  void synchronize_and_fail() {
    const std::uint64_t after = random_.below(300);
    both([&](Side& side) {
      side.throws_after = after;
      (void)side.core->merge();
      side.throws_after = ~std::uint64_t{0};
    });
  }
  void take_results() {
    const auto consumer = static_cast<std::uint16_t>(random_.below(with_.consumers));
    both([&](Side& side) {
      must(side.core->take_results({consumer}, [&](std::span<const RawAnswer> answers) {
        for (const RawAnswer& answer : answers) side.answers.push_back(told(answer));
      }));
    });
  }
  void look() {
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t key = some_key();
      EXPECT_EQ(must(with_.core->contains(key)), must(without_.core->contains(key)));
    }
  }
  void compare() {
    ASSERT_EQ(with_.answers.size(), without_.answers.size());
    EXPECT_TRUE(with_.answers == without_.answers);
    const DrumStatus first = with_.core->status();
    const DrumStatus second = without_.core->status();
    EXPECT_EQ(first.pending_count, second.pending_count);
    EXPECT_EQ(first.key_count, second.key_count);
    EXPECT_EQ(first.bucket_count, second.bucket_count);
    EXPECT_EQ(first.transfer_count, second.transfer_count);
  }
  void step() {
    if (random_.below(6) == 0) look();
    switch (random_.below(80)) {
      case 0:
        merge();
        return compare();
      case 1:
        synchronize_and_fail();
        return compare();
      case 2:
        return both([](Side& side) { must(side.store->commit()); });
      case 3:
        return both([](Side& side) { side.reopen(); });
      case 4:
        return take_results();
      case 5:
      case 6:
        return submit_many();
      default:
        submit_one();
    }
  }

  Random random_;
  Side with_;
  Side without_;
  std::uint64_t key_count_;
};

/// The arrays never fill the memory, so that both sides merge at the same requests. No splits: how
/// many keys a merge may add, and so when a bucket splits, is better known with the window.
DrumOptions roomy_options() {
  DrumOptions options;
  options.bucket_count = 4;
  options.parallel = false;
  return options;
}

TEST(RecentKeysWindow, ChangesNoAnswerAndNoKey) {
  std::uint64_t repeats = 0;
  for (std::uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    DrumOptions options = roomy_options();
    options.parallel = seed % 3 == 0;
    options.recent_keys = seed % 2 == 0 ? 8 : 4096;
    options.durability = seed % 5 == 0 ? Durability::kNone : Durability::kMerge;
    Twins twins(seed, options, static_cast<std::uint16_t>(1 + seed % 4), 100);
    twins.run(400, seed % 4 == 1);
    repeats += twins.repeat_count();
  }
  EXPECT_GT(repeats, 10000U);
}

TEST(RecentKeysWindow, ChangesNothingWhereRequestsAreLoggedFirst) {
  DrumOptions options = roomy_options();
  options.log_first = true;
  Twins twins(7, options, 2, 60);
  twins.run(300, true);
  EXPECT_EQ(twins.repeat_count(), 0U);  // it would save nothing
}

/// Runs of fresh keys that are longer than any note can say, then repeats of near and far ones.
std::vector<std::uint64_t> bursts(std::uint64_t count) {
  Random random(5);
  std::vector<std::uint64_t> keys;
  std::uint64_t fresh = 0;
  while (keys.size() < count) {
    const std::uint64_t run = random.below(4) == 0 ? random.below(70000) : random.below(600);
    for (std::uint64_t i = 0; i < run; ++i) keys.push_back(++fresh * kSpread);
    for (std::uint64_t i = 0; i < run / 2; ++i) {
      const std::uint64_t back = random.below(random.below(5) == 0 ? fresh : std::min(fresh, run));
      keys.push_back((fresh - back) * kSpread);
    }
  }
  return keys;
}

TEST(RecentKeysWindow, AnswersBurstsInBulkAsWithoutIt) {
  const auto keys = bursts(600000);
  for (const std::uint32_t buckets : {1U, 16U}) {
    DrumOptions options;
    options.bucket_count = buckets;
    options.recent_keys = 1 << 18;
    const Bulk with = answer_in_bulk(options, keys);
    options.recent_keys = 0;
    const Bulk without = answer_in_bulk(options, keys);
    EXPECT_TRUE(with.answers == without.answers);
    EXPECT_TRUE(with.sequences == without.sequences);
    EXPECT_GT(with.status.repeat_count, 100000U);
    EXPECT_EQ(without.status.repeat_count, 0U);
  }
}

TEST(RecentKeysWindow, SavesBytesWhenTheArraysFillTheMemory) {
  const auto keys = recent_stream(1 << 20);
  DrumOptions options;
  options.bucket_count = 16;
  options.memory_bytes = 1 << 20;
  const Bulk with = answer_in_bulk(options, keys);
  options.recent_keys = 0;
  const Bulk without = answer_in_bulk(options, keys);
  EXPECT_EQ(with.answers.size(), keys.size());
  EXPECT_EQ(with.status.key_count, without.status.key_count);
  EXPECT_GT(with.status.repeat_count, keys.size() * 2 / 5);
  EXPECT_LT(with.bytes_written * 5, without.bytes_written * 4);
}

TEST(RecentKeysWindow, RestsOnRequestsThatDoNotRepeat) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 20000; ++i) keys.push_back((i % 10000) * kSpread);
  DrumOptions options;
  options.recent_keys = 256;
  EXPECT_EQ(answer_in_bulk(options, keys).status.repeat_count, 0U);
  options.recent_keys = 16384;
  EXPECT_GT(answer_in_bulk(options, keys).status.repeat_count, 5000U);
}

TEST(RecentKeysWindow, CountsItsMemoryAndTakesNoMoreThanASixteenthOfTheirs) {
  for (const std::uint64_t memory_bytes : {std::uint64_t{1} << 17, std::uint64_t{64} << 20}) {
    MemoryStore store;
    DrumOptions options;
    options.bucket_count = 1;
    options.memory_bytes = memory_bytes;
    auto core = must(DrumCore::open(*store, "keys", 0, options));
    EXPECT_EQ(core->status().memory_bytes, 0U);
    must(core->submit({DrumOperation::kCheckUpdate, {}, 1, {}, {}}));
    const std::uint64_t window = std::min<std::uint64_t>(memory_bytes / 16, 1 << 20);
    EXPECT_EQ(core->status().memory_bytes, window + 4096);  // and one slab
    for (int i = 0; i < 100; ++i) must(core->submit({DrumOperation::kCheckUpdate, {}, 1, {}, {}}));
    EXPECT_EQ(core->status().repeat_count, 100U);
    EXPECT_EQ(core->status().pending_count, 101U);
    EXPECT_EQ(core->status().memory_bytes, window + 2 * 4096);
    options.recent_keys = 0;
    must(core->tune(options));
    must(core->merge());
    EXPECT_EQ(core->status().memory_bytes, 0U);
  }
}

TEST(RecentKeysWindow, StaysOffWhereThereAreValues) {
  MemoryStore store;
  auto core = must(DrumCore::open(*store, "values", 1, {}));
  std::vector<std::pair<std::byte, bool>> answers;
  core->attach({}, [&](std::span<const RawAnswer> given) {
    for (const auto& answer : given) answers.emplace_back(answer.value.front(), answer.duplicate);
  });
  for (int i = 1; i <= 3; ++i) {
    const auto value = static_cast<std::byte>(i);
    must(core->submit({DrumOperation::kCheckUpdate, {}, 5, {&value, 1}, {}}));
  }
  must(core->merge());
  EXPECT_EQ(core->status().repeat_count, 0U);
  const std::vector<std::pair<std::byte, bool>> expected{
      {std::byte{1}, false}, {std::byte{2}, true}, {std::byte{3}, true}};
  EXPECT_EQ(answers, expected);
}

TEST(RecentKeysWindow, RefusesMoreThanAnArrayHolds) {
  MemoryStore store;
  DrumOptions options;
  options.recent_keys = (1 << 24) + 1;
  const auto refused = DrumCore::open(*store, "keys", 0, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace crawlstore::testing
