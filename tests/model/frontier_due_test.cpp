// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_due.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "drum/memory_store.h"
#include "model/frontier_look.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using model::GroupState;

constexpr std::uint64_t kNow = 1'767'225'600'000;  // 2026-01-01
const FrontierRule kRule{.delay_ms = 2000, .hard_ms = 2000};

GroupState waiting() {
  return {{.key = "a.test", .waiting_count = 2}};
}

std::string why(const GroupState& state, const FrontierRule& rule = kRule) {
  return model::why_not_now(state, rule, kNow);
}

std::optional<std::uint64_t> due(const GroupState& state, const FrontierRule& rule = kRule) {
  return model::due_ms(state, rule);
}

TEST(GroupDue, IsAtOnceWhereNothingHoldsIt) {
  EXPECT_EQ(why(waiting()), "");
  EXPECT_EQ(due(waiting()), 0U);
}

TEST(GroupDue, NamesTheDelay) {
  GroupState state = waiting();
  state.group.soft_time_ms = state.group.hard_time_ms = kNow + 1500;
  EXPECT_EQ(why(state), "delay of 2.0 s");
  EXPECT_EQ(due(state), kNow + 1500);
  state.group.hard_time_ms = kNow - 1;
  EXPECT_EQ(why(state, {.delay_ms = 500, .hard_ms = 100}),
            "delay of 500 ms, now only if no other group is due");
  EXPECT_EQ(due(state), kNow - 1);
  state.group.soft_time_ms = kNow;
  EXPECT_EQ(why(state), "");
}

TEST(GroupDue, LetsABurstComeEarlier) {
  GroupState state = waiting();
  state.group.soft_time_ms = state.group.hard_time_ms = kNow + 3000;
  EXPECT_EQ(due(state, {.delay_ms = 2000, .hard_ms = 2000, .burst = 2}), kNow + 1000);
  EXPECT_EQ(due(state, {.delay_ms = 2000, .hard_ms = 2000, .burst = 3}), kNow - 1000);
  EXPECT_EQ(why(state, {.delay_ms = 2000, .hard_ms = 2000, .burst = 3}), "");
  state.group.soft_time_ms = state.group.hard_time_ms = 5;
  EXPECT_EQ(due(state, {.delay_ms = 2000, .hard_ms = 2000, .burst = UINT32_MAX}), 0U);
}

TEST(GroupDue, NamesTheFailures) {
  GroupState state = waiting();
  state.group.soft_time_ms = state.group.hard_time_ms = kNow + 9000;
  state.group.failure_count = 1;
  EXPECT_EQ(why(state), "back-off after 1 failure: delay of 4.0 s");
  state.group.failure_count = 6;
  EXPECT_EQ(why(state), "back-off after 6 failures: delay of 2 min 08 s");
}

TEST(GroupDue, NamesTheLimitInFlight) {
  GroupState state = waiting();
  state.group.leased_count = 2;
  state.lease_ends_ms = {kNow + 5000, 0};
  EXPECT_EQ(why(state, {.in_flight_max = 2}),
            "in-flight limit of 2 reached, a lease ends in 5.0 s");
  EXPECT_EQ(due(state, {.in_flight_max = 2}), kNow + 5000);
  EXPECT_EQ(why(state), "in-flight limit of 1 reached, no lease has an end");
  EXPECT_EQ(due(state), std::nullopt);
  state.lease_ends_ms = {kNow - 5000, kNow};
  EXPECT_EQ(why(state), "") << "both have ended, though no step says so";
}

