// SPDX-License-Identifier: Apache-2.0
// The panel Queue against what the library gives; beside a writer; of a damaged file.
#include <algorithm>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;

class QueuePanel : public ::testing::Test {
 protected:
  void look() {
    open_file(shell_, path_);
    run_step(shell_, "goto", "queue");
  }
  std::string shown(const std::string& label) {
    const auto* item = shell_.app().probe().find(label);
    return item == nullptr ? "nothing" : item->text;
  }
  bool shows(const std::string& text) { return shell_.app().probe().shows(text); }
  [[nodiscard]] std::vector<QueuedPage> first(const std::string& name, std::size_t count) const {
    const Snapshot snapshot = must(Snapshot::open(path_, {.pin = false}));
    return must(must(QueueView::open(snapshot, name)).peek(count));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "pages.crawl";
  HeadlessShell shell_{{1280, 800, {}}};
};

TEST_F(QueuePanel, ListsThePagesThatLeaveFirst) {
  write_pages_file(path_, false, true);
  look();
  run_step(shell_, "click", "queue.name.queue");
  run_step(shell_, "click", "queue.count.10");
  const auto pages = first("queue", 10);
  ASSERT_EQ(pages.size(), 10U);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::string row = "first[" + std::to_string(i) + "].";
    EXPECT_EQ(shown(row + "index"), std::to_string(pages[i].page));
    EXPECT_EQ(shown(row + "place"), std::to_string(i + 1));
  }
  EXPECT_EQ(shown("first[10].index"), "nothing");
  run_step(shell_, "double_click", "first[2].place");
  EXPECT_EQ(format_location(shell_.app().location()),
            "page_detail/page/" + std::to_string(pages[2].page));
  EXPECT_EQ(shown("page.place:queue"), "3");
  run_step(shell_, "command", "go_back");
  EXPECT_EQ(shown("first[10].index"), "nothing") << "still ten";
  run_step(shell_, "click", "queue.name.later");
  EXPECT_EQ(shown("first[0].index"), std::to_string(first("later", 1)[0].page));
  EXPECT_EQ(shown("first[0].url"), "-");
}

TEST_F(QueuePanel, FollowsAWriterThatTakes) {
  auto store = must(Store::create(path_));
  Queue queue = must(Queue::open(store));
  must(queue.insert(std::vector<QueuedPage>{{1, 3}, {2, 2}, {3, 1}}));
  must(store.commit());
  look();
  EXPECT_EQ(shown("first[0].index"), "1");
  EXPECT_TRUE(shows("not known yet"));
  run_step(shell_, "advance", "9");
  must(queue.take(1));
  must(store.commit());
  run_step(shell_, "advance", "1");
  EXPECT_EQ(shown("first[0].index"), "2");
  EXPECT_TRUE(shows("2 pages in 1 run"));
  EXPECT_TRUE(shows("1 page fewer than at "));
  EXPECT_TRUE(shows(" a second; empty at about "));
  must(queue.clear());
  must(store.commit());
  run_step(shell_, "advance", "1");
  EXPECT_TRUE(shows("0 pages in 0 runs"));
  EXPECT_EQ(shown("first[0].index"), "nothing");
  must(store.close());
}

TEST_F(QueuePanel, ShowsAQueueAsSoonAsItIsThere) {
  auto store = must(Store::create(path_));
  Queue queue = must(Queue::open(store));
  must(queue.insert(std::vector<QueuedPage>{{1, 3}, {2, 2}}));
  must(store.commit());
  open_file(shell_, path_);
  run_step(shell_, "goto", "queue/soon");
  EXPECT_TRUE(shows("There is no queue \"soon\" in this generation: it has \"queue\"."));
  Queue soon = must(Queue::open(store, "soon"));
  must(soon.insert(std::vector<QueuedPage>{{7, 1}}));
  must(store.commit());
  run_step(shell_, "advance", "1");
  EXPECT_FALSE(shows("There is no queue"));
  EXPECT_EQ(shown("first[0].index"), "7");
  must(soon.close());
  must(store.close());
}

