// SPDX-License-Identifier: Apache-2.0
//
// The window's slots and rests, and the notes of repeats.

#include "drum/recent_keys.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "drum/repeat_notes.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

using drum::Arrivals;
using drum::RecentKeys;
using drum::RepeatNotes;

TEST(RepeatNotes, ReturnArrivalOrderWhateverTheGaps) {
  struct Case {
    std::uint64_t key_count;
    std::uint64_t one_repeat_in;
  };
  for (const auto& [key_count, one_in] :
       {Case{3, 1}, Case{5000, 2}, Case{9000, 254}, Case{9000, 256}, Case{400000, 140000}}) {
    Random random(one_in);
    RepeatNotes notes;
    std::vector<std::uint64_t> keys;
    std::vector<std::uint64_t> all;
    while (keys.size() < key_count) {
      keys.push_back(random.next());
      all.push_back(keys.back());
      while (random.below(one_in) == 0 && all.size() < 4 * key_count) {
        const std::uint64_t back = random.below(std::min<std::uint64_t>(keys.size(), 0x10000));
        notes.append(keys.size(), keys.size() - 1 - back, 7, 7);
        all.push_back(keys[keys.size() - 1 - back]);
      }
    }
    ASSERT_EQ(notes.count(), all.size() - keys.size());
    EXPECT_GE(notes.request_bytes(), notes.count() * 3);
    const std::vector<std::span<const std::uint64_t>> spans{keys};
    Arrivals arrivals(spans, {}, &notes);
    std::size_t repeat_count = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto arrival = arrivals.next();
      ASSERT_EQ(arrival.key, all[i]) << i;
      repeat_count += arrival.is_repeat ? 1 : 0;
      ASSERT_EQ(arrival.index, arrival.is_repeat ? repeat_count - 1 : i - repeat_count);
    }
    EXPECT_EQ(repeat_count, notes.count());
  }
}

TEST(RepeatNotes, ReachNoFurtherThanTwoBytesSay) {
  EXPECT_TRUE(RepeatNotes::can_reach(1, 0));
  EXPECT_TRUE(RepeatNotes::can_reach(0x10000, 0));
  EXPECT_FALSE(RepeatNotes::can_reach(0x10001, 0));
}

TEST(RepeatNotes, CountUpdatesAsNoDuplicates) {
  const auto check = format::make_tag(format::Operation::kCheck, {3});
  const auto update = format::make_tag(format::Operation::kUpdate, {3});
  RepeatNotes notes;
  notes.append(1, 0, check, check);
  notes.append(1, 0, check, check);
  EXPECT_TRUE(notes.tags().empty());
  EXPECT_EQ(notes.duplicate_count(check), 2U);
  EXPECT_EQ(notes.duplicate_count(update), 0U);
  notes.append(1, 0, update, check);
  notes.append(1, 0, check, check);
  const std::vector<std::uint16_t> tags(notes.tags().begin(), notes.tags().end());
  EXPECT_EQ(tags, (std::vector<std::uint16_t>{check, check, update, check}));
  EXPECT_EQ(notes.duplicate_count(check), 3U);
  EXPECT_EQ(notes.request_bytes(), 4 * 3 + 4 * 2U);
}

TEST(RecentKeys, FindsNothingOfAnArrayThatEnded) {
  RecentKeys recent;
  recent.resize(5);
  EXPECT_EQ(recent.size(), 8U);
  recent.wake();
  EXPECT_EQ(recent.find(0, 0), RecentKeys::kNotFound);
  const auto first = recent.begin_array();
  recent.note(42, first, 17);
  EXPECT_EQ(recent.find(42, first), 17U);
  EXPECT_EQ(recent.find(43, first), RecentKeys::kNotFound);
  EXPECT_EQ(recent.find(42, recent.begin_array()), RecentKeys::kNotFound);
  recent.resize(0);
  EXPECT_FALSE(recent.is_awake());
}

TEST(RecentKeys, RestsWhileFewRequestsRepeat) {
  RecentKeys recent;
  recent.resize(64);
  recent.count(63, 0);
  EXPECT_TRUE(recent.is_awake());
  recent.count(1, 64 / RecentKeys::kRequestsPerRepeat);  // just too few
  EXPECT_FALSE(recent.is_awake());
  recent.count(64 * RecentKeys::kRest - 1, 0);
  EXPECT_FALSE(recent.is_awake());
  recent.count(1, 0);
  EXPECT_TRUE(recent.is_awake());
  recent.count(64, 64 / RecentKeys::kRequestsPerRepeat + 1);
  EXPECT_TRUE(recent.is_awake());
}

}  // namespace
}  // namespace crawlstore::testing
