// SPDX-License-Identifier: Apache-2.0
//
// insert(): new or not, at once, and remembered. The oracle is a std::set of keys.

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/verify.h>
#include <crawlstore/transaction.h>
#include <crawlstore/url_seen.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"
#include "support/bytes.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t>;
using WideKeys = Drum<Key16>;
using Numbers = Drum<std::uint64_t, std::uint64_t>;

DrumOptions small_memory(std::uint32_t bucket_count = 4) {
  DrumOptions options;
  options.bucket_count = bucket_count;
  options.memory_bytes = 16 << 10;
  options.partition_keys_max = 500;
  return options;
}

/// Keys that spread over all buckets; wide ones share heads.
template <class Key>
Key key_of(std::uint64_t number) {
  if constexpr (sizeof(KeyBits<Key>) == 16) {
    return Key{Random(number / 4 + 1).next(), number % 4};
  } else {
    return Random(number + 1).next();
  }
}

/// A DRUM and the set that it must be, through merges, transactions, crashes.
template <class Key>
class Oracle {
 public:
  Oracle(const DrumOptions& options, std::uint64_t seed) : options_(options), random_(seed) {
    open();
  }

  void step() {
    switch (random_.below(100)) {
      case 0:
        must(drum_->merge());
        safe_ = known_;
        break;
      case 1:
        must(store_->commit());
        safe_ = known_;
        break;
      case 2:
        must(drum_->close());
        store_.reopen();
        open();
        safe_ = known_;
        break;
      case 3:
        crash();
        break;
      case 4:
      case 5:
        transaction();
        break;
      default:
        request(known_);
    }
  }
  /// Every key that there can be is there or not, as the set says; and the file is in order.
  void expect_equal() {
    for (std::uint64_t n = 0; n < kKeys; ++n) {
      ASSERT_EQ(must(drum_->contains(key_of<Key>(n))), known_.contains(n)) << n;
    }
    must(drum_->merge());
    EXPECT_EQ(drum_->status().key_count, known_.size());
    VerifyOptions deep;
    deep.level = VerifyLevel::kDeep;
    EXPECT_TRUE(
        must(verify(*open_memory_storage(store_.file(), OpenMode::kRead), deep)).findings.empty());
    EXPECT_EQ(drum_->take_results(nobody_, quiet_).value_or(0), 0U);
  }

 private:
  static constexpr std::uint64_t kKeys = 3000;

  void open() {
    drum_.emplace(must(Drum<Key>::open(*store_, "keys", options_)));
    drum_->attach(nobody_);
  }
  void request(std::set<std::uint64_t>& known) {
    const std::uint64_t number = random_.below(kKeys);
    const Key key = key_of<Key>(number);
    switch (random_.below(12)) {
      case 0:
        must(drum_->check_update(key));
        known.insert(number);
        break;
      case 1:
        must(drum_->update(key));
        known.insert(number);
        break;
      case 2:
        must(drum_->check(key));
        break;
      case 3:
        ASSERT_EQ(must(drum_->contains(key)), known.contains(number)) << number;
        break;
      default:
        ASSERT_EQ(must(drum_->insert(key)), known.insert(number).second) << number;
    }
  }
  void transaction() {
    std::set<std::uint64_t> inside = known_;
    auto both = must(Transaction::begin(*store_));
    for (std::uint64_t i = random_.below(200); i > 0; --i) request(inside);
    if (random_.below(2) == 0) return both.drop();
    const std::set<std::uint64_t> before = known_;
    must(both.commit());
    for (const auto number : inside) {
      if (!before.contains(number)) safe_.insert(number);
    }
    known_ = std::move(inside);
  }
  /// Requests that were safe are there, and nothing that nobody asked for.
  void crash() {
    const auto image = store_.image();
    drum_.reset();
    store_ = MemoryStore(image);
    open();
    std::set<std::uint64_t> found;
    for (std::uint64_t n = 0; n < kKeys; ++n) {
      if (must(drum_->contains(key_of<Key>(n)))) found.insert(n);
    }
    EXPECT_TRUE(std::includes(found.begin(), found.end(), safe_.begin(), safe_.end()));
    EXPECT_TRUE(std::includes(known_.begin(), known_.end(), found.begin(), found.end()));
    known_ = found;
    safe_ = std::move(found);
  }

