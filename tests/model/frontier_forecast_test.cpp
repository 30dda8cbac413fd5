// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_forecast.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "drum/memory_store.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using model::FrontierForecast;

constexpr std::uint64_t kNow = 1'767'225'600'000;  // 2026-01-01
constexpr std::uint64_t kMinute = 60'000;

class Forecast : public ::testing::Test {
 protected:
  void put(const std::string& group, std::size_t count, std::uint64_t not_before_ms = 0) {
    const std::vector<FrontierItem> items(count, {group, 1, "x", not_before_ms});
    must(frontier_.put(items));
  }
  void set_delay(const std::string& group, std::uint64_t ms, std::string parent = {}) {
    FrontierRule rule{.delay_ms = ms, .hard_ms = ms};
    if (!parent.empty()) rule.parent = std::move(parent);
    must(frontier_.set_rule(group, rule));
  }
  FrontierForecast forecast(std::uint64_t ms = kMinute) {
    must(store_->commit());
    const auto view = must(FrontierView::open(must(store_->snapshot())));
    return must(model::forecast(view, {.now_ms = kNow, .end_ms = kNow + ms}));
  }
  std::vector<TakenItem> take(std::uint64_t now_ms, std::uint64_t lease_ms = 0) {
    return must(frontier_.take({.count = 1000, .lease_ms = lease_ms, .now_ms = now_ms}));
  }
  /// Takes one item a visit, as soon as it may be, and ends it at once. Returns how many came.
  std::uint64_t crawl(std::uint64_t ms) {
    std::uint64_t count = 0;
    for (std::uint64_t now = kNow; now <= kNow + ms;) {
      std::vector<std::uint64_t> ids;
      for (const TakenItem& item : take(now)) ids.push_back(item.id);
      must(frontier_.finish(ids, now));
      count += ids.size();
      if (ids.empty()) now = std::max(now + 1, frontier_.next_due_ms().value_or(UINT64_MAX));
    }
    return count;
  }

  MemoryStore store_;
  Frontier frontier_ = must(Frontier::open(*store_));
};

TEST_F(Forecast, GoesByTheDelaysOfGroups) {
  put("a.test", 100);
  put("b.test", 3);
  put("c.test", 100);
  put("d.test", 100);
  set_delay("a.test", 2000);
  set_delay("c.test", 0);
  must(frontier_.set_rule("d.test", {.is_active = false}));
  const auto found = forecast();
  EXPECT_EQ(found.visitable_group_count, 3U);
  EXPECT_EQ(found.takeable_count, 31U + 3U + 100U);
}

TEST_F(Forecast, BeginsWithTheNextVisit) {
  put("a.test", 100);
  set_delay("a.test", 10'000);
  const std::uint64_t id = take(kNow).front().id;
  EXPECT_EQ(forecast().takeable_count, 0U) << "it is leased for ever, and no more may be";
  must(frontier_.finish(std::vector{id}, kNow));
  EXPECT_EQ(forecast().visitable_group_count, 0U);
  EXPECT_EQ(forecast().takeable_count, 6U);
  EXPECT_EQ(forecast(9'999).takeable_count, 0U);
  EXPECT_EQ(forecast(10'000).takeable_count, 1U);
}

TEST_F(Forecast, CountsItemsAndLeasesUpToTheEnd) {
  put("a.test", 2);
  put("b.test", 1, kNow + kMinute);
  put("b.test", 1, kNow + kMinute + 1);
  (void)take(kNow, kMinute);
  const auto found = forecast();
  EXPECT_EQ(found.due_item_count, 1U);
  EXPECT_EQ(found.ending_lease_count, 1U);
  EXPECT_EQ(found.takeable_count, 2U) << "one of a.test, when the lease ends, and one of b.test";
  EXPECT_EQ(forecast(kMinute - 1).takeable_count, 0U);
  EXPECT_EQ(forecast(kMinute - 1).ending_lease_count, 0U);
}

TEST_F(Forecast, CountsWhatHasComeBack) {
  put("a.test", 1);
  (void)must(frontier_.take({.lease_ms = 1000, .now_ms = kNow - kMinute}));
  EXPECT_EQ(forecast().visitable_group_count, 1U);
  EXPECT_EQ(forecast().takeable_count, 1U);
}

TEST_F(Forecast, KeepsTheRuleOfAParent) {
  set_delay("10.0.0.1", 2000);
  put("10.0.0.1", 5);
  for (const char* child : {"a.test", "b.test"}) {
    put(child, 100);
    set_delay(child, 3000, "10.0.0.1");
  }
  EXPECT_EQ(forecast().takeable_count, 31U);
  EXPECT_EQ(crawl(kMinute), 31U);
}

/// All of a rule but `hard` and parents, with which a crawl may miss the best order.
TEST_F(Forecast, SaysWhatACrawlWithoutPausesTakes) {
  SeededRandom dice;
  const auto below = [&dice](std::uint64_t end) { return dice.below(end); };
  for (int i = 0; i < 30; ++i) {
    const std::string group = "h" + std::to_string(i);
    put(group, below(40));
    if (below(3) == 0) put(group, below(9), kNow);
    const std::uint64_t delay = below(8) == 0 ? 0 : 1 + below(9000);
    must(frontier_.set_rule(group, {.delay_ms = delay,
                                    .hard_ms = delay,
                                    .burst = 1 + static_cast<std::uint32_t>(below(4)),
                                    .in_flight_max = 1 + static_cast<std::uint32_t>(below(3)),
                                    .blocked_until_ms = below(4) == 0 ? kNow + below(90'000) : 0,
                                    .is_active = below(9) != 0}));
  }
  for (const TakenItem& item : take(kNow - 3000)) {
    const std::vector<std::uint64_t> ids{item.id};
    const std::vector<GivenBack> failed{{.id = item.id, .is_failure = true}};
    const std::uint64_t end = below(3);
    if (end == 0) must(frontier_.finish(ids, kNow - 3000));
    if (end == 1) must(frontier_.give_back(failed, kNow - 3000));
  }
  const std::uint64_t expected = forecast().takeable_count;
  EXPECT_EQ(crawl(kMinute), expected);
}

}  // namespace
}  // namespace crawlstore::testing
