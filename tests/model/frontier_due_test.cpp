// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_due.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drum/memory_store.h"
#include "model/frontier_look.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using model::GroupState;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

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
  state.first_return_ms = kNow + 1000;
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

/// A group whose parent lets it be visited.
struct Child {
  Child() { state.parent = parent; }

  std::shared_ptr<model::ParentState> parent = std::make_shared<model::ParentState>(
      model::ParentState{{.key = "10.0.0.1", .rule = FrontierRule{.in_flight_max = 4}}});
  GroupState state = waiting();
};

TEST(GroupDue, NamesTheDelayOfTheParent) {
  Child child;
  EXPECT_EQ(why(child.state), "");
  FrontierGroup& above = child.parent->group;
  above.rule->delay_ms = 2000;
  above.soft_time_ms = above.hard_time_ms = kNow + 1500;
  EXPECT_EQ(why(child.state), "parent 10.0.0.1: delay of 2.0 s");
  EXPECT_EQ(due(child.state), kNow + 1500);
  above.failure_count = 2;
  EXPECT_EQ(why(child.state), "parent 10.0.0.1: back-off after 2 failures: delay of 8.0 s");
  above.hard_time_ms = kNow;
  EXPECT_EQ(why(child.state),
            "parent 10.0.0.1: back-off after 2 failures: delay of 8.0 s, now only if no other "
            "group is due");
  EXPECT_EQ(due(child.state), kNow);
  above.rule.reset();
  EXPECT_EQ(why(child.state, {.delay_ms = 3000, .burst = 9}), "") << "the default is its rule, too";
}

TEST(GroupDue, CountsTheLeasesOfAllChildrenOfTheParent) {
  Child child;
  child.parent->lease_ends_ms = {kNow + 3000, kNow + 4000, 0};
  EXPECT_EQ(due(child.state), 0U);
  child.parent->lease_ends_ms.push_back(0);
  EXPECT_EQ(why(child.state),
            "parent 10.0.0.1: in-flight limit of 4 reached, a lease ends in 3.0 s");
  EXPECT_EQ(due(child.state), kNow + 3000);
  EXPECT_EQ(model::describe_group(child.state, kRule, kNow),
            "2 wait, 0 leased; due in 3.0 s: parent 10.0.0.1: in-flight limit of 4 reached, a "
            "lease ends in 3.0 s");
  child.parent->group.rule->in_flight_max = 2;
  EXPECT_EQ(due(child.state), std::nullopt);
  GroupState above{child.parent->group};
  above.group.waiting_count = 1;
  above.lease_ends_ms = child.parent->lease_ends_ms;
  EXPECT_EQ(why(above), "in-flight limit of 2 reached, no lease has an end")
      << "of its own items, too";
}