  DrumOptions options_;
  Random random_;
  MemoryStore store_;
  std::optional<Drum<Key>> drum_;
  NullDispatcher nobody_;
  ConsumerId quiet_{1};  // the first consumer that is made: that of inserts
  std::set<std::uint64_t> known_;
  std::set<std::uint64_t> safe_;
};

template <class Key>
void run_oracle(const DrumOptions& options) {
  Oracle<Key> oracle(options, test_seed());
  for (int i = 0; i < 12000; ++i) {
    oracle.step();
    if (::testing::Test::HasFatalFailure()) return;
  }
  oracle.expect_equal();
}

TEST(Insert, IsASetThroughMergesTransactionsAndCrashes) {
  run_oracle<std::uint64_t>(small_memory());
}

TEST(Insert, IsASetOfWideKeys) {
  run_oracle<Key16>(small_memory());
}

TEST(Insert, IsASetWhereRequestsAreLogged) {
  DrumOptions options = small_memory();
  options.log_first = true;
  run_oracle<std::uint64_t>(options);
}

TEST(Insert, IsASetWhereRepeatsAreDropped) {
  DrumOptions options = small_memory(1);
  options.repeats = Repeats::kDrop;
  run_oracle<std::uint64_t>(options);
}

TEST(Insert, IsASetAtLevelNone) {
  DrumOptions options = small_memory();
  options.durability = Durability::kNone;
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys", options));
  Random random(test_seed());
  std::set<std::uint64_t> known;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t number = random.below(8000);
    ASSERT_EQ(must(keys.insert(key_of<std::uint64_t>(number))), known.insert(number).second);
  }
}

TEST(Insert, SeesRequestsThatWait) {
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys"));
  must(keys.update(1));
  must(keys.check_update(2));
  must(keys.check(3));
  EXPECT_FALSE(must(keys.insert(1)));
  EXPECT_FALSE(must(keys.insert(2)));
  EXPECT_TRUE(must(keys.insert(3)));
  EXPECT_FALSE(must(keys.insert(3)));
  EXPECT_TRUE(must(keys.contains(3)));
}

TEST(Insert, TellsNobodyButMakesLaterRequestsDuplicates) {
  MemoryStore store;
  CallLog log;
  auto keys = must(Keys::open(*store, "keys"));
  keys.attach(log);
  EXPECT_TRUE(must(keys.insert(7)));
  must(keys.check_update(7));
  must(keys.check_update(8));
  must(keys.merge());
  EXPECT_EQ(log.calls, (Calls{"duplicate update 7", "unique update 8"}));
  EXPECT_EQ(keys.status().key_count, 2U);
}

TEST(Insert, KeepsNoAnswersWhereNobodyListens) {
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys"));
  for (std::uint64_t n = 0; n < 100; ++n) must(keys.insert(n));
  must(store->commit());
  store.reopen();
  auto again = must(Keys::open(*store, "keys"));
  must(again.merge());
  NullDispatcher nobody;
  EXPECT_EQ(must(again.take_results(nobody)), 0U);
  EXPECT_EQ(must(again.take_results(nobody, {1})), 0U);
  EXPECT_EQ(again.status().key_count, 100U);
}

TEST(Insert, SetsTheValueOfANewKeyOnly) {
  MemoryStore store;
  auto numbers = must(Numbers::open(*store, "numbers"));
  EXPECT_TRUE(must(numbers.insert(1, 10)));
  EXPECT_FALSE(must(numbers.insert(1, 11)));
  must(numbers.merge());
  EXPECT_FALSE(must(numbers.insert(1, 12)));
  must(numbers.merge());
  EXPECT_EQ(must(numbers.lookup(1)), std::optional<std::uint64_t>(10));
}

