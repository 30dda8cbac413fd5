// SPDX-License-Identifier: Apache-2.0
//
// find() and drop_keys(). The oracle is a std::map of keys to values.

#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/verify.h>
#include <crawlstore/transaction.h>

#include "drum/drum_model.h"
#include "drum/inserted_keys.h"
#include "drum/memory_store.h"
#include "format/request_run.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using Map = std::map<Key16, std::string>;
using Texts = Drum<std::uint64_t, std::string>;

constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kKeys = 600;

DrumOptions small_memory(std::uint16_t key_bytes) {
  DrumOptions options;
  options.key_bytes = key_bytes;
  options.bucket_count = 4;
  options.memory_bytes = 16 << 10;
  options.partition_keys_max = 200;
  return options;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
std::optional<std::string> found_in(const DrumCore& core, Key16 key) {
  const auto found = must(core.find(key));
  return found ? std::optional(string_of(*found)) : std::nullopt;
}

/// A DRUM and the map that it must be: through merges that end or fail, transactions, reopening.
class Oracle {
 public:
  Oracle(const DrumOptions& options, std::int32_t value_bytes, std::uint64_t seed)
      : options_(options), value_bytes_(value_bytes), random_(seed) {
    open();
  }

  void step() {
    switch (random_.below(200)) {
      case 0:
        return static_cast<void>(must(core_->merge()));
      case 1:
        must(core_->close());
        store_.reopen();
        return open();
      case 2:
        return drop_some();
      case 3:
        return fail_to_drop();
      case 4:
        return fail_to_merge();
      case 5:
        return transaction();
      case 6:
      case 7:
      case 8:
        must(store_->commit());
        return;
      default:
        request(known_);
    }
  }
  /// Every key that there can be is as in the map; merged, too; and the file is in order.
  void expect_equal() {
    for (std::uint64_t n = 0; n < kKeys; ++n) expect_found(known_, key_of(n));
    must(core_->merge());
    EXPECT_EQ(core_->status().key_count, known_.size());
    for (const auto& [key, value] : known_) {
      const auto stored = must(core_->lookup(key));
      ASSERT_TRUE(stored && string_of(*stored) == value);
    }
    must(store_->commit());
    const auto storage = open_memory_storage(store_.file(), OpenMode::kRead);
    EXPECT_TRUE(must(verify(*storage, {VerifyLevel::kDeep, {}})).whole());
    EXPECT_GT(dropped_, kKeys / 10);
  }

 private:
  void open() {
    core_ = must(DrumCore::open(*store_, "map", value_bytes_, options_));
    core_->attach({}, [](std::span<const RawAnswer>) {});
  }
  /// Keys that spread over all buckets; wide ones share heads.
  [[nodiscard]] Key16 key_of(std::uint64_t number) const {
    if (options_.key_bytes == 8) return Random(number + 1).next();
    return {Random(number / 4 + 1).next(), number % 4};
  }
  Key16 some_key() { return key_of(random_.below(kKeys)); }
  std::string some_value() {
    const auto any = random_.below(3) == 0 ? 0 : random_.below(40);
    std::string value(value_bytes_ < 0 ? any : static_cast<std::size_t>(value_bytes_), ' ');
    for (char& byte : value) byte = static_cast<char>(random_.next());
    return value;
  }
  void expect_found(const Map& map, Key16 key) {
    const auto known = map.find(key);
    ASSERT_EQ(found_in(*core_, key),
              known != map.end() ? std::optional(known->second) : std::nullopt);
  }
  void request(Map& map) {
    const Key16 key = some_key();
    const std::string value = some_value();
    const auto operation = static_cast<DrumOperation>(random_.below(3));
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        return expect_found(map, key);
      case 3: {
        ASSERT_EQ(must(core_->insert(key, bytes_of(value))), map.emplace(key, value).second);
        return;
      }
      default:
        const bool inserts = operation != DrumOperation::kCheck;
        must(core_->submit({operation,
                            {},
                            key.head,
                            inserts ? bytes_of(value) : std::span<const std::byte>(),
                            {},
                            key.tail}));
        if (inserts) map.insert_or_assign(key, value);
    }
  }
  void transaction() {
    Map inside = known_;
    auto work = must(Transaction::begin(*store_));
    EXPECT_EQ(core_->drop_keys(0, kLast, {}).error().code, Errc::kReentrant);
    for (std::uint64_t i = random_.below(300); i > 0; --i) request(inside);
    if (random_.below(2) == 0) return work.drop();
    must(work.commit());
    known_ = std::move(inside);
  }
  /// Leaves requests sealed, and those of the dispatcher forgotten.
  void fail_to_merge() {
    auto until = random_.below(5);
    const auto merged = core_->merge([&](std::span<const RawAnswer>) {
      if (until-- != 0) return;
      Map inside = known_;
      for (int i = 0; i < 50; ++i) request(inside);
      throw std::runtime_error("as wanted");
    });
    if (!merged) {
      EXPECT_EQ(merged.error().code, Errc::kDispatcherFailed);
    }
  }
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
  };
  Range some_range() {
    const std::uint64_t a = some_key().head;
    const std::uint64_t b = some_key().head;
    if (random_.below(4) == 0) return {0, kLast};
    return random_.below(4) == 0 ? Range{a, a} : Range{std::min(a, b), std::max(a, b)};
  }
  void drop_some() {
    const auto [first, last] = some_range();
    Map asked;
    const std::uint64_t salt = random_.below(3);
    const auto goes = [salt](Key16 key, std::size_t length) {
      return (key.head + key.tail + length) % 3 == salt;
    };
    const auto count = must(core_->drop_keys(first, last, [&](Key16 key, const auto& value) {
      EXPECT_TRUE(asked.empty() || asked.rbegin()->first < key);
      asked.emplace(key, string_of(value));
      return goes(key, value.size());
    }));
    const Map expected(known_.lower_bound({first, 0}), known_.upper_bound({last, kLast}));
    ASSERT_EQ(asked, expected);
    EXPECT_EQ(count, std::erase_if(known_, [&](const auto& entry) {
                return expected.contains(entry.first) && goes(entry.first, entry.second.size());
              }));
    dropped_ += count;
  }
  void fail_to_drop() {
    const auto [first, last] = some_range();
    const auto drops = [](Key16, std::span<const std::byte>) -> bool {
      throw std::runtime_error("as wanted");
    };
    const bool is_empty = known_.lower_bound({first, 0}) == known_.upper_bound({last, kLast});
    if (is_empty) {
      EXPECT_EQ(must(core_->drop_keys(first, last, drops)), 0U);
    } else {
      EXPECT_THROW((void)core_->drop_keys(first, last, drops), std::runtime_error);
    }
  }

  DrumOptions options_;
  std::int32_t value_bytes_;
  Random random_;
  MemoryStore store_;
  std::shared_ptr<DrumCore> core_;
  Map known_;
  std::uint64_t dropped_ = 0;
};