TEST(GroupDue, NamesWhatTheRuleForbids) {
  GroupState state = waiting();
  state.group.rule = {.blocked_until_ms = kNow + 60'000};
  EXPECT_EQ(why(state), "blocked until 2026-01-01T00:01:00Z");
  EXPECT_EQ(due(state), kNow + 60'000);
  state.group.rule->is_active = false;
  EXPECT_EQ(why(state), "not active");
  EXPECT_EQ(due(state), std::nullopt);
}

TEST(GroupDue, NamesWhatDoesNotWait) {
  GroupState state{{.key = "a.test"}};
  EXPECT_EQ(why(state), "nothing waits");
  EXPECT_EQ(due(state), std::nullopt);
  state.group.later_count = 1;
  state.first_later_ms = kNow + 3200;
  EXPECT_EQ(why(state), "only later items, the first in 3.2 s");
  EXPECT_EQ(due(state), kNow + 3200);
  state.group.leased_count = 1;
  state.lease_ends_ms = {kNow + 1000};
  EXPECT_EQ(why(state), "only later items, the first in 3.2 s, 1 leased");
  EXPECT_EQ(due(state), kNow + 1000) << "what nobody finishes comes back";
  state.first_later_ms.reset();
  EXPECT_EQ(why(state), "nothing waits, 1 leased");
  state.first_later_ms = kNow;
  EXPECT_EQ(model::why_not_now(state, {.in_flight_max = 2}, kNow), "") << "its time has come";
}

TEST(GroupDue, IsToldInALine) {
  GroupState state = waiting();
  EXPECT_EQ(model::describe_group(state, kRule, kNow), "2 wait, 0 leased; due now");
  state.group.later_count = 3;
  state.group.soft_time_ms = state.group.hard_time_ms = kNow + 1500;
  EXPECT_EQ(model::describe_group(state, kRule, kNow),
            "2 wait, 3 later, 0 leased; due in 1.5 s: delay of 2.0 s");
  state.group.rule = {.is_active = false};
  EXPECT_EQ(model::describe_group(state, kRule, kNow),
            "2 wait, 3 later, 0 leased; never due by itself: not active");
}

/// A store with a frontier to which something happens at random.
struct RandomCrawl {
  MemoryStore store;
  Frontier frontier = must(Frontier::open(*store, "frontier", {.default_rule = kRule}));
  SeededRandom random{};
  std::uint64_t now_ms = kNow;
  std::vector<std::uint64_t> ids{};

  std::string group() { return std::string(1, static_cast<char>('a' + random.below(6))); }
  void step() {
    now_ms += random.below(1500);
    const std::string key = group();
    switch (random.below(6)) {
      case 0:
        must(frontier.put(
            std::vector<FrontierItem>{{key, static_cast<double>(random.below(9)), "x",
                                       random.one_in(3) ? now_ms + random.below(9000) : 0}}));
        break;
      case 1:
        must(frontier.set_rule(
            key, {.delay_ms = 1000 + random.below(3000),
                  .hard_ms = random.below(1000),
                  .burst = static_cast<std::uint32_t>(random.one_in(20) ? 3 : 1),
                  .in_flight_max = 1 + static_cast<std::uint32_t>(random.below(2)),
                  .blocked_until_ms = random.one_in(4) ? now_ms + random.below(9000) : 0,
                  .is_active = !random.one_in(4)}));
        break;
      case 2:
        if (ids.empty()) break;
        must(frontier.give_back(std::vector<GivenBack>{{ids.back(), 0, random.one_in(2)}}, now_ms));
        ids.pop_back();
        break;
      default:
        for (const TakenItem& item : must(frontier.take({.count = 2,
                                     .lease_ms = random.one_in(4) ? 0 : random.below(9000),
                                     .now_ms = now_ms}))) {
          ids.push_back(item.id);
        }
    }
  }
};

/// The library goes by its schedule, which is another implementation.
TEST(GroupDue, IsThatOfTheLibraryAtRandom) {
  RandomCrawl crawl;
  for (int i = 0; i < 400; ++i) {
    crawl.step();
    must(crawl.store->commit());
    const auto view = must(FrontierView::open(must(crawl.store->snapshot())));
    const model::FrontierLook look = must(model::look_at(view));
    std::optional<std::uint64_t> first;
    for (const auto* times : {&look.due_ms, &look.later_ms, &look.lease_ends_ms}) {
      if (!times->empty()) first = std::min(first.value_or(UINT64_MAX), times->front());
    }
    const std::uint64_t clock_ms = look.info.clock_ms;
    if (first) first = std::max(*first, clock_ms);
    auto expected = look.next_due_ms;
    if (expected) expected = std::max(*expected, clock_ms);
    EXPECT_EQ(first, expected) << "step " << i;
    for (const GroupState& state : look.groups) {
      const auto one = must(model::group_state(view, state.group.key));
      ASSERT_TRUE(one);
      EXPECT_EQ(model::due_ms(*one, look.info.default_rule),
                model::due_ms(state, look.info.default_rule));
      const auto time = model::due_ms(state, look.info.default_rule);
      const std::string text = model::why_not_now(state, look.info.default_rule, clock_ms);
      const bool is_due = time && *time <= clock_ms;
      EXPECT_TRUE(is_due || !text.empty()) << state.group.key;
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
