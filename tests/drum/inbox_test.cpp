// SPDX-License-Identifier: Apache-2.0
#include "drum/inbox.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::drum {
namespace {

constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
constexpr Shape kNoValues{8, 0};
constexpr Shape kValues{8, -1};

RawRequest update(std::uint64_t key, std::span<const std::byte> value = {}) {
  return {DrumOperation::kUpdate, {}, key, value, {}, 0};
}
RawRequest check(std::uint64_t key) {
  return {DrumOperation::kCheck, {}, key, {}, {}, 0};
}

Inbox two_buckets(Shape shape) {
  Inbox inbox(shape);
  inbox.reshape({0, kHalf});
  return inbox;
}

DrumStatus status_of(const Inbox& inbox) {
  DrumStatus status;
  inbox.add_to(status);
  return status;
}

TEST(Inbox, FindsWhatItInserts) {
  Inbox inbox = two_buckets(kNoValues);
  inbox.arrays.append(0, update(5));
  inbox.arrays.append(0, check(6));
  inbox.arrays.append(inbox.bucket_of(kHalf + 5), update(kHalf + 5));
  EXPECT_TRUE(inbox.find({5, 0}, false));
  EXPECT_FALSE(inbox.find({6, 0}, false)) << "a check inserts nothing";
  EXPECT_TRUE(inbox.find({kHalf + 5, 0}, false));
  EXPECT_EQ(status_of(inbox).pending_count, 3U);
}

TEST(Inbox, KeepsATransactionApart) {
  Inbox inbox = two_buckets(kNoValues);
  inbox.append_tentative(0, update(5));
  EXPECT_FALSE(inbox.find({5, 0}, false));
  EXPECT_TRUE(inbox.find({5, 0}, true));
  EXPECT_TRUE(inbox.is_tentative({5, 0}));
  EXPECT_EQ(inbox.arrays.bytes(), 0U) << "it does not call for merges";
  inbox.drop_tentative();
  EXPECT_FALSE(inbox.find({5, 0}, true));
  EXPECT_EQ(inbox.run_count(0), 0U);
}

TEST(Inbox, CountsSealedRequestsUntilTheyAreForgotten) {
  Inbox inbox = two_buckets(kNoValues);
  for (std::uint64_t key = 0; key < 1000; ++key) inbox.arrays.append(0, update(key));
  const std::uint64_t bytes = inbox.arrays.bytes();
  EXPECT_TRUE(inbox.fills(bytes));
  EXPECT_EQ(inbox.seal(0, 42), 1000U);
  EXPECT_EQ(inbox.seal(0, 42), 0U) << "the array is empty now";
  EXPECT_EQ(inbox.arrays.bytes(), 0U);
  EXPECT_EQ(inbox.sealed.of(0).at(0).first_sequence, 42U);
  EXPECT_TRUE(inbox.find({999, 0}, false));
  auto taken = inbox.sealed.take(0);
  EXPECT_FALSE(inbox.find({999, 0}, false));
  EXPECT_TRUE(inbox.fills(bytes)) << "they are in memory still";
  inbox.sealed.give_back(0, std::move(taken));
  EXPECT_TRUE(inbox.find({999, 0}, false));
  inbox.sealed.forget(inbox.sealed.take(0));
  EXPECT_FALSE(inbox.fills(1));
}

TEST(Inbox, KeepsRequestsWhenBucketsAreAdded) {
  Inbox inbox = two_buckets(kNoValues);
  inbox.arrays.append(0, update(5));
  inbox.arrays.append(1, update(kHalf + 5));
  inbox.seal(1, 0);
  inbox.reshape({0, kHalf, kHalf + kHalf / 2});
  EXPECT_EQ(inbox.arrays.size(), 3U);
  EXPECT_TRUE(inbox.find({5, 0}, false));
  EXPECT_TRUE(inbox.find({kHalf + 5, 0}, false));
  inbox.reshape({0, kHalf});
  EXPECT_EQ(inbox.sealed.of(1).size(), 1U);
}

TEST(Inbox, RemembersAHotArrayUntilItCools) {
  Inbox inbox = two_buckets(kNoValues);
  for (std::uint64_t key = 0; key < 1000; ++key) inbox.arrays.append(0, update(key));
  inbox.look_for_heat(0, 1 << 20);
  EXPECT_FALSE(inbox.has_hot_array());
  inbox.look_for_heat(0, 16 << 10);
  EXPECT_TRUE(inbox.has_hot_array());
  EXPECT_TRUE(inbox.fills(1 << 20));
  inbox.cool();
  EXPECT_FALSE(inbox.fills(1 << 20));
}

/// The fast way and the other one take the same requests, with the same repeats.
TEST(Inbox, TakesPlainKeysAsAllOthers) {
  testing::SeededRandom random;
  for (const Repeats repeats : {Repeats::kAnswer, Repeats::kDrop}) {
    Inbox fast = two_buckets(kNoValues);
    Inbox slow = two_buckets(kNoValues);
    fast.arrays.tune(1 << 10, repeats);
    slow.arrays.tune(1 << 10, repeats);
    std::vector<std::uint64_t> keys(20'000);
    for (auto& key : keys) key = (1 + random.below(700)) * 0x9E3779B97F4A7C15;
    const auto tag = format::make_tag(format::Operation::kUpdate, {0});
    for (std::size_t i = 0; i < keys.size();) {
      i += fast.append_plain(tag, std::span<const std::uint64_t>(keys).subspan(i));
      if (i < keys.size()) fast.arrays.append(fast.bucket_of(keys[i]), update(keys[i]));
      ++i;
    }
    for (const auto key : keys) slow.arrays.append(slow.bucket_of(key), update(key));
    const DrumStatus a = status_of(fast);
    const DrumStatus b = status_of(slow);
    EXPECT_EQ(a.pending_count, b.pending_count);
    EXPECT_EQ(a.repeat_count, b.repeat_count);
    EXPECT_EQ(a.dropped_count, b.dropped_count);
    EXPECT_GT(a.repeat_count + a.dropped_count, 10'000U);
    for (const Inbox* inbox : {&fast, &slow}) {
      EXPECT_EQ(inbox->arrays.bytes(),
                inbox->arrays[0].request_bytes() + inbox->arrays[1].request_bytes());
    }
    EXPECT_EQ(fast.arrays.bytes(), slow.arrays.bytes());
  }
}

/// Random calls against maps: each request is in one place, and the newest value is found.
TEST(Inbox, FindsTheNewestValueOfAModel) {
  testing::SeededRandom random;
  Inbox inbox = two_buckets(kValues);
  struct Place {
    std::map<std::uint64_t, std::string> array;
    std::map<std::uint64_t, std::string> tentative;
    std::deque<std::map<std::uint64_t, std::string>> sealed;
  };
  std::vector<Place> model(2);
  const auto expected = [&](std::uint64_t key, bool in_transaction) -> std::optional<std::string> {
    const Place& place = model[key >= kHalf ? 1 : 0];
    const auto in = [&](const auto& map) { return map.find(key) != map.end(); };
    if (in_transaction && in(place.tentative)) return place.tentative.at(key);
    if (in(place.array)) return place.array.at(key);
    for (auto map = place.sealed.rbegin(); map != place.sealed.rend(); ++map) {
      if (in(*map)) return map->at(key);
    }
    return std::nullopt;
  };
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t key = random.below(2) * kHalf + random.below(20);
    const std::size_t bucket = inbox.bucket_of(key);
    Place& place = model[bucket];
    const std::uint64_t action = random.below(10);
    if (action < 6) {
      const std::string value = std::to_string(step).substr(0, random.below(6));
      const auto request = update(key, std::as_bytes(std::span(value)));
      action < 4 ? inbox.arrays.append(bucket, request) : inbox.append_tentative(bucket, request);
      (action < 4 ? place.array : place.tentative)[key] = value;
    } else if (action == 6 && random.below(10) == 0) {
      if (inbox.seal(bucket, 0) != 0) place.sealed.push_back(std::exchange(place.array, {}));
    } else if (action == 7 && random.below(10) == 0 && !place.sealed.empty()) {
      inbox.sealed.drop_oldest(bucket);
      place.sealed.pop_front();
    } else if (action == 8 && random.below(20) == 0) {
      (void)inbox.arrays.take(bucket);
      place.array.clear();
    } else if (action == 9 && random.below(20) == 0) {
      inbox.drop_tentative();
      for (auto& each : model) each.tentative.clear();
    }
    const bool in_transaction = random.below(2) == 0;
    const auto found = inbox.find({key, 0}, in_transaction);
    const auto wanted = expected(key, in_transaction);
    ASSERT_EQ(found.has_value(), wanted.has_value()) << step;
    if (found) {
      ASSERT_TRUE(std::ranges::equal(*found, std::as_bytes(std::span(*wanted)))) << step;
    }
    ASSERT_EQ(inbox.is_tentative({key, 0}), place.tentative.contains(key));
    ASSERT_EQ(inbox.run_count(bucket), place.sealed.size() + (place.array.empty() ? 0 : 1) +
                                           (place.tentative.empty() ? 0 : 1));
  }
}

}  // namespace
}  // namespace crawlstore::drum
