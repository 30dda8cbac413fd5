// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_look.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "drum/memory_store.h"
#include "model/format_text.h"
#include "model/frontier_view.h"

namespace crawlstore::testing {
namespace {

using model::DueCounts;
using model::FrontierLook;
using model::Timeline;

constexpr std::uint64_t kNow = 1'767'225'600'000;

TEST(Timeline, CountsWhatFallsDueInEachInterval) {
  FrontierLook look;
  look.due_ms = {0, kNow, kNow + 1, kNow + 10'000, kNow + 10'001, kNow + 700'000};
  look.later_ms = {kNow + 599'999, kNow + 600'000, kNow + 600'001};
  look.lease_ends_ms = {kNow - 5, kNow + 30'000};
  const Timeline timeline = model::timeline_at(look, kNow);
  EXPECT_EQ(timeline.overdue, (DueCounts{2, 0, 1}));
  EXPECT_EQ(timeline.intervals[0], (DueCounts{2, 0, 0}));
  EXPECT_EQ(timeline.intervals[1], (DueCounts{1, 0, 0}));
  EXPECT_EQ(timeline.intervals[2], (DueCounts{0, 0, 1}));
  EXPECT_EQ(timeline.intervals[59], (DueCounts{0, 2, 0}));
  EXPECT_EQ(timeline.beyond, (DueCounts{1, 1, 0}));
}

/// Two groups, one of which is leased and has an item for later.
class Look : public ::testing::Test {
 protected:
  Look() {
    must(frontier_.put(std::vector<FrontierItem>{
        {"a.test", 2, "1"}, {"a.test", 1, "2", kNow + 60'000}, {"b.test", 1, "3"}}));
    must(frontier_.take({.count = 1, .lease_ms = 5'000, .now_ms = kNow}));
    must(frontier_.set_rule("c.test", {.is_active = false}));
    must(store_->commit());
    view_ = must(FrontierView::open(must(store_->snapshot())));
    look_ = std::make_shared<const FrontierLook>(must(model::look_at(*view_)));
  }

  MemoryStore store_;
  Frontier frontier_ = must(Frontier::open(*store_));
  std::optional<FrontierView> view_;
  std::shared_ptr<const FrontierLook> look_;
};

TEST_F(Look, PutsWhatIsDueFirstInFront) {
  ASSERT_EQ(look_->groups.size(), 3U);
  EXPECT_EQ(look_->groups[0].group.key, "b.test");
  EXPECT_EQ(look_->groups[1].group.key, "a.test");
  EXPECT_EQ(look_->groups[2].group.key, "c.test");
  EXPECT_EQ(look_->groups[1].first_later_ms, kNow + 60'000);
  EXPECT_EQ(look_->groups[1].lease_ends_ms, std::vector{kNow + 5'000});
  EXPECT_EQ(look_->find("c.test"), &look_->groups[2]);
  EXPECT_EQ(look_->find("d.test"), nullptr);
  EXPECT_FALSE(must(model::group_state(*view_, "d.test")));
}

TEST_F(Look, TellsTimesAsSeenFromNow) {
  const auto rows = model::group_rows(look_, kNow + 1'000, true);
  const auto all = must(rows->rows(0, 10));
  ASSERT_EQ(all.size(), 3U);
  ASSERT_EQ(all[0].size(), rows->columns().size());
  EXPECT_EQ(all[0][4], model::Cell(0.0));
  EXPECT_EQ(all[0][5], model::Cell(std::string()));
  EXPECT_EQ(all[1][4], model::Cell(4.0));
  EXPECT_EQ(all[2][4], model::Cell());
  EXPECT_EQ(all[2][5], model::Cell(std::string("not active")));
  EXPECT_EQ(must(rows->rows(2, 10)).size(), 1U);
  EXPECT_TRUE(must(rows->rows(3, 10)).empty());
}

TEST_F(Look, AddsHowLongATimeIsFromNow) {
  auto leases = std::make_shared<model::TableRows>(must(model::leases_table(*view_, {10})));
  const auto rows = model::rows_from_now(leases, {"until_us", "ends_in_seconds"}, kNow + 7'000);
  EXPECT_EQ(rows->columns()[2].name, "ends_in_seconds");
  EXPECT_EQ(rows->columns()[3].name, "until_us");
  const auto all = must(rows->rows(0, 10));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0][2], model::Cell(-2.0));
  EXPECT_EQ(model::format_cell(all[0][2], model::Unit::kFromNow), "2.0 s ago");
  EXPECT_EQ(rows->row_count(), 1U);
}

}  // namespace
}  // namespace crawlstore::testing
