// SPDX-License-Identifier: Apache-2.0
//
// Steps that contradict what is there, as a hostile file may have them: they are refused, and
// change nothing.
#include "frontier/state.h"

#include <gtest/gtest.h>

#include "frontier/intervals.h"
#include "frontier/piece.h"
#include "support/bytes.h"

namespace crawlstore::frontier {
namespace {

format::StepBytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class Steps : public ::testing::Test {
 protected:
  Steps() {
    apply(format::ClockStep{1000});
    apply(format::GroupStep{bytes_of("a")});
    apply(format::PutStep{0, 5, 1, 0, bytes_of("five")});
    apply(format::PutStep{0, 6, 2, 0, bytes_of("six")});
    apply(format::PutStep{0, 7, 3, 9000, bytes_of("seven")});
    apply(format::LeaseStep{5000});
    apply(format::VisitStep{0, 1, 6});
  }
  void apply(const format::Step& step) {
    const auto applied = state_.apply(step);
    EXPECT_TRUE(applied) << describe(applied.error());
  }
  /// The text of the error; nothing has changed.
  std::string refusal(const format::Step& step) {
    const auto before = told();
    const auto applied = state_.apply(step);
    EXPECT_EQ(told(), before);
    return applied ? "none" : applied.error().text;
  }
  /// All steps of a piece, in a text.
  std::string told() const {
    std::string text = std::to_string(state_.waiting_count());
    const StoredItems items{.runs = state_.runs().all()};
    const auto written = write_piece(
        state_, {0, state_.groups().count(), items, {}},
        [&text](const format::Step& step) { text += " " + std::to_string(step.index()); });
    return written ? text : written.error().text;
  }

  State state_{format::GroupRule{100, 50, 1, 2, format::kNoLimit, format::kNoLimit}};
};

TEST_F(Steps, AreRefusedWhereTheyContradict) {
  EXPECT_EQ(refusal(format::ClockStep{999}), "the clock of a frontier goes back");
  EXPECT_EQ(refusal(format::GroupStep{bytes_of("a")}), "two groups of a frontier have one key");
  EXPECT_EQ(refusal(format::PutStep{1, 8, 0, 0, {}}),
            "an item of a frontier is of a group that is none");
  EXPECT_EQ(refusal(format::VisitStep{1, 1, 0}), "a frontier visits a group that is none");
  EXPECT_EQ(refusal(format::VisitStep{0, 2, 11}), "a visit takes more than waits");
  EXPECT_EQ(refusal(format::VisitStep{0, 1, 6}), "a visit takes other items than it took");
  const std::uint64_t unknown[] = {9};
  const std::uint64_t waiting[] = {5};
  EXPECT_EQ(refusal(format::FinishStep{unknown}), "an item is finished that was never taken");
  EXPECT_EQ(refusal(format::FinishStep{waiting}), "an item is finished that was never taken");
  EXPECT_EQ(refusal(format::BackStep{5, 0, false}), "an item is given back that is not leased");
  EXPECT_EQ(refusal(format::ExtendStep{7, 0}), "a lease is extended that is none");
  EXPECT_EQ(refusal(format::RemoveStep{0, 6}), "an item is removed that does not wait");
  EXPECT_EQ(refusal(format::RemoveStep{1, 5}), "an item is removed that does not wait");
  EXPECT_EQ(refusal(format::UpdateStep{0, 6, 1, 0, {}}), "an item is changed that does not wait");
  EXPECT_EQ(refusal(format::DropStep{1}), "a frontier drops a group that is none");
  EXPECT_EQ(refusal(format::GoneStep{0, 1, 0}), "an item of a run is gone that did not wait there");
  EXPECT_EQ(refusal(format::GoneStep{1, 1, 0}), "an item of a run is gone that did not wait there");
  EXPECT_EQ(refusal(format::TimesStep{1, 0, 0, 0}),
            "times of a frontier are of a group that is none");
  EXPECT_EQ(refusal(format::LeasedStep{0, 6, 0, 0, 1, {}}),
            "an item of a frontier is leased twice");
  format::RuleStep rule{.group = 0, .mask = format::kRuleHard};
  rule.hard_ms = 101;
  EXPECT_EQ(refusal(rule), "a hard interval of a frontier is above the soft one");
  rule.mask = format::kRuleParent;
  for (const std::uint32_t parent : {0U, 1U}) {
    rule.parent = parent;
    EXPECT_EQ(refusal(rule), "a parent of a group is none, or has a parent");
  }
  EXPECT_EQ(refusal(format::StoredStep{4}), "a frontier has steps of a later version");
}

TEST_F(Steps, AreRefusedBeyondALimit) {
  format::RuleStep rule{.group = 0, .mask = format::kRulePut};
  rule.put_max = 4;
  apply(rule);
  apply(format::PutStep{0, 8, 1, 0, {}});
  EXPECT_EQ(refusal(format::PutStep{0, 9, 1, 0, {}}), "an item is put beyond a limit");
  const auto in_piece = state_.apply(format::PutStep{0, 9, 1, 0, {}}, {}, format::StepsIn::kPiece);
  EXPECT_TRUE(in_piece);
  EXPECT_EQ(state_.groups()[0].put_count, 4U);
  apply(format::CountsStep{0, std::uint64_t{1} << 40, 2});
  EXPECT_EQ(state_.groups()[0].put_count, 0xFFFF'FFFF);
  rule.put_max = std::uint64_t{1} << 32;
  apply(rule);
  apply(format::PutStep{0, 10, 1, 0, {}});
  EXPECT_EQ(state_.groups()[0].put_count, 0xFFFF'FFFF);
}

TEST_F(Steps, RefuseAParentThatHasOne) {
  apply(format::GroupStep{bytes_of("b")});
  apply(format::GroupStep{bytes_of("c")});
  format::RuleStep rule{.group = 0, .mask = format::kRuleParent};
  rule.parent = 1;
  apply(rule);
  EXPECT_EQ(state_.groups().leased_count(1), 1U);
  rule.group = 2;
  rule.parent = 0;
  EXPECT_EQ(refusal(rule), "a parent of a group is none, or has a parent");
  rule.group = 1;
  rule.parent = 2;
  EXPECT_EQ(refusal(rule), "a parent of a group is none, or has a parent");
  rule.group = 0;
  apply(rule);
  EXPECT_EQ(state_.groups().leased_count(1), 0U);
  EXPECT_EQ(state_.groups().leased_count(2), 1U);
  rule.parent.reset();
  apply(rule);
  EXPECT_TRUE(state_.groups().families().is_empty());
}

TEST_F(Steps, RefuseOneIdTwiceInAVisit) {
  apply(format::PutStep{0, 5, 1, 0, bytes_of("again")});
  EXPECT_EQ(refusal(format::VisitStep{0, 2, 10}), "a visit takes more than waits");
}

TEST_F(Steps, FinishLateItems) {
  apply(format::ClockStep{5000});
  EXPECT_EQ(state_.leases().count(), 0U);
  EXPECT_EQ(state_.leases().group_of_again(6), 0U);
  const std::uint64_t late[] = {6};
  apply(format::FinishStep{late});
  EXPECT_EQ(state_.waiting_count(), 2U);
  EXPECT_EQ(state_.leases().group_of_again(6), std::nullopt);
}

TEST_F(Steps, UpdateAndRemoveWhatWaits) {
  apply(format::UpdateStep{0, 5, 9, 7000, {}});
  EXPECT_EQ(state_.groups()[0].later_count, 2U);
  apply(format::RemoveStep{0, 7});
  EXPECT_EQ(state_.groups()[0].later_count, 1U);
  EXPECT_EQ(state_.waiting_count(), 1U);
  apply(format::ClockStep{7000});
  EXPECT_EQ(state_.groups()[0].items.first().id, 6U) << "its lease has ended";
  EXPECT_EQ(state_.groups()[0].items.size(), 2U);
}

/// "group kind" of each step of a piece; kinds by their numbers in the format.
std::vector<std::string> steps_of_piece(const State& state) {
  std::vector<std::string> texts;
  const StoredItems items{.runs = state.runs().all()};
  const auto written = write_piece(
      state, {0, state.groups().count(), items, {}}, [&texts](const format::Step& step) {
        texts.push_back(std::visit(
            []<class S>(const S& one) {
              const std::string kind = std::to_string(static_cast<int>(S::kKind));
              if constexpr (requires { one.group; }) return std::to_string(one.group) + ' ' + kind;
              return "- " + kind;
            },
            step));
      });
  EXPECT_TRUE(written);
  return texts;
}

/// A part of a piece that ends with a group tells all of this group.
TEST_F(Steps, AreToldGroupByGroup) {
  apply(format::GroupStep{bytes_of("b")});
  apply(format::PutStep{1, 1, 1, 0, bytes_of("one")});
  apply(format::PutStep{1, 2, 2, 9000, bytes_of("two")});
  apply(format::PutStep{1, 3, 3, 0, bytes_of("three")});
  apply(format::VisitStep{1, 1, 3});
  apply(format::BackStep{3, 8000, false});
  apply(format::VisitStep{1, 1, 1});
  EXPECT_EQ(steps_of_piece(state_),
            (std::vector<std::string>{"- 1", "0 32", "0 33", "0 3", "0 3", "0 35", "1 32", "1 33",
                                      "1 3", "1 36", "1 35"}));
}

TEST(Intervals, AreCutAtTheLastTime) {
  EXPECT_EQ(after(format::kItemTimeMax, 5), format::kItemTimeMax);
  EXPECT_EQ(stretched(format::kItemTimeMax, 60), format::kItemTimeMax);
  EXPECT_EQ(stretched(10, 60), 640U);
  EXPECT_EQ(with_burst(1000, 100, 1), 1000U);
  EXPECT_EQ(with_burst(1000, 100, 4), 700U);
  EXPECT_EQ(with_burst(1000, 100, 0xFFFF'FFFF), 0U);
  EXPECT_EQ(with_burst(1000, 0, 9), 1000U);
  EXPECT_EQ(charged(1000, 900, 50, 1), 950U) << "a visit before its time";
  EXPECT_EQ(charged(800, 900, 50, 1), 950U);
  EXPECT_EQ(charged(910, 900, 50, 3), 960U);
  EXPECT_EQ(charged(2000, 900, 50, 3), 1050U);
  EXPECT_EQ(charged(5, 900, format::kItemTimeMax, 0xFFFF'FFFF), format::kItemTimeMax);
}

}  // namespace
}  // namespace crawlstore::frontier