void run_oracle(const DrumOptions& options, std::int32_t value_bytes) {
  Oracle oracle(options, value_bytes, test_seed());
  for (int i = 0; i < 4000; ++i) {
    oracle.step();
    if (::testing::Test::HasFailure()) return;
  }
  oracle.expect_equal();
}
void run_oracles(std::int32_t value_bytes) {
  for (const bool is_wide : {false, true}) {
    DrumOptions options = small_memory(is_wide ? 16 : 8);
    run_oracle(options, value_bytes);
    options.log_first = true;
    options.parallel = false;
    run_oracle(options, value_bytes);
  }
}

TEST(Find, GivesTheValuesOfAMapWithoutValues) {
  run_oracles(0);
}
TEST(Find, GivesTheValuesOfAMapOfFixedValues) {
  run_oracles(5);
}
TEST(Find, GivesTheValuesOfAMapOfVariableValues) {
  run_oracles(-1);
}

TEST(Find, GivesTypedValues) {
  MemoryStore store;
  auto texts = must(Texts::open(*store, "texts"));
  must(texts.update(1, "one"));
  must(texts.update(2, ""));
  EXPECT_EQ(must(texts.find(1)), "one");
  EXPECT_EQ(must(texts.lookup(1)), std::nullopt);
  EXPECT_EQ(must(texts.find(2)), "");
  EXPECT_EQ(must(texts.find(3)), std::nullopt);
  EXPECT_EQ(must(texts.core().find({1, 1})), std::nullopt);
  must(texts.close());
  EXPECT_EQ(texts.find(1).error().code, Errc::kClosed);
}