TEST(Insert, RefusesWhatUpdateRefuses) {
  MemoryStore store;
  auto core = must(DrumCore::open(*store, "numbers", 8, {}));
  EXPECT_EQ(core->insert(Key16{1}, {}).error().code, Errc::kInvalidArgument);
  const std::array<std::byte, 8> value{};
  EXPECT_EQ(core->insert(Key16{1, 1}, value).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(core->consumer(".insert").error().code, Errc::kInvalidArgument);
  must(core->close());
  EXPECT_EQ(core->insert(Key16{1}, value).error().code, Errc::kClosed);
}

TEST(Insert, IsForgottenWithItsTransaction) {
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys"));
  auto dropped = must(Transaction::begin(*store));
  EXPECT_TRUE(must(keys.insert(1)));
  EXPECT_FALSE(must(keys.insert(1)));
  dropped.drop();
  EXPECT_TRUE(must(keys.insert(1)));
}

/// Inserts what it is told, and throws at one key.
struct Inserter {
  Keys& keys;
  std::uint64_t throws_at = 0;
  std::vector<bool> answers;
  void unique_key_update(const Keys::AnswerType& answer) {
    answers.push_back(must(keys.insert(answer.key + 100)));
    if (answer.key == throws_at) throw std::runtime_error("as wanted");
  }
};

TEST(Insert, IsForgottenWhenItsDispatcherThrows) {
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys"));
  Inserter inserter{keys, 2, {}};
  for (std::uint64_t n = 1; n <= 2; ++n) must(keys.check_update(n));
  EXPECT_EQ(keys.merge(inserter).error().code, Errc::kDispatcherFailed);
  EXPECT_FALSE(must(keys.contains(101)));
  inserter.throws_at = 0;
  must(keys.merge(inserter));
  EXPECT_EQ(inserter.answers, (std::vector<bool>{true, true, true, true}));
  EXPECT_FALSE(must(keys.insert(101)));
  EXPECT_FALSE(must(keys.insert(1)));
}

TEST(Insert, TakesNoKeyWhenTheMergeBeforeItFails) {
  MemoryStore store;
  DrumOptions options = small_memory();
  auto keys = must(Keys::open(*store, "keys", options));
  struct Thrower {
    bool throws = true;
    void unique_key_update(const Keys::AnswerType&) {
      if (throws) throw std::runtime_error("as wanted");
    }
  } thrower;
  keys.attach(thrower);
  must(keys.check_update(key_of<std::uint64_t>(0)));
  std::uint64_t next = 1;
  std::optional<Error> error;
  while (!error && next < 10000) {
    const auto is_new = keys.insert(key_of<std::uint64_t>(next));
    if (is_new) {
      EXPECT_TRUE(*is_new);
      ++next;
    } else {
      error = is_new.error();
    }
  }
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Errc::kDispatcherFailed);
  EXPECT_FALSE(must(keys.insert(key_of<std::uint64_t>(next - 1))));
  thrower.throws = false;
  EXPECT_TRUE(must(keys.insert(key_of<std::uint64_t>(next))));
}

TEST(Insert, LastsFromTheNextCommitOn) {
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys"));
  EXPECT_TRUE(must(keys.insert(1)));
  MemoryStore before(store.image());
  EXPECT_TRUE(must(must(Keys::open(*before, "keys")).insert(1)));
  must(store->commit());
  MemoryStore after(store.image());
  EXPECT_FALSE(must(must(Keys::open(*after, "keys")).insert(1)));
}

