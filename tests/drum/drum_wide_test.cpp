// SPDX-License-Identifier: Apache-2.0
//
// Keys of 16 bytes. That such DRUMs equal a map, whatever is done to them, is in
// drum_stream_test.cpp.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "drum/memory_store.h"
#include "drum/sort_requests.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using WideDrum = Drum<Key16>;

/// Counts answers, and remembers the order of the keys.
struct Listener {
  std::uint64_t unique = 0;
  std::uint64_t duplicate = 0;
  std::vector<Key16> keys;

  void unique_key_update(const WideDrum::AnswerType& answer) {
    ++unique;
    keys.push_back(answer.key);
  }
  void duplicate_key_update(const WideDrum::AnswerType& answer) {
    ++duplicate;
    keys.push_back(answer.key);
  }
};

std::vector<Key16> keys_of(const DrumView& view) {
  std::vector<Key16> keys;
  must(view.for_each_key([&](Key16 key, auto) {
    keys.push_back(key);
    return true;
  }));
  return keys;
}

/// `count` keys whose heads are of `head_count` random ones.
std::vector<Key16> random_keys(std::uint64_t seed, std::size_t count, std::size_t head_count) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> heads(head_count);
  for (auto& head : heads) head = random();
  std::vector<Key16> keys(count);
  for (auto& key : keys) key = {heads[random() % head_count], random() % (4 * count)};
  return keys;
}

// covers: D26
TEST(WideDrum, AnswersManyKeysWhateverTheyShare) {
  for (const std::size_t head_count : {1U, 3U, 1000U, 1U << 20}) {
    MemoryStore store;
    DrumOptions options;
    options.bucket_count = 4;
    options.memory_bytes = 1 << 18;
    options.partition_keys_max = 5000;
    auto drum = must(WideDrum::open(*store, "wide", options));
    Listener listener;
    drum.attach(listener);
    const auto keys = random_keys(head_count, 60'000, head_count);
    must(drum.check_update(std::span<const Key16>(keys)));
    must(drum.check_update(std::span<const Key16>(keys)));
    must(drum.merge());
    const std::set<Key16> different(keys.begin(), keys.end());
    EXPECT_EQ(listener.unique, different.size());
    EXPECT_EQ(listener.unique + listener.duplicate, 2 * keys.size());
    must(store->commit());
    EXPECT_TRUE(
        std::equal(different.begin(), different.end(), keys_of(drum_view(*store, "wide")).begin()));
    EXPECT_EQ(drum_view(*store, "wide").info().key_bytes, 16U);
  }
}

TEST(WideDrum, NeverCutsAHeadInTwo) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 1;
  options.partition_keys_max = 100;
  auto drum = must(WideDrum::open(*store, "wide", options));
  NullDispatcher nobody;
  drum.attach(nobody);
  std::set<Key16> all;
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (const Key16& key : random_keys(round % 2, 2000, 10)) {
      const Key16 other{key.head, key.tail + round};
      all.insert(other);
      must(drum.check_update(other));
    }
    must(drum.merge());
    must(store->commit());
    const auto view = drum_view(*store, "wide");
    const auto stored = keys_of(view);
    EXPECT_TRUE(std::equal(stored.begin(), stored.end(), all.begin(), all.end()));
    EXPECT_GT(view.buckets().size(), 5U);
    EXPECT_LE(view.buckets().size(), 20U);
    std::set<std::uint64_t> heads;
    for (const Key16& key : all) heads.insert(key.head);
    for (std::size_t b = 1; b < view.buckets().size(); ++b) {
      EXPECT_TRUE(heads.contains(view.buckets()[b].first_key));
    }
  }
  for (const Key16& key : all) {
    EXPECT_TRUE(must(drum.lookup(key)).has_value());
    EXPECT_EQ(must(drum.contains({key.head, key.tail + 1})),
              all.contains({key.head, key.tail + 1}));
  }
}

