// SPDX-License-Identifier: Apache-2.0
#include "model/shards_look.h"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/shards_files.h"
#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::must;
using testing::ShardFiles;
using testing::TemporaryFolder;

class ShardsLooks : public ::testing::Test {
 protected:
  [[nodiscard]] ShardsLook look(const std::string& scores = {}) const {
    return look_at(files_.paths, scores);
  }
  [[nodiscard]] static ShardsLook look_at(const std::vector<std::string>& paths,
                                          const std::string& scores = {}) {
    return must(look_at_shards({.paths = paths, .scores = scores},
                               [](std::size_t, std::size_t) { return true; }));
  }
  static std::vector<Row> rows_of(const TableSource& source) {
    return must(source.rows(0, static_cast<std::size_t>(source.row_count())));
  }
  /// A cell of the table of shards.
  static Cell cell(const ShardsLook& look, std::size_t row, const std::string& column) {
    const auto& columns = look.rows->columns();
    const auto found = std::ranges::find(columns, column, &Column::name);
    EXPECT_NE(found, columns.end()) << column;
    return rows_of(*look.rows)[row][static_cast<std::size_t>(found - columns.begin())];
  }

  TemporaryFolder folder_;
  ShardFiles files_{folder_.path()};
};

TEST_F(ShardsLooks, HaveARowOfEachFileAndTheSumsOfAll) {
  files_.crawl(0);
  files_.exchange();
  files_.add(0, 1);
  for (Store& store : files_.stores) must(store.commit());
  const ShardsLook look = this->look();
  EXPECT_EQ(look.names, (std::vector<std::string>{"a.crawl", "b.crawl", "c.crawl"}));
  EXPECT_EQ(look.shards, (std::vector<std::string>{"0/3", "1/3", "2/3"}));
  EXPECT_TRUE(look.is_whole()) << look.problem;
  const ShardSet set = must(ShardSet::open(files_.paths));
  EXPECT_EQ(look.page_count, set.counts().page_count);
  EXPECT_EQ(look.crawled_count, 12U);
  EXPECT_EQ(look.link_count, 36U);
  std::uint64_t edit_count = 0;
  for (std::size_t i = 0; i < ShardFiles::kCount; ++i) {
    const PagesInfo& info = set.shards()[i].pages.info();
    EXPECT_EQ(cell(look, i, "path"), Cell(look.names[i]));
    EXPECT_EQ(cell(look, i, "shard"), Cell(look.shards[i]));
    EXPECT_EQ(cell(look, i, "step"), Cell(std::uint64_t{2}));
    EXPECT_EQ(cell(look, i, "is_sent"), Cell(false));
    EXPECT_EQ(cell(look, i, "missing_count"), Cell(std::uint64_t{2}));
    EXPECT_EQ(cell(look, i, "page_count"), Cell(info.page_count - info.elsewhere_count));
    EXPECT_EQ(cell(look, i, "elsewhere_count"), Cell(info.elsewhere_count));
    EXPECT_EQ(cell(look, i, "steps_behind"), Cell(std::uint64_t{0}));
    EXPECT_EQ(cell(look, i, "file_bytes"),
              Cell(std::uint64_t{std::filesystem::file_size(files_.paths[i])}));
    edit_count += std::get<std::uint64_t>(cell(look, i, "edit_count"));
  }
  EXPECT_EQ(edit_count, 1U);
}

TEST_F(ShardsLooks, TellHowFarAShardIsBehind) {
  files_.crawl(0);
  files_.exchange(2);
  const ShardsLook look = this->look();
  EXPECT_EQ(look.problem, "") << "one step apart is as it should be";
  EXPECT_EQ(cell(look, 0, "steps_behind"), Cell(std::uint64_t{0}));
  EXPECT_EQ(cell(look, 2, "steps_behind"), Cell(std::uint64_t{1}));
  EXPECT_EQ(cell(look, 2, "is_sent"), Cell(true));
}

TEST_F(ShardsLooks, SayInWordsWhyTheFilesAreNoWholeCrawl) {
  files_.crawl(0);
  const ShardsLook two = look_at({files_.paths[0], files_.paths[2]});
  EXPECT_FALSE(two.is_whole());
  EXPECT_EQ(two.problem, "1 of 3 shards missing: 1");
  EXPECT_THAT(two.best_problem, HasSubstr("1 of 3 shards missing: 1"));
  EXPECT_EQ(two.best, nullptr);

  const std::string nowhere = folder_ / "other/b.crawl";
  const ShardsLook hole = look_at({files_.paths[0], nowhere, files_.paths[2]});
  EXPECT_FALSE(hole.is_whole());
  EXPECT_THAT(hole.unreadable, ElementsAre(HasSubstr("other/b.crawl: ")));
  EXPECT_EQ(hole.shards, (std::vector<std::string>{"0/3", "", "2/3"}));
  const auto rows = rows_of(*hole.rows);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].front(), Cell(std::string("other/b.crawl")));
  EXPECT_EQ(rows[1].back(), Cell());
  EXPECT_EQ(rows[1].size(), rows[0].size());
  EXPECT_GT(hole.page_count, 0U);
}

TEST_F(ShardsLooks, HaveTheBestPagesByTheArrayThatIsChosen) {
  files_.crawl(0);
  files_.exchange();
  EXPECT_THAT(look().best_problem, HasSubstr("no scores"));
  files_.score("pagerank");
  files_.score("another");
  files_.score("half", 2);
  ShardsLook look = this->look();
  EXPECT_THAT(look.arrays, ElementsAre("another", "half", "pagerank"));
  EXPECT_EQ(look.scores, "pagerank");
  ASSERT_NE(look.best, nullptr) << look.best_problem;
  const ShardSet set = must(ShardSet::open(files_.paths));
  const auto best = must(set.top(1000, "pagerank"));
  const auto rows = rows_of(*look.best);
  ASSERT_EQ(rows.size(), best.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], Cell(to_text(set.shards()[best[i].page.shard].shard)));
    EXPECT_EQ(rows[i][1], Cell(best[i].page.index));
  }
  look = this->look("another");
  EXPECT_EQ(look.scores, "another");
  EXPECT_NE(look.best, nullptr);
  look = this->look("half");
  EXPECT_EQ(look.best, nullptr);
  EXPECT_THAT(look.best_problem, HasSubstr("c.crawl: no scores `half`"));
}

TEST_F(ShardsLooks, AreOtherOnesWhenAFileIs) {
  const std::string trace = shards_trace(files_.paths);
  EXPECT_EQ(shards_trace(files_.paths), trace);
  files_.add(0, 0);
  must(files_.stores[2].commit());
  for (Store& store : files_.stores) must(store.commit());
  EXPECT_NE(shards_trace(files_.paths), trace);
}

TEST_F(ShardsLooks, EndWhenTheyAreCancelled) {
  const auto look = look_at_shards({.paths = files_.paths},
                                   [](std::size_t done, std::size_t) { return done < 1; });
  ASSERT_FALSE(look);
  EXPECT_EQ(look.error().code, Errc::kCancelled);
}

}  // namespace
}  // namespace crawlstore::model