TEST(Insert, LastsAtOnceAtLevelRequest) {
  MemoryStore store;
  DrumOptions options;
  options.durability = Durability::kRequest;
  auto keys = must(Keys::open(*store, "keys", options));
  for (std::uint64_t n = 0; n < 300; ++n) EXPECT_TRUE(must(keys.insert(n)));
  MemoryStore after(store.image());
  auto found = must(Keys::open(*after, "keys"));
  for (std::uint64_t n = 0; n < 300; ++n) EXPECT_FALSE(must(found.insert(n)));
}

TEST(Insert, TakesUrlsThatAreOneInTheirNormalForm) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  EXPECT_TRUE(must(seen.insert("HTTP://example.com:80/a/../b")));
  EXPECT_FALSE(must(seen.insert("http://example.com/b")));
  EXPECT_TRUE(must(seen.insert("no url at all")));
  EXPECT_EQ(seen.unparsed_count(), 1U);
  must(seen.drum().merge());
  EXPECT_FALSE(must(seen.insert("http://example.com/b")));
}

/// Four threads insert the same keys, each in an order of its own; returns how often keys were new.
template <class Insert, class Meanwhile>
std::vector<int> race(std::uint64_t key_count, const Insert& insert, const Meanwhile& meanwhile) {
  std::vector<std::atomic<int>> news(key_count);
  std::atomic<int> running{4};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < key_count; ++i) {
        const std::uint64_t number = (i * (2 * t + 1) + t) % key_count;
        if (insert(number)) ++news[number];
      }
      --running;
    });
  }
  while (running.load() != 0) meanwhile();
  for (auto& thread : threads) thread.join();
  return {news.begin(), news.end()};
}

constexpr std::uint64_t kRaced = 1 << 12;  // odd factors go through all of them

TEST(Insert, IsNewForOneOfManyThreads) {
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys", small_memory()));
  const auto insert = [&](std::uint64_t n) { return must(keys.insert(key_of<std::uint64_t>(n))); };
  std::uint64_t turns = 0;
  const auto news = race(kRaced, insert, [&] {
    if (++turns % 3 == 0) must(store->commit());
    must(keys.merge());
  });
  EXPECT_EQ(news, std::vector<int>(kRaced, 1));
  must(keys.merge());
  EXPECT_EQ(keys.status().key_count, kRaced);
}

TEST(Insert, IsNewOnceThoughTransactionsAreDropped) {
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys", small_memory()));
  const auto insert = [&](std::uint64_t n) { return must(keys.insert(key_of<std::uint64_t>(n))); };
  std::uint64_t kept = 0;
  Random random(test_seed());
  const auto news = race(kRaced, insert, [&] {
    auto work = must(Transaction::begin(*store));
    std::uint64_t fresh = 0;
    for (int i = 0; i < 20; ++i) fresh += insert(random.below(kRaced)) ? 1 : 0;
    std::this_thread::yield();
    if (random.below(2) == 0) return work.drop();
    must(work.commit());
    kept += fresh;
  });
  std::uint64_t told = kept;
  for (const int count : news) {
    EXPECT_LE(count, 1);
    told += static_cast<std::uint64_t>(count);
  }
  EXPECT_EQ(told, kRaced);
  must(keys.merge());
  EXPECT_EQ(keys.status().key_count, kRaced);
}

TEST(Insert, WaitsForTheTransactionThatHasInsertedTheKey) {
  for (const bool keeps : {false, true}) {
    MemoryStore store;
    auto keys = must(Keys::open(*store, "keys"));
    auto work = must(Transaction::begin(*store));
    EXPECT_TRUE(must(keys.insert(1)));
    bool is_new = false;
    std::thread other([&] {
      EXPECT_TRUE(must(keys.insert(2)));  // of another key: at once
      is_new = must(keys.insert(1));
    });
    while (!must(keys.contains(2))) std::this_thread::yield();
    if (keeps) {
      must(work.commit());
    } else {
      work.drop();
    }
    other.join();
    EXPECT_EQ(is_new, !keeps);
  }
}

}  // namespace
}  // namespace crawlstore::testing