TEST(Find, GivesTheNewestValueThatMergesHaveFailedToTake) {
  MemoryStore store;
  auto texts = must(Texts::open(*store, "texts"));
  for (const char* const value : {"first", "second"}) {
    must(texts.check_update(1, value));
    const auto merged = texts.core().merge([](auto) { throw std::runtime_error("as wanted"); });
    EXPECT_EQ(merged.error().code, Errc::kDispatcherFailed);
    EXPECT_EQ(must(texts.find(1)), value);
  }
  must(texts.check(1));
  EXPECT_EQ(must(texts.find(1)), "second");
}

TEST(Find, SeesNoTransactionOfAnotherThread) {
  MemoryStore store;
  auto texts = must(Texts::open(*store, "texts"));
  must(texts.update(1, "before"));
  auto work = must(Transaction::begin(*store));
  must(texts.update(1, "inside"));
  EXPECT_EQ(must(texts.find(1)), "inside");
  const auto elsewhere = [&] { return must(texts.find(1)); };
  EXPECT_EQ(std::async(std::launch::async, elsewhere).get(), "before");
  must(work.commit());
  EXPECT_EQ(std::async(std::launch::async, elsewhere).get(), "inside");
}

TEST(Find, GivesTheValueThatTheMergeGivesWhereThreadsMeet) {
  MemoryStore store;
  DrumOptions options;
  options.array_elements = 1;  // the second request sends the first into the log
  options.bucket_count = 1;
  options.auto_merge = false;
  auto texts = must(Texts::open(*store, "texts", options));
  auto work = must(Transaction::begin(*store));
  must(texts.update(1, "inside"));
  must(texts.update(2, "inside"));
  const auto update_both = [&] {
    for (const std::uint64_t key : {1U, 2U, 3U}) must(texts.update(key, "outside"));
  };
  std::async(std::launch::async, update_both).get();
  const auto found = std::array{must(texts.find(1)), must(texts.find(2)), must(texts.find(3))};
  must(work.commit());
  must(texts.merge());
  EXPECT_EQ(found,
            (std::array{must(texts.lookup(1)), must(texts.lookup(2)), must(texts.lookup(3))}));
  EXPECT_EQ(found[0], "outside");
}

TEST(Find, RefusesRunsOfAnotherShape) {
  const std::array<std::uint64_t, 3> keys{7, 7, 9};
  const std::string values = "abc";
  format::KeyRun run;
  run.value_bytes = 1;
  run.uniform_tag = format::make_tag(format::Operation::kUpdate, {0});
  run.keys = keys;
  run.values = std::as_bytes(std::span(values));
  std::vector<std::byte> payload;
  format::encode_key_run(run, payload);
  const auto found = must(drum::find_in_run(payload, {8, 1}, 7));
  ASSERT_TRUE(found);
  EXPECT_EQ(string_of(*found), "b");
  EXPECT_FALSE(must(drum::find_in_run(payload, {8, 1}, 8)));
  EXPECT_EQ(drum::find_in_run(payload, {16, 1}, 7).error().code, Errc::kSegmentInvalid);
  EXPECT_EQ(drum::find_in_run(payload, {8, -1}, 7).error().code, Errc::kSegmentInvalid);
  payload.resize(payload.size() - 8);
  EXPECT_EQ(drum::find_in_run(payload, {8, 1}, 7).error().code, Errc::kSegmentInvalid);
}

/// A DRUM of two buckets with keys at their edges, half of them merged.
struct Edges {
  static constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  static constexpr std::array<std::uint64_t, 5> kAll{0, kHalf - 1, kHalf, kHalf + 1, kLast};

  Edges() {
    for (const auto key : {kAll[0], kAll[2], kAll[4]}) must(texts.update(key, "old"));
    must(texts.merge());
    for (const auto key : {kAll[1], kAll[2], kAll[3]}) must(texts.update(key, "new"));
  }
  static DrumOptions options() {
    DrumOptions options;
    options.bucket_count = 2;
    return options;
  }
  std::vector<std::uint64_t> keys() const {
    std::vector<std::uint64_t> found;
    for (const auto key : kAll) {
      if (must(texts.find(key))) found.push_back(key);
    }
    return found;
  }
  std::uint64_t drop(std::uint64_t first, std::uint64_t last) {
    return must(texts.core().drop_keys(first, last, [](auto...) { return true; }));
  }

