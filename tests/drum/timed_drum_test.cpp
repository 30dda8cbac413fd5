// SPDX-License-Identifier: Apache-2.0
//
// TimedDrum: it gives what a std::map with times gives, whatever is merged, committed, reopened or
// dropped meanwhile; what has expired leaves the file with its key.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum_view.h>
#include <crawlstore/timed_drum.h>
#include <crawlstore/tools/verify.h>
#include <crawlstore/transaction.h>
#include <crawlstore/url.h>

#include "drum/memory_store.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kHour = 3'600'000;

TimedDrum open_cache(Store& store, TimedDrumOptions options = {}) {
  return must(TimedDrum::open(store, "cache", options));
}

/// The value that the cache gives at a time, or "nothing".
std::string value_at(TimedDrum& cache, std::string_view key, std::uint64_t now_ms) {
  const auto found = must(cache.get(key, now_ms));
  return found ? found->value : "nothing";
}

void expect_whole(const MemoryStore& store) {
  const auto storage = open_memory_storage(store.file(), OpenMode::kRead);
  EXPECT_TRUE(must(verify(*storage, {VerifyLevel::kDeep, {}})).whole());
}

TEST(TimedDrum, GivesAValueFromThePutUntilItExpires) {
  MemoryStore store;
  TimedDrum cache = open_cache(*store);
  must(cache.put("http://a.test", "rules", kHour));
  const auto expect_both_sides = [&cache] {
    EXPECT_EQ(must(cache.get("http://a.test", kHour - 1)), (TimedValue{"rules", kHour}));
    EXPECT_EQ(value_at(cache, "http://a.test", kHour), "nothing");
    EXPECT_EQ(value_at(cache, "http://b.test", 0), "nothing");
  };
  expect_both_sides();
  must(cache.merge(0));
  EXPECT_EQ(cache.memory_bytes(), 0U);
  expect_both_sides();
  must(cache.put("http://a.test", "others", 2 * kHour));
  EXPECT_EQ(value_at(cache, "http://a.test", kHour), "others");
}

TEST(TimedDrum, FindsAfterACrashWhatWasCommittedAndNotMerged) {
  MemoryStore store;
  TimedDrum cache = open_cache(*store);
  must(cache.put("a", "1", kHour));
  must(cache.merge(0));
  must(cache.put("a", "2", kHour));
  must(cache.put("b", "3", kHour));
  must(store->commit());
  must(cache.put("b", "lost", kHour));
  MemoryStore crashed(store.image());
  TimedDrum found = open_cache(*crashed);
  EXPECT_EQ(value_at(found, "a", 0), "2");
  EXPECT_EQ(value_at(found, "b", 0), "3");
  EXPECT_EQ(drum_info(*crashed, "cache").pending_count, 0U);
}