TEST(WideDrum, KeepsAnswersAndRequestsWithBothHalves) {
  MemoryStore store;
  auto drum = must(Drum<Key16, std::string, std::string>::open(*store, "wide"));
  must(drum.check_update({7, 1}, "one", "first"));
  must(drum.check_update({7, 2}, "two", "second"));
  must(drum.merge());
  must(drum.check({7, 1}, "waits"));
  must(store->commit());
  std::vector<RawAnswer> told;
  EXPECT_EQ(must(drum.core().take_results(
                {}, [&](auto answers) { told.assign(answers.begin(), answers.end()); })),
            2U);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(Key16(told[0].key, told[0].key_tail), Key16(7, 1));
  EXPECT_EQ(Key16(told[1].key, told[1].key_tail), Key16(7, 2));
  std::vector<Key16> pending;
  must(drum_view(*store, "wide").for_each_pending([&](auto, const RawRequest& request, auto) {
    pending.emplace_back(request.key, request.key_tail);
    return true;
  }));
  EXPECT_EQ(pending, std::vector<Key16>{Key16(7, 1)});
  EXPECT_EQ(must(drum.lookup({7, 2})), "two");
  EXPECT_EQ(must(lookup<Key16, std::string>(drum_view(*store, "wide"), {7, 2})), "two");
}

TEST(WideDrum, RefusesKeysOfTheOtherLength) {
  MemoryStore store;
  auto wide = must(WideDrum::open(*store, "wide"));
  auto narrow = must(Drum<std::uint64_t>::open(*store, "narrow"));
  EXPECT_EQ(code_of(Drum<std::uint64_t>::open(*store, "wide")), Errc::kTypeMismatch);
  EXPECT_EQ(code_of(WideDrum::open(*store, "narrow")), Errc::kTypeMismatch);
  const std::vector<std::uint64_t> eight{1};
  const std::vector<Key16> sixteen{{1, 2}};
  EXPECT_EQ(code_of(wide.core().submit_keys(DrumOperation::kCheck, std::span(eight), {})),
            Errc::kInvalidArgument);
  EXPECT_EQ(code_of(narrow.core().submit_keys(DrumOperation::kCheck, std::span(sixteen), {})),
            Errc::kInvalidArgument);
  EXPECT_EQ(code_of(narrow.core().submit({DrumOperation::kCheck, {}, 1, {}, {}, 2})),
            Errc::kInvalidArgument);
  must(narrow.check_update(1));
  EXPECT_TRUE(must(narrow.core().contains(1)));
  EXPECT_FALSE(must(narrow.core().contains({1, 2})));
  must(store->commit());
  EXPECT_TRUE(must(drum_view(*store, "narrow").contains(1)));
  EXPECT_FALSE(must(drum_view(*store, "narrow").contains({1, 2})));
  must(wide.close());
  store.reopen();
  EXPECT_EQ(code_of(Drum<std::uint64_t>::open(*store, "wide")), Errc::kTypeMismatch);
  EXPECT_EQ(must(DrumCore::open(*store, "wide", 0, {}))->key_bytes(), 16U) << "as it is";
  DrumOptions options;
  options.key_bytes = 12;
  EXPECT_EQ(code_of(DrumCore::open(*store, "twelve", 0, options)), Errc::kInvalidArgument);
}

TEST(WideDrum, SortsByHeadTailAndArrival) {
  std::mt19937_64 random(3);
  for (const std::uint64_t head_count : {1U, 2U, 50U, 100'000U}) {
    for (const std::size_t count : {1U, 2U, 100U, 5000U, 60'000U}) {
      const auto keys = random_keys(random(), count, head_count);
      std::vector<std::uint64_t> heads;
      std::vector<std::uint64_t> tails;
      std::multimap<Key16, std::uint32_t> expected;
      for (const Key16& key : keys) {
        expected.emplace(key, static_cast<std::uint32_t>(heads.size()));
        heads.push_back(key.head);
        tails.push_back(key.tail);
      }
      const std::size_t cut = count / 3 + 1;  // spans as arrays have them
      std::vector<std::span<const std::uint64_t>> head_spans{std::span(heads).first(cut)};
      std::vector<std::span<const std::uint64_t>> tail_spans{std::span(tails).first(cut)};
      if (cut < count) {
        head_spans.push_back(std::span(heads).subspan(cut));
        tail_spans.push_back(std::span(tails).subspan(cut));
      }
      static drum::SortedRequests sorted;  // one after the other uses it
      sorted.sort(head_spans, tail_spans);
      std::size_t i = 0;
      for (const auto& [key, arrival] : expected) {
        ASSERT_EQ(Key16(sorted.keys()[i], sorted.tails()[i]), key);
        ASSERT_EQ(sorted.arrivals()[i++], arrival);
      }
      std::vector<std::uint8_t> repeated(count, 9);
      sorted.keep_first(repeated);
      const std::set<Key16> different(keys.begin(), keys.end());
      EXPECT_EQ(sorted.size(), different.size());
      EXPECT_EQ(static_cast<std::size_t>(std::count(repeated.begin(), repeated.end(), 0)),
                different.size());
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
