// SPDX-License-Identifier: Apache-2.0
#include "model/page_visit.h"

#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/frontier.h>

#include "drum/memory_store.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kNow = 1'767'225'600'000;

/// Pages 0 to 4 of one host, which are the items of a frontier.
class PageVisits : public ::testing::Test {
 protected:
  static FrontierOptions options() {
    FrontierOptions options;
    options.pages = "pages";
    options.default_rule = {.delay_ms = 0, .hard_ms = 0, .in_flight_max = 9};
    return options;
  }
  static FrontierItem item(std::uint64_t page, double priority, std::uint64_t not_before_ms = 0) {
    FrontierItem item;
    item.group = "a.test";
    item.priority = priority;
    item.not_before_ms = not_before_ms;
    item.id = page;
    return item;
  }
  std::string text(std::uint64_t page, std::uint64_t now_ms = kNow) {
    const auto view = must(FrontierView::open(must(store_->snapshot())));
    const auto visit = must(model::page_visit(view, "a.test", page));
    return visit ? model::describe_visit(*visit, now_ms) : "nothing";
  }

  MemoryStore store_;
  Frontier frontier_ = must(Frontier::open(*store_, "frontier", options()));
};

TEST_F(PageVisits, SayWhenAPageIsNext) {
  must(frontier_.put(
      std::vector<FrontierItem>{item(0, 1), item(1, 3), item(2, 2), item(3, 9, kNow + 7'200'000)}));
  must(store_->commit());
  EXPECT_EQ(text(1), "the next of its group");
  EXPECT_EQ(text(2), "behind 1 of its group");
  EXPECT_EQ(text(0), "behind 2 of its group");
  EXPECT_EQ(text(3), "comes due in 2 h 00 min");
  EXPECT_EQ(text(4), "nothing");
}

TEST_F(PageVisits, SayWhoTookAPage) {
  must(frontier_.put(std::vector<FrontierItem>{item(0, 1), item(1, 3), item(2, 2)}));
  must(frontier_.take({.count = 1, .lease_ms = 60'000, .now_ms = kNow}));
  must(frontier_.take({.count = 1, .lease_ms = 0, .now_ms = kNow}));
  must(store_->commit());
  EXPECT_EQ(text(1), "taken, comes back in 1 min 00 s unless it is done before, taken 1 time");
  EXPECT_EQ(text(2), "taken, until it is done, taken 1 time");
  EXPECT_EQ(text(0), "the next of its group");
}

TEST_F(PageVisits, AreOfOneGroup) {
  must(frontier_.put(std::vector<FrontierItem>{item(0, 1)}));
  must(store_->commit());
  const auto view = must(FrontierView::open(must(store_->snapshot())));
  EXPECT_FALSE(must(model::page_visit(view, "b.test", 0)));
}

}  // namespace
}  // namespace crawlstore::testing