TEST(TimedDrum, KeepsValuesOfAnyLength) {
  MemoryStore store;
  Random random(5);
  std::map<std::string, std::string> values{{"", ""}, {"empty", ""}, {std::string("\0k", 2), "v"}};
  values["long"].resize(512 << 10);
  for (char& byte : values["long"]) byte = static_cast<char>(random.next());
  values[std::string(70'000, 'k')] = std::string("\0\0", 2);
  TimedDrum cache = open_cache(*store, {.memory_bytes = 4096});
  for (const auto& [key, value] : values) must(cache.put(key, value, kHour));
  must(cache.merge(0));
  must(cache.close());
  cache = open_cache(*store);
  for (const auto& [key, value] : values) EXPECT_EQ(must(cache.get(key, 0))->value, value);
  EXPECT_EQ(must(store->commit()), store->generation());
  expect_whole(store);
}

TEST(TimedDrum, DropsFromTheFileWhatHasExpired) {
  MemoryStore store;
  TimedDrum cache = open_cache(*store, {.memory_bytes = std::uint64_t{64} << 20});
  const std::string expired(10'000, 'e');
  const std::string kept(10'000, 'k');
  for (int i = 0; i < 300; ++i) must(cache.put("e" + std::to_string(i), expired, kHour));
  for (int i = 0; i < 300; ++i) must(cache.put("k" + std::to_string(i), kept, kHour + 1));
  must(cache.merge(kHour - 1));
  EXPECT_EQ(drum_info(*store, "cache").key_count, 600U);
  EXPECT_GT(drum_info(*store, "cache").bucket_count, 1U);
  must(cache.merge(kHour));
  EXPECT_EQ(drum_info(*store, "cache").key_count, 300U);
  EXPECT_EQ(value_at(cache, "k7", kHour), kept);
  must(cache.merge(kHour + 1));
  EXPECT_EQ(drum_info(*store, "cache").key_count, 0U);
  EXPECT_EQ(drum_info(*store, "cache").partition_bytes, 0U);
  EXPECT_EQ(drum_info(*store, "cache").result_count, 0U);
  expect_whole(store);
  must(cache.put("again", "1", 2 * kHour));
  must(cache.merge(kHour));
  store.reopen();
  TimedDrum reopened = open_cache(*store);
  EXPECT_EQ(value_at(reopened, "again", kHour), "1");
  EXPECT_EQ(value_at(reopened, "k7", 0), "nothing");
  expect_whole(store);
}

TEST(TimedDrum, MergesByItselfWhenItsMemoryIsFull) {
  constexpr std::uint64_t kMemory = 100'000;
  MemoryStore store;
  TimedDrum cache = open_cache(*store, {.memory_bytes = kMemory});
  (void)must(cache.get("", kHour));
  for (int i = 0; i < 1000; ++i) {
    must(cache.put(std::to_string(i), std::string(1000, 'v'), i % 2 == 0 ? kHour : kHour + 1));
    EXPECT_LE(cache.memory_bytes(), kMemory + 2000);
  }
  const auto kept = drum_info(*store, "cache").key_count;
  EXPECT_GT(kept, 400U);
  EXPECT_LE(kept, 500U);  // it has dropped those that get() has seen expired
  for (int i = 1; i < 1000; i += 2) EXPECT_NE(value_at(cache, std::to_string(i), 0), "nothing");
}

TEST(TimedDrum, GivesNoValueOfAnotherKeyWithTheSameHash) {
  MemoryStore store;
  TimedDrum cache = open_cache(*store);
  must(cache.put("a", "of a", kHour));
  must(cache.merge(0));
  must(cache.close());
  auto drum = must(Drum<std::uint64_t, std::string>::open(*store, "cache"));
  const std::string of_a = must(drum.lookup(url_key("a", store->key_seed()))).value();
  must(drum.update(url_key("b", store->key_seed()), of_a));
  must(drum.merge());
  must(drum.close());
  cache = open_cache(*store);
  EXPECT_EQ(value_at(cache, "a", 0), "of a");
  EXPECT_EQ(value_at(cache, "b", 0), "nothing");
}

TEST(TimedDrum, LeavesValuesOfOthersAlone) {
  MemoryStore store;
  const std::vector<std::string> others{"", "short", std::string(40, '\0')};
  auto drum = must(Drum<std::uint64_t, std::string>::open(*store, "cache"));
  for (std::uint64_t i = 0; i < others.size(); ++i) must(drum.update(i, others[i]));
  NullDispatcher nobody;
  must(drum.merge(nobody));
  must(drum.close());
  TimedDrum cache = open_cache(*store);
  must(cache.merge(~std::uint64_t{0}));
  const auto view = drum_view(*store, "cache");
  for (std::uint64_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ((must(lookup<std::uint64_t, std::string>(view, i))), others[i]);
  }
}

TEST(TimedDrum, TakesNoPartInTransactions) {
  MemoryStore store;
  TimedDrum cache = open_cache(*store);
  must(cache.put("a", "1", kHour));
  auto transaction = must(Transaction::begin(*store));
  EXPECT_EQ(cache.put("a", "2", kHour).error().code, Errc::kReentrant);
  EXPECT_EQ(cache.merge(0).error().code, Errc::kReentrant);
  EXPECT_EQ(value_at(cache, "a", 0), "1");
  transaction.drop();
  EXPECT_EQ(value_at(cache, "a", 0), "1");
  must(cache.merge(0));
  EXPECT_EQ(value_at(cache, "a", 0), "1");
}

TEST(TimedDrum, RefusesWhatItCannotKeep) {
  MemoryStore store;
  TimedDrum cache = open_cache(*store);
  const std::string long_text(std::size_t{16} << 20, 'l');
  EXPECT_EQ(cache.put("a", long_text, kHour).error().code, Errc::kTooLarge);
  EXPECT_EQ(cache.put(long_text + "l", "", kHour).error().code, Errc::kTooLarge);
  EXPECT_EQ(cache.memory_bytes(), 0U);
  EXPECT_EQ(TimedDrum::open(*store, "cache").error().code, Errc::kInvalidArgument);
  (void)must(Drum<std::uint64_t, std::uint32_t>::open(*store, "numbers"));
  EXPECT_EQ(TimedDrum::open(*store, "numbers").error().code, Errc::kTypeMismatch);
  must(cache.put("a", "1", kHour));
  must(store->close());
  EXPECT_EQ(cache.get("a", 0).error().code, Errc::kClosed);
  EXPECT_EQ(cache.put("a", "2", kHour).error().code, Errc::kClosed);
  EXPECT_EQ(cache.merge(0).error().code, Errc::kClosed);
}

TEST(TimedDrum, KeepsAllWhenAMergeFindsNoSpace) {
  MemoryStore store(std::uint64_t{4} << 20);
  TimedDrum cache = open_cache(*store);
  for (int i = 0; i < 5; ++i) {
    must(cache.put(std::to_string(i), std::string(512 << 10, 'a'), kHour));
  }
  must(cache.put("old", "1", 1));
  must(store->commit());
  EXPECT_EQ(cache.merge(1).error().code, Errc::kNoSpace);
  for (int i = 0; i < 5; ++i) EXPECT_NE(value_at(cache, std::to_string(i), 1), "nothing");
  EXPECT_EQ(value_at(cache, "old", 0), "1");
}

/// A cache and what it must give, with what survives a crash.
class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {}

  void step() {
    const std::uint64_t kind = random_.below(100);
    if (kind < 50) return put();
    if (kind < 80) return check(key());
    if (kind < 85) return merge();
    if (kind < 89) return commit();
    if (kind < 92) return drop();
    if (kind < 95) return reopen();
    if (kind < 97) return crash();
    now_ms_ += random_.below(kHour);
  }
  void check_all() {
    for (std::uint64_t i = 0; i < kKeys; ++i) check(std::to_string(i));
    must(cache_->merge(now_ms_));
    std::erase_if(now_, [this](const auto& entry) { return entry.second.expires_ms <= now_ms_; });
    EXPECT_EQ(drum_info(**store_, "cache").key_count, now_.size());
    expect_whole(*store_);
  }

 private:
  static constexpr std::uint64_t kKeys = 60;
  using Values = std::map<std::string, TimedValue>;

  std::string key() { return std::to_string(random_.below(kKeys)); }
  void put() {
    const std::uint64_t length = random_.below(8) == 0 ? 30'000 : 40;
    const TimedValue value{std::string(random_.below(length), static_cast<char>(random_.next())),
                           now_ms_ + random_.below(2 * kHour)};
    const std::string key = this->key();
    if (cache_->memory_bytes() > options_.memory_bytes) committed_ = now_;  // it merges first
    must(cache_->put(key, value.value, value.expires_ms));
    now_[key] = value;
  }
  void check(const std::string& key) {
    std::optional<TimedValue> expected;
    if (const auto known = now_.find(key); known != now_.end()) expected = known->second;
    if (expected && expected->expires_ms <= now_ms_) expected.reset();
    ASSERT_EQ(must(cache_->get(key, now_ms_)), expected) << key;
  }
  void merge() {
    must(cache_->merge(now_ms_));
    committed_ = now_;
  }
  void commit() {
    must((*store_)->commit());
    committed_ = now_;
  }
  void drop() {
    auto transaction = must(Transaction::begin(**store_));
    EXPECT_FALSE(cache_->put(key(), "dropped", ~std::uint64_t{0}));
    transaction.drop();
  }
  void reopen() {
    store_->reopen();
    committed_ = now_;
    cache_ = open_cache(**store_, options_);
  }
  void crash() {
    auto crashed = std::make_unique<MemoryStore>(store_->image());
    cache_.reset();
    store_ = std::move(crashed);
    now_ = committed_;
    cache_ = open_cache(**store_, options_);
  }

  Random random_;
  TimedDrumOptions options_{.memory_bytes = 64 << 10};
  std::unique_ptr<MemoryStore> store_ = std::make_unique<MemoryStore>();
  std::optional<TimedDrum> cache_ = open_cache(**store_, options_);
  Values now_;
  Values committed_;
  std::uint64_t now_ms_ = kHour;
};

TEST(TimedDrum, GivesWhatAMapWithTimesGives) {
  const std::uint64_t first = test_seed();
  for (std::uint64_t seed = first; seed < first + 20; ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed);
    for (int i = 0; i < 400; ++i) model.step();
    model.check_all();
  }
}

}  // namespace
}  // namespace crawlstore::testing