TEST_F(QueuePanel, AnswersForThePageInTheFieldInEachGeneration) {
  auto store = must(Store::create(path_));
  Queue queue = must(Queue::open(store));
  must(queue.insert(std::vector<QueuedPage>{{1, 3}, {2, 2}, {3, 1}}));
  must(store.commit());
  open_file(shell_, path_);
  run_step(shell_, "goto", "queue/page/2");
  EXPECT_TRUE(shows("It waits with priority 2 at place 2 of 3."));
  must(queue.take(1));
  must(store.commit());
  run_step(shell_, "advance", "1");
  EXPECT_TRUE(shows("It waits with priority 2 at place 1 of 2. It is next."));
  must(queue.take(1));
  must(store.commit());
  run_step(shell_, "advance", "1");
  EXPECT_TRUE(shows("It does not wait here."));
  must(store.close());
}

TEST_F(QueuePanel, KeepsItsValuesWhenThePinIsReleased) {
  write_pages_file(path_, false, true);
  look();
  run_step(shell_, "click", "queue.hosts");
  const std::string first = shown("hosts[0].host");
  run_step(shell_, "command", "release");
  EXPECT_EQ(shown("hosts[0].host"), first);
  EXPECT_TRUE(shows("57 pages in 3 runs"));
}

TEST_F(QueuePanel, CountsTheHostsOfAllThatWaits) {
  write_pages_file(path_, false, true);
  look();
  run_step(shell_, "click", "queue.count.10");
  run_step(shell_, "click", "queue.hosts");
  const Snapshot snapshot = must(Snapshot::open(path_, {.pin = false}));
  const PageView pages = must(PageView::open(snapshot));
  std::map<std::string, std::uint64_t> counts;
  for (const QueuedPage& page : first("queue", 1000)) {
    const std::string url = must(pages.url(page.page));
    ++counts[url.substr(7, url.find('/', 7) - 7)];
  }
  ASSERT_GT(counts.size(), 3U);
  std::uint64_t before = 57;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string row = "hosts[" + std::to_string(i) + "].";
    const std::uint64_t count = counts.at(shown(row + "host"));
    EXPECT_EQ(shown(row + "page_count"), std::to_string(count));
    EXPECT_LE(count, before) << "largest first";
    before = count;
  }
}

TEST_F(QueuePanel, SaysThatThereIsNoQueue) {
  write_pages_file(path_);
  look();
  EXPECT_TRUE(shows("There is no queue"));
}

TEST_F(QueuePanel, ShowsTheRunsWhenTheirEntriesAreDamaged) {
  auto store = must(Store::create(path_));
  Queue queue = must(Queue::open(store));
  std::vector<QueuedPage> pages;
  for (std::uint64_t i = 0; i < 20'000; ++i) pages.push_back({i, static_cast<double>(i)});
  must(queue.insert(pages));
  must(store.close());
  Extent run;
  {
    const Snapshot snapshot = must(Snapshot::open(path_, {.pin = false}));
    const SegmentId id = must(QueueView::open(snapshot)).info().id;
    const auto segments = snapshot.segments();
    run = std::ranges::find(segments, id, &SegmentInfo::owner)->runs.front().extent;
  }
  const auto damage = [&](std::uint64_t offset_bytes) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset_bytes));
    for (int i = 0; i < 4096; ++i) file.put('x');
  };
  damage(run.offset_bytes);
  look();
  EXPECT_TRUE(shows("checksum"));
  EXPECT_EQ(shown("first[0].index"), "nothing");
  run_step(shell_, "click", "queue.runs");
  EXPECT_EQ(shown("runs[0].entry_count"), "20,000");
  EXPECT_EQ(shown("runs[0].first_priority"), "19999");
  run_step(shell_, "close");
  for (std::uint64_t at = 0; at < run.length_bytes; at += 4096) damage(run.offset_bytes + at);
  look();
  EXPECT_TRUE(shows("checksum"));
  EXPECT_EQ(shown("queue.runs"), "nothing");
}

}  // namespace
}  // namespace crawlstore::testing