  MemoryStore store;
  Texts texts = must(Texts::open(*store, "texts", options()));
};

using Numbers = std::vector<std::uint64_t>;

TEST(DropKeys, DropsTheEdgesOfTheRangeAndNoOther) {
  Edges edges;
  const auto [first, below, half, above, last] = Edges::kAll;
  EXPECT_EQ(edges.drop(1, below - 1), 0U);
  EXPECT_EQ(edges.drop(last, 0), 0U);
  EXPECT_EQ(edges.drop(below, half), 2U);
  EXPECT_EQ(edges.keys(), (Numbers{first, above, last}));
  EXPECT_EQ(edges.drop(last, last), 1U);
  EXPECT_EQ(edges.drop(0, 0), 1U);
  EXPECT_EQ(edges.keys(), Numbers{above});
  EXPECT_EQ(edges.drop(0, kLast), 1U);
  EXPECT_EQ(edges.texts.status().key_count, 0U);
  must(edges.texts.update(half, "again"));
  EXPECT_EQ(edges.keys(), Numbers{half});
}

TEST(DropKeys, MergesOnlyTheBucketsOfTheRangeAndCommits) {
  Edges edges;
  EXPECT_EQ(edges.drop(Edges::kHalf, kLast), 3U);
  EXPECT_EQ(edges.texts.status().pending_count, 1U);
  MemoryStore after(edges.store.image());
  auto texts = must(Texts::open(*after, "texts"));
  EXPECT_EQ(must(texts.find(0)), "old");
  EXPECT_EQ(must(texts.find(Edges::kHalf)), std::nullopt);
}

TEST(DropKeys, IsAskedOnThisThreadAndMayNotUseTheStore) {
  Edges edges;
  auto& core = edges.texts.core();
  const auto here = std::this_thread::get_id();
  std::uint64_t asked = 0;
  EXPECT_EQ(must(core.drop_keys(0, kLast,
                                [&](Key16 key, std::span<const std::byte>) {
                                  ++asked;
                                  EXPECT_EQ(std::this_thread::get_id(), here);
                                  EXPECT_EQ(core.find(key).error().code, Errc::kReentrant);
                                  EXPECT_EQ(core.merge().error().code, Errc::kReentrant);
                                  EXPECT_EQ(edges.store->commit().error().code, Errc::kReentrant);
                                  return false;
                                })),
            0U);
  EXPECT_EQ(asked, Edges::kAll.size());
}

TEST(DropKeys, ThrowsOnAndLeavesAllAsItWas) {
  Edges edges;
  const auto throws = [](Key16, std::span<const std::byte>) -> bool { throw 7; };
  EXPECT_THROW((void)edges.texts.core().drop_keys(0, kLast, throws), int);
  EXPECT_EQ(edges.texts.status().pending_count, 3U);
  EXPECT_EQ(edges.keys(), Numbers(Edges::kAll.begin(), Edges::kAll.end()));
  EXPECT_EQ(must(edges.texts.find(Edges::kHalf)), "new");
  EXPECT_EQ(must(edges.texts.merge()).request_count, 3U);
  EXPECT_EQ(edges.drop(0, kLast), 5U);
}

TEST(DropKeys, AsksOnceWhereABucketIsMergedInSlices) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 1;
  options.memory_bytes = 4096;  // a slice is at least 4096 requests
  options.array_elements = 500;
  options.auto_merge = false;
  auto numbers = must(Drum<std::uint64_t, std::uint64_t>::open(*store, "numbers", options));
  constexpr std::uint64_t kCount = 3000;
  for (std::uint64_t i = 0; i < 5 * kCount; ++i) must(numbers.update(i % kCount, i));
  Map asked;
  const auto drops = [&](Key16 key, std::span<const std::byte> value) {
    EXPECT_TRUE(asked.emplace(key, string_of(value)).second);
    return key.head % 2 == 0;
  };
  EXPECT_EQ(must(numbers.core().drop_keys(0, kLast, drops)), kCount / 2);
  EXPECT_EQ(asked.size(), kCount);
  EXPECT_EQ(must(numbers.lookup(1)), 4 * kCount + 1);
  EXPECT_EQ(numbers.status().key_count, kCount / 2);
}

}  // namespace
}  // namespace crawlstore::testing
