// SPDX-License-Identifier: Apache-2.0
#include "model/score_pairs.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>

#include "drum/memory_store.h"
#include "inspector/pages_file.h"

namespace crawlstore::model {
namespace {

using testing::crawl_web;
using testing::kCrawlTimeUs;
using testing::MemoryStore;
using testing::must;

bool go_on(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return true;
}

TEST(RankCorrelation, IsOneForTheSameOrderAndMinusOneForTheOpposite) {
  std::vector<ScorePair> pairs;
  for (std::uint64_t i = 0; i < 9; ++i) {
    const auto score = static_cast<double>(i);
    pairs.push_back({i, score, std::exp(score)});
  }
  EXPECT_DOUBLE_EQ(rank_correlation(pairs).value(), 1);
  for (ScorePair& pair : pairs) pair.y = -pair.y;
  EXPECT_DOUBLE_EQ(rank_correlation(pairs).value(), -1);
}

TEST(RankCorrelation, LetsEqualScoresShareTheirRanks) {
  // Ranks 0, 1.5, 1.5, 3 and 0, 2, 1, 3: 4.5 / sqrt(4.5 * 5).
  const std::vector<ScorePair> pairs{{0, 1, 10}, {1, 2, 30}, {2, 2, 20}, {3, 9, 40}};
  EXPECT_DOUBLE_EQ(rank_correlation(pairs).value(), 4.5 / std::sqrt(4.5 * 5));
}

TEST(RankCorrelation, IsNotDefinedWhereOneSideIsTheSameInAll) {
  EXPECT_EQ(rank_correlation({}), std::nullopt);
  EXPECT_EQ(rank_correlation(std::vector<ScorePair>{{0, 1, 2}}), std::nullopt);
  EXPECT_EQ(rank_correlation(std::vector<ScorePair>{{0, 1, 2}, {1, 1, 3}}), std::nullopt);
}

/// A small web with two arrays: `rising` is the index, `best` has most at a few
/// pages.
class SampleOfScores : public ::testing::Test {
 protected:
  SampleOfScores() : pages_(must(PageDb::open(*store_))) {
    crawl_web(pages_, 4, 8, kCrawlTimeUs);
    must(pages_.merge());
    count_ = view().info().page_count;
    std::vector<float> rising;
    for (std::uint64_t i = 0; i < count_; ++i) rising.push_back(static_cast<float>(i));
    std::vector<float> best(count_, 0.5F);
    best[7] = 3;
    best[11] = 2;
    must(store_scores(*store_, "rising", view(), rising));
    must(store_scores(*store_, "best", view(), best));
  }
  [[nodiscard]] PageView view() { return must(PageView::open(must(store_->snapshot()))); }
  ScoreView scores(const std::string& name) { return must(ScoreView::open(view(), name)); }

  MemoryStore store_;
  PageDb pages_;
  std::uint64_t count_ = 0;
};

TEST_F(SampleOfScores, HasAllOfAFewPages) {
  const auto found = must(score_pairs(scores("rising"), scores("best"), 1000, go_on));
  EXPECT_EQ(found.page_count, count_);
  EXPECT_EQ(found.even_count, count_);
  ASSERT_EQ(found.pairs.size(), count_);
  for (std::uint64_t i = 0; i < count_; ++i) {
    EXPECT_EQ(found.pairs[i].index, i);
    EXPECT_EQ(found.pairs[i].x, static_cast<double>(i));
  }
  EXPECT_EQ(found.pairs[7].y, 3);
}

TEST_F(SampleOfScores, HasTheBestOfBothArraysAndEvenlySpacedPages) {
  ASSERT_GT(count_, 24U);
  const auto found = must(score_pairs(scores("rising"), scores("best"), 16, go_on));
  EXPECT_EQ(found.page_count, count_);
  EXPECT_EQ(found.even_count, 8U);
  EXPECT_LE(found.pairs.size(), 16U);
  std::set<std::uint64_t> pages;
  for (const ScorePair& pair : found.pairs) {
    EXPECT_TRUE(pages.empty() || *pages.rbegin() < pair.index) << "in order, each once";
    pages.insert(pair.index);
  }
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(pages.contains(i * count_ / 8)) << i;
  for (const std::uint64_t best : {std::uint64_t{7}, std::uint64_t{11}, count_ - 1, count_ - 4}) {
    EXPECT_TRUE(pages.contains(best)) << best;
  }
}

TEST_F(SampleOfScores, LeavesOutPagesThatCameBetweenTwoArrays) {
  must(pages_.add(CrawledPage("http://later.example/", kCrawlTimeUs)));
  must(pages_.merge());
  ASSERT_EQ(view().info().page_count, count_ + 1);
  must(store_scores(*store_, "later", view(), std::vector<float>(count_ + 1, 1)));
  const auto found = must(score_pairs(scores("later"), scores("rising"), 1000, go_on));
  EXPECT_EQ(found.page_count, count_);
  EXPECT_EQ(found.pairs.size(), count_);
  EXPECT_EQ(found.rank_correlation, std::nullopt) << "all have 1";
}

TEST_F(SampleOfScores, StopsWhenItIsToldTo) {
  const auto stop = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return false; };
  const auto found = score_pairs(scores("rising"), scores("best"), 1000, stop);
  EXPECT_EQ(found.error().code, Errc::kCancelled);
}

}  // namespace
}  // namespace crawlstore::model
