// SPDX-License-Identifier: Apache-2.0
// Several files as a set of shards: what the panel shows of all, and that the others show one.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <crawlstore/shard_set.h>

#include "inspector/inspector_file.h"
#include "inspector/shards_files.h"

namespace crawlstore::testing {
namespace {

using inspector::FileLocation;
using inspector::HeadlessShell;

class ShardsPanel : public ::testing::Test {
 protected:
  ShardsPanel() {
    files_.crawl(0);
    files_.exchange();
    files_.score("pagerank");
  }
  void open(const std::vector<std::string>& paths) {
    std::vector<FileLocation> files;
    for (const std::string& path : paths) files.push_back({path, {}});
    must(shell_.app().open_set(files));
    shell_.settle();
  }
  std::string shown(const std::string& label) {
    const auto* item = shell_.app().probe().find(label);
    return item == nullptr ? "nothing" : item->text;
  }
  [[nodiscard]] std::string file() {
    return std::filesystem::path(shell_.app().session().file->path()).filename();
  }
  [[nodiscard]] std::string place() { return format_location(shell_.app().location()); }

  TemporaryFolder folder_;
  ShardFiles files_{folder_.path()};
  HeadlessShell shell_{{1280, 800, {}}};
};

TEST_F(ShardsPanel, ShowsTheSetAndTheOthersItsFirstFile) {
  open(files_.paths);
  EXPECT_EQ(place(), "shards");
  EXPECT_EQ(file(), "a.crawl");
  EXPECT_TRUE(shell_.app().probe().shows("All shards are there."));
  EXPECT_THAT(shown("shards.sums"), ::testing::HasSubstr("12 crawled, 36 links in 3 files"));
  EXPECT_EQ(shown("shards[0].path"), "a.crawl");
  EXPECT_EQ(shown("shards[2].shard"), "2/3");
  EXPECT_EQ(shown("shards[2].steps_behind"), "0");
  EXPECT_EQ(shown("best[0].rank"), "1");
  EXPECT_NE(shown("navigator.shards"), "nothing");
}

TEST_F(ShardsPanel, TurnsTheOtherPanelsToAShardThatIsClicked) {
  open(files_.paths);
  run_step(shell_, "click", "shards[1].shard");
  EXPECT_EQ(file(), "b.crawl");
  EXPECT_EQ(place(), "shards");
  EXPECT_THAT(shown("shards.shown"), ::testing::HasSubstr("show b.crawl, shard 1/3"));
  EXPECT_EQ(shown("shards[0].path"), "a.crawl") << "the set is the same";
  run_step(shell_, "goto", "overview");
  run_step(shell_, "goto", "shards");
  run_step(shell_, "double_click", "shards[2].path");
  EXPECT_EQ(file(), "c.crawl");
}

TEST_F(ShardsPanel, ShowsABestPageInItsOwnShard) {
  open(files_.paths);
  const ShardSet set = must(ShardSet::open(files_.paths));
  const auto best = must(set.top(3));
  const auto other = std::ranges::find_if(
      best, [](const ScoredShardPage& scored) { return scored.page.shard != 0; });
  ASSERT_NE(other, best.end());
  run_step(shell_, "click", "best[" + std::to_string(other - best.begin()) + "].index");
  EXPECT_EQ(file(), std::string(1, static_cast<char>('a' + other->page.shard)) + ".crawl");
  EXPECT_EQ(place(), "page_detail/page/" + std::to_string(other->page.index));
}

TEST_F(ShardsPanel, SaysWhyThereIsNoWholeCrawlAndNoBestPage) {
  open({files_.paths[0], files_.paths[2]});
  EXPECT_EQ(shown("shards.problem"), "1 of 3 shards missing: 1");
  EXPECT_THAT(shown("shards.best_problem"), ::testing::HasSubstr("1 of 3 shards missing: 1"));
  EXPECT_EQ(shown("best[0].rank"), "nothing");
}

TEST_F(ShardsPanel, ChoosesAnArrayAndKeepsItAtAnotherFile) {
  files_.score("another");
  files_.score("half", 2);
  open(files_.paths);
  EXPECT_NE(shown("best[0].rank"), "nothing");
  run_step(shell_, "click", "shards.array.half");
  EXPECT_THAT(shown("shards.best_problem"), ::testing::HasSubstr("c.crawl: no scores `half`"));
  run_step(shell_, "click", "shards[1].shard");
  EXPECT_THAT(shown("shards.best_problem"), ::testing::HasSubstr("c.crawl: no scores `half`"));
}

TEST_F(ShardsPanel, ReadsAgainWhatAnyFileCommits) {
  open(files_.paths);
  EXPECT_THAT(shown("shards.sums"), ::testing::HasSubstr("12 crawled"));
  files_.crawl(1);
  run_step(shell_, "advance", "1.5");
  EXPECT_THAT(shown("shards.sums"), ::testing::HasSubstr("24 crawled"));
  files_.exchange(2);
  run_step(shell_, "advance", "1.5");
  EXPECT_EQ(shown("shards[2].steps_behind"), "1");
}

TEST_F(ShardsPanel, EndsWithTheSet) {
  open(files_.paths);
  open_file(shell_, golden("keys_and_pending"));
  EXPECT_TRUE(shell_.app().session().shard_paths.empty());
  EXPECT_EQ(shown("navigator.shards"), "nothing");
  EXPECT_EQ(shown("tab.shards"), "nothing");
  EXPECT_NE(place(), "shards");
  run_step(shell_, "goto", "shards");
  EXPECT_TRUE(shell_.app().probe().shows("One file is open."));
}

TEST_F(ShardsPanel, IsNotThereForOneFile) {
  open({files_.paths[1]});
  EXPECT_TRUE(shell_.app().session().shard_paths.empty());
  EXPECT_NE(place(), "shards");
  EXPECT_EQ(shown("navigator.shards"), "nothing");
}

TEST_F(ShardsPanel, GoesToAPlaceOfTheFirstFileIfThatIsNamed) {
  must(shell_.app().open_set({{files_.paths[1], {"map", {}}}, {files_.paths[0], {}}}));
  shell_.settle();
  EXPECT_EQ(place(), "map");
  EXPECT_EQ(file(), "b.crawl");
  EXPECT_NE(shown("navigator.shards"), "nothing");
}

}  // namespace
}  // namespace crawlstore::testing
