// SPDX-License-Identifier: Apache-2.0
// The panel Frontier against what the library gives; beside a writer; of a damaged file.
#include <gtest/gtest.h>

#include <crawlstore/frontier_view.h>

#include "inspector/frontier_file.h"
#include "inspector/inspector_file.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;

class FrontierPanel : public ::testing::Test {
 protected:
  void look() {
    open_file(shell_, path_);
    run_step(shell_, "goto", "frontier");
  }
  std::string shown(const std::string& label) {
    const auto* item = shell_.app().probe().find(label);
    return item == nullptr ? "nothing" : item->text;
  }
  bool shows(const std::string& text) { return shell_.app().probe().shows(text); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "frontier.crawl";
  HeadlessShell shell_{{1280, 900, {}}};
};

TEST_F(FrontierPanel, ShowsEveryGroupAsTheLibraryHasIt) {
  write_frontier_file(path_);
  look();
  const auto view = must(FrontierView::open(must(Snapshot::open(path_, {.pin = false}))));
  const std::uint64_t count = view.info().group_count;
  std::uint64_t found_count = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    run_step(shell_, "wheel", "9");
    const std::string row = "groups[" + std::to_string(i) + "].";
    if (shown(row + "group") == "nothing") continue;
    const auto group = view.group(shown(row + "group"));
    ASSERT_TRUE(group);
    EXPECT_EQ(shown(row + "waiting_count"), std::to_string(group->waiting_count));
    EXPECT_EQ(shown(row + "later_count"), std::to_string(group->later_count));
    EXPECT_EQ(shown(row + "leased_count"), std::to_string(group->leased_count));
    ++found_count;
  }
  EXPECT_EQ(found_count, count);
}

TEST_F(FrontierPanel, FollowsACrawlThatTakes) {
  auto store = must(Store::create(path_));
  Frontier frontier = must(Frontier::open(store));
  put_items(frontier, "a.test", 3);
  must(store.commit());
  look();
  EXPECT_EQ(shown("groups[0].due_in_seconds"), "now");
  EXPECT_TRUE(shows("3 items wait"));
  const auto taken = must(frontier.take({.lease_ms = 60'000, .now_ms = kFrontierNowMs}));
  run_step(shell_, "advance", "1");
  EXPECT_TRUE(shows("2 items wait"));
  EXPECT_EQ(shown("groups[0].due_in_seconds"), "in 59.0 s");
  EXPECT_EQ(shown("groups[0].why"), "in-flight limit of 1 reached, a lease ends in 59.0 s");
  EXPECT_EQ(shown("frontier.leases"), "Leases 1");
  run_step(shell_, "advance", "20");
  EXPECT_EQ(shown("groups[0].due_in_seconds"), "in 39.0 s") << "though no commit came";
  run_step(shell_, "click", "groups[0].waiting_count");
  EXPECT_EQ(shown("group_items[0].body"), "http://a.test/page/1");
  run_step(shell_, "advance", "45");
  EXPECT_EQ(shown("frontier.leases"), "Leases 1, 1 overdue");
  EXPECT_EQ(shown("groups[0].due_in_seconds"), "now");
  must(frontier.finish(std::vector{taken.front().id}, kFrontierNowMs + 3000));
  must(store.commit());
  run_step(shell_, "advance", "1");
  EXPECT_EQ(shown("frontier.leases"), "Leases 0");
  EXPECT_EQ(shown("groups[0].leased_count"), "0");
  EXPECT_TRUE(shows("Group a.test"));
  must(frontier.close());
  must(store.close());
}

TEST_F(FrontierPanel, DrawsNothingMoreAfterAMinuteWithoutInput) {
  write_frontier_file(path_);
  look();
  EXPECT_TRUE(shows("3.5 s ago")) << "the clock of the frontier";
  run_step(shell_, "advance", "5");
  EXPECT_TRUE(shows("8.5 s ago"));
  run_step(shell_, "advance", "61");
  EXPECT_FALSE(shell_.app().wants_frame());
}

TEST_F(FrontierPanel, KeepsItsValuesWhenThePinIsReleased) {
  write_frontier_file(path_);
  look();
  run_step(shell_, "click", "groups[0].waiting_count");
  const std::string first = shown("group_items[0].body");
  ASSERT_NE(first, "nothing");
  run_step(shell_, "command", "release");
  EXPECT_EQ(shown("group_items[0].body"), first);
  EXPECT_TRUE(shows("11 groups"));
}

TEST_F(FrontierPanel, SaysThatThereIsNoFrontier) {
  write_pages_file(path_);
  look();
  EXPECT_TRUE(shows("There is no frontier: `crawlstore frontier FILE --put INPUT` makes one"));
  EXPECT_EQ(shown("navigator.frontier"), "nothing");
}

TEST_F(FrontierPanel, ShowsAnotherFrontierThanTheDamagedOne) {
  {
    auto store = must(Store::create(path_));
    Frontier small = must(Frontier::open(store, "small"));
    put_items(small, "a.test", 3);
    Frontier large = must(Frontier::open(store, "large"));
    put_items(large, "b.test", 1000);
    must(small.close());
    must(large.close());
    must(store.close());
  }
  damage_longest_run(path_, "frontier_steps");
  open_file(shell_, path_);
  run_step(shell_, "goto", "frontier/large");
  EXPECT_TRUE(shows("checksum"));
  EXPECT_EQ(shown("groups[0].group"), "nothing");
  run_step(shell_, "click", "frontier.name.small");
  EXPECT_EQ(shown("groups[0].group"), "a.test");
  EXPECT_EQ(shown("groups[0].waiting_count"), "3");
}

TEST_F(FrontierPanel, SaysOnAPageWhenItIsVisitedNext) {
  MemoryStore store;
  PageDb pages = must(PageDb::open(*store));
  crawl_web(pages, 3, 4, kCrawlTimeUs);
  must(pages.merge());
  FrontierOptions options;
  options.pages = "pages";
  Frontier frontier = must(Frontier::open(*store, "frontier", options));
  FrontierItem first;
  first.group = "a.example";
  first.id = 0;
  FrontierItem second = first;
  second.priority = 1;
  second.id = 1;
  must(frontier.put(std::vector{first, second}));
  must(frontier.close());
  must(pages.close());
  write_image(store, path_);
  open_file(shell_, path_);
  run_step(shell_, "goto", "page/0");
  run_step(shell_, "expect", "next visit: behind 1 of its group");
  run_step(shell_, "goto", "page/2");
  run_step(shell_, "expect", "next visit: none, the frontier does not hold the page");
}

TEST_F(FrontierPanel, ShowsAFrontierWhoseTableAloneIsWhole) {
  {
    auto store = must(Store::create(path_));
    for (const char* name : {"a", "b"}) {
      Frontier frontier = must(Frontier::open(store, name));
      put_items(frontier, "a.test", 3);
      must(frontier.close());
    }
    must(store.close());
  }
  damage_longest_run(path_, "frontier");
  look();
  EXPECT_TRUE(shows("checksum"));
  int readable_count = 0;
  for (const char* name : {"a", "b"}) {
    run_step(shell_, "click", std::string("frontier.name.") + name);
    if (shown("groups[0].group") == "a.test") ++readable_count;
  }
  EXPECT_EQ(readable_count, 1);
}

}  // namespace
}  // namespace crawlstore::testing