TEST(GroupDue, NamesWhatTheRuleOfTheParentForbids) {
  Child child;
  child.parent->group.rule->blocked_until_ms = kNow + 60'000;
  EXPECT_EQ(why(child.state), "parent 10.0.0.1: blocked until 2026-01-01T00:01:00Z");
  EXPECT_EQ(due(child.state), kNow + 60'000);
  child.parent->group.rule->is_active = false;
  EXPECT_EQ(why(child.state), "parent 10.0.0.1: not active");
  EXPECT_EQ(due(child.state), std::nullopt);
  child.state.group.rule = {.is_active = false};
  EXPECT_EQ(why(child.state), "not active");
  child.state = GroupState{.group = {.key = "a.test"}, .parent = child.parent};
  child.parent->group.rule->is_active = true;
  EXPECT_EQ(why(child.state), "nothing waits");
}

/// A reader wants to know how long it takes.
TEST(GroupDue, NamesTheRuleThatKeepsItWaitingLonger) {
  Child child;
  child.state.group.leased_count = 1;
  child.state.lease_ends_ms = {kNow + 5000};
  FrontierGroup& above = child.parent->group;
  above.soft_time_ms = above.hard_time_ms = kNow + 1000;
  EXPECT_EQ(why(child.state), "in-flight limit of 1 reached, a lease ends in 5.0 s");
  above.soft_time_ms = above.hard_time_ms = kNow + 6000;
  EXPECT_EQ(why(child.state), "parent 10.0.0.1: delay of 1.0 s");
  EXPECT_EQ(due(child.state), kNow + 6000);
  child.state.lease_ends_ms.clear();
  child.state.group.soft_time_ms = kNow + 9000;
  above.hard_time_ms = kNow + 10;
  EXPECT_EQ(why(child.state), "parent 10.0.0.1: delay of 1.0 s") << "it is due with the parent";
  above.hard_time_ms = 0;
  EXPECT_EQ(why(child.state), "delay of 2.0 s, now only if no other group is due");
}

/// A store with a frontier to which something happens at random: groups "a" to "f", some of which
/// have a parent "p" or "q".
struct RandomCrawl {
  MemoryStore store;
  Frontier frontier = must(Frontier::open(*store, "frontier", {.default_rule = kRule}));
  SeededRandom random{};
  std::uint64_t now_ms = kNow;
  std::vector<std::uint64_t> ids{};

  std::string group() { return std::string(1, static_cast<char>('a' + random.below(6))); }
  std::string parent() { return random.one_in(2) ? "p" : "q"; }
  FrontierRule rule() {
    return {.delay_ms = 1000 + random.below(3000),
            .hard_ms = random.below(1000),
            .burst = static_cast<std::uint32_t>(random.one_in(20) ? 3 : 1),
            .in_flight_max = 1 + static_cast<std::uint32_t>(random.below(2)),
            .blocked_until_ms = random.one_in(4) ? now_ms + random.below(9000) : 0,
            .is_active = !random.one_in(4)};
  }
  void step() {
    now_ms += random.below(1500);
    const bool is_of_parent = random.one_in(5);
    const std::string key = is_of_parent ? parent() : group();
    switch (random.below(6)) {
      case 0:
        must(frontier.put(
            std::vector<FrontierItem>{{key, static_cast<double>(random.below(9)), "x",
                                       random.one_in(3) ? now_ms + random.below(9000) : 0}}));
        break;
      case 1: {
        FrontierRule changed = rule();
        if (!is_of_parent && !random.one_in(3)) changed.parent = parent();
        must(frontier.set_rule(key, changed));
        break;
      }
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

/// Returns the groups that a copy of the store visits when no group may be visited but one, and its
/// parent, all items of which that wait are gone.
std::vector<std::string> visited_alone(const std::vector<std::byte>& image,
                                       const model::FrontierLook& look, const GroupState& state,
                                       std::uint64_t now_ms) {
  MemoryStore store(image);
  Frontier frontier = must(Frontier::open(*store));
  for (const GroupState& other : look.groups) {
    if (&other == &state) continue;
    if (state.parent && other.group.key == state.parent->group.key) {
      must(frontier.drop_group(other.group.key));
      continue;
    }
    FrontierRule rule = other.group.rule.value_or(look.info.default_rule);
    rule.is_active = false;
    must(frontier.set_rule(other.group.key, rule));
  }
  std::vector<std::string> groups;
  for (const TakenItem& item : must(frontier.take({.count = 100, .now_ms = now_ms}))) {
    groups.push_back(item.group);
  }
  return groups;
}

/// Whether an item of the parent that is leased now would be taken in front of those of the group.
bool competes(const model::FrontierLook& look, const GroupState& state, std::uint64_t due_ms) {
  const GroupState* const parent = state.parent ? look.find(state.parent->group.key) : nullptr;
  return parent != nullptr && parent->first_return_ms.value_or(UINT64_MAX) <= due_ms;
}

void expect_visit_when_due(const std::vector<std::byte>& image, const model::FrontierLook& look,
                           const GroupState& state) {
  const std::uint64_t clock_ms = look.info.clock_ms;
  const auto visited_at = [&](std::uint64_t time_ms) {
    return visited_alone(image, look, state, time_ms);
  };
  const auto time_ms = model::due_ms(state, look.info.default_rule);
  if (!time_ms) {
    EXPECT_THAT(visited_at(clock_ms + 1'000'000), Not(Contains(state.group.key)));
  } else if (!competes(look, state, *time_ms)) {
    EXPECT_THAT(visited_at(std::max(*time_ms, clock_ms)), ElementsAre(state.group.key));
    if (*time_ms <= clock_ms) return;
    EXPECT_THAT(visited_at(*time_ms - 1), IsEmpty());
  }
}

TEST(GroupDue, IsWhenTakeVisitsTheGroupAlone) {
  RandomCrawl crawl;
  int parent_count = 0;
  for (int i = 0; i < 500; ++i) {
    crawl.step();
    must(crawl.store->commit());
    const auto look = must(model::look_at(must(FrontierView::open(must(crawl.store->snapshot())))));
    const GroupState* const state = look.find(crawl.group());
    if (state == nullptr) continue;
    const std::string why = model::why_not_now(*state, look.info.default_rule, look.info.clock_ms);
    SCOPED_TRACE(state->group.key + " at step " + std::to_string(i) + ": " + why);
    expect_visit_when_due(crawl.store.image(), look, *state);
    if (why.starts_with("parent ")) ++parent_count;
  }
  EXPECT_GT(parent_count, 20);
}

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
      EXPECT_EQ(model::describe_group(*one, look.info.default_rule, clock_ms),
                model::describe_group(state, look.info.default_rule, clock_ms));
      const auto time = model::due_ms(state, look.info.default_rule);
      const std::string text = model::why_not_now(state, look.info.default_rule, clock_ms);
      const bool is_due = time && *time <= clock_ms;
      EXPECT_TRUE(is_due || !text.empty()) << state.group.key;
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
