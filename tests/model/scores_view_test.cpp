// SPDX-License-Identifier: Apache-2.0
#include "model/scores_view.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>

#include "drum/memory_store.h"
#include "inspector/pages_file.h"
#include "model/page_detail.h"
#include "model/page_fields.h"
#include "model/page_source.h"

namespace crawlstore::model {
namespace {

using testing::crawl_web;
using testing::kCrawlTimeUs;
using testing::MemoryStore;
using testing::must;

bool go_on(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return true;
}

/// A small web, and scores of one's own for its pages: what is not given is 0.
class ScoresView : public ::testing::Test {
 protected:
  ScoresView() : pages_(must(PageDb::open(*store_))) {
    crawl_web(pages_, 2, 4, kCrawlTimeUs);
    must(pages_.merge());
  }
  [[nodiscard]] PageView view() { return must(PageView::open(must(store_->snapshot()))); }
  ScoreView store_values(std::vector<float> values) {
    values.resize(view().info().page_count);
    must(store_scores(*store_, "own", view(), values));
    return must(ScoreView::open(view(), "own"));
  }
  Cell detail(std::uint64_t index, const std::string& name) {
    const auto fields = must(page_detail(view(), index)).fields;
    const auto field = std::ranges::find(fields, name, &Field::name);
    return field == fields.end() ? Cell(std::string("no such field")) : field->value;
  }

  MemoryStore store_;
  PageDb pages_;
};

TEST_F(ScoresView, CountsScoresInFourBinsAPowerOfTen) {
  const auto scores = store_values({0.2F, 0.25F, 0.002F, 3, 0, 0.002F});
  const ScoreHistogram histogram = must(score_histogram(scores, go_on));
  EXPECT_EQ(histogram.zero_count, scores.info().page_count - 5);
  ASSERT_EQ(histogram.bins.size(), 13U);  // from 10^-2.75 to 10^0.5
  EXPECT_DOUBLE_EQ(histogram.bins.front().low, std::pow(10, -2.75));
  EXPECT_DOUBLE_EQ(histogram.bins.back().high, std::pow(10, 0.5));
  std::vector<std::uint64_t> counts;
  double end = histogram.bins.front().low;
  for (const ScoreBin& bin : histogram.bins) {
    counts.push_back(bin.page_count);
    EXPECT_EQ(bin.low, std::exchange(end, bin.high));
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1}));
}

TEST_F(ScoresView, CountsTheSmallestAndTheLargestScores) {
  const auto scores = store_values({1e-45F, 3.4e38F});
  const ScoreHistogram histogram = must(score_histogram(scores, go_on));
  ASSERT_GE(histogram.bins.size(), 4U * (45 + 38));
  EXPECT_EQ(histogram.bins.front().page_count, 1U);
  EXPECT_LE(histogram.bins.front().low, 1.4e-45);
  EXPECT_EQ(histogram.bins.back().page_count, 1U);
  EXPECT_GT(histogram.bins.back().high, 3.4e38);
}

TEST_F(ScoresView, HasNoBinsWhereAllScoresAre0) {
  const auto scores = store_values({});
  const ScoreHistogram histogram = must(score_histogram(scores, go_on));
  EXPECT_TRUE(histogram.bins.empty());
  EXPECT_EQ(histogram.zero_count, scores.info().page_count);
}

TEST_F(ScoresView, StopsWhenItIsToldTo) {
  const auto stop = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return false; };
  const auto scores = store_values({1});
  EXPECT_EQ(score_histogram(scores, stop).error().code, Errc::kCancelled);
  EXPECT_EQ(score_quantiles(scores, stop).error().code, Errc::kCancelled);
  EXPECT_EQ(top_in_range(view(), scores, {.range = {}, .count = 1}, stop).error().code,
            Errc::kCancelled);
}

TEST_F(ScoresView, RanksPagesInTheOrderOfTheBest) {
  const auto scores = store_values({1, 3, 0, 3, 2});
  const auto top = must(scores.top(100));
  ASSERT_EQ(top.size(), 4U);
  for (std::size_t i = 0; i < top.size(); ++i) {
    EXPECT_EQ(must(rank_of(scores, top[i].index)), i + 1);
  }
  EXPECT_EQ(must(rank_of(scores, 2)), std::nullopt) << "it has 0";
  EXPECT_EQ(must(rank_of(scores, scores.info().page_count)), std::nullopt) << "it came later";
}

TEST_F(ScoresView, GivesTheBestPagesWithRankAndLinks) {
  const auto scores = store_values({1, 3, 0, 2});
  const Table table = top_table(must(top_pages(view(), scores, 2)), ScoreSubject::kPage);
  ASSERT_EQ(table.rows.size(), 2U);
  const std::vector<Cell> second{std::uint64_t{3},
                                 std::uint64_t{2},
                                 2.0,
                                 std::string("crawled"),
                                 std::uint64_t{must(view().in_links(3)).size()},
                                 std::uint64_t{must(view().out_links(3)).size()},
                                 must(view().url(3))};
  EXPECT_EQ(table.rows[1], second);
}

TEST_F(ScoresView, GivesTheBestPagesOfARangeWithBothEnds) {
  const auto scores = store_values({0.5F, 0.1F, 0, 4, 0.3F, 0.5F, 0.25F});
  const RangeTop top = must(top_in_range(view(), scores, {.range = {0.1, 0.5}, .count = 3}, go_on));
  EXPECT_EQ(top.page_count, 5U);
  EXPECT_EQ(top.better_count, 1U);
  ASSERT_EQ(top.pages.size(), 3U);
  const Table table = top_table(top.pages, ScoreSubject::kPage);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted{{0, 2}, {5, 3}, {4, 4}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(table.rows[i][0], Cell(wanted[i].first));
    EXPECT_EQ(table.rows[i][1], Cell(wanted[i].second)) << "its rank among all";
    EXPECT_EQ(must(rank_of(scores, wanted[i].first)), wanted[i].second);
  }
}

TEST_F(ScoresView, GivesInAnEndlessRangeWhatTheArrayPutsFirst) {
  const auto scores = store_values({1, 3, 0, 3, 2, 3.4e38F});
  for (const std::size_t count : {0U, 1U, 3U, 100U}) {
    const auto best = must(scores.top(count));
    const auto top = must(top_in_range(view(), scores, {.range = {}, .count = count}, go_on));
    EXPECT_EQ(top.page_count, 5U);
    EXPECT_EQ(top.better_count, 0U);
    ASSERT_EQ(top.pages.size(), best.size());
    for (std::size_t i = 0; i < best.size(); ++i) EXPECT_EQ(top.pages[i].index, best[i].index);
  }
}

TEST_F(ScoresView, GivesNoPagesOfARangeThatNoScoreIsIn) {
  const auto scores = store_values({1, 3, 0, 2});
  EXPECT_EQ(must(top_in_range(view(), scores, {.range = {3.5, 9}, .count = 10}, go_on)).page_count,
            0U);
  EXPECT_EQ(must(top_in_range(view(), scores, {.range = {2, 1}, .count = 10}, go_on)).page_count,
            0U)
      << "turned round";
  EXPECT_EQ(must(top_in_range(view(), scores, {.range = {0, 0}, .count = 10}, go_on)).better_count,
            3U);
}

TEST_F(ScoresView, GivesTheBestKnownPagesWithTheirRanksAmongAll) {
  std::vector<float> values;
  std::vector<std::uint64_t> known;
  for (std::uint64_t i = 0; i < view().info().page_count; ++i) {
    values.push_back(static_cast<float>(1 + i % 5));
    if (must(view().state(i)) == PageState::kKnown) known.push_back(i);
  }
  ASSERT_GT(known.size(), 3U);
  ASSERT_LT(known.size(), values.size());
  const auto scores = store_values(values);
  for (const std::size_t count : {std::size_t{0}, std::size_t{3}, values.size()}) {
    const RangeTop top = must(
        top_in_range(view(), scores, {.range = {}, .is_of_known = true, .count = count}, go_on));
    EXPECT_EQ(top.page_count, known.size());
    ASSERT_EQ(top.pages.size(), std::min(count, known.size()));
    for (const TopPage& page : top.pages) {
      EXPECT_EQ(page.state, PageState::kKnown);
      EXPECT_EQ(page.rank, must(rank_of(scores, page.index)));
    }
    EXPECT_TRUE(std::ranges::is_sorted(top.pages, {}, &TopPage::rank));
  }
}

TEST_F(ScoresView, GivesTheLowestScoresThatSharesOfPagesHaveAtMost) {
  crawl_web(pages_, 3, 40, kCrawlTimeUs + 1);
  must(pages_.merge());
  std::vector<float> values(view().info().page_count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 7 == 0 ? 0.0F : std::pow(1.37F, static_cast<float>(i * 31 % 97) - 60);
  }
  const auto quantiles = must(score_quantiles(store_values(values), go_on)).value();
  std::ranges::sort(values);
  const auto expected = [&](double share) {
    const double place = std::ceil(share * static_cast<double>(values.size())) - 1;
    return score_value(values[static_cast<std::size_t>(place)]);
  };
  EXPECT_EQ(quantiles.median, expected(0.5));
  EXPECT_EQ(quantiles.p90, expected(0.9));
  EXPECT_EQ(quantiles.p99, expected(0.99));
  EXPECT_GT(quantiles.p99, quantiles.p90);
  const auto none = must(score_quantiles(store_values({}), go_on)).value();
  EXPECT_EQ(none.p99, 0) << "pages with 0 count";
}

TEST_F(ScoresView, FindsTheArrayThatTheBestPagesGoBy) {
  EXPECT_EQ(find_best_scores({}), nullptr);
  std::vector<ScoresInfo> arrays(3);
  arrays[0].name = "hosts";
  arrays[0].subject = ScoreSubject::kHost;
  arrays[1].name = "own";
  arrays[1].subject = ScoreSubject::kPage;
  arrays[2].name = ScoreView::kDefaultName;
  arrays[2].subject = ScoreSubject::kPage;
  EXPECT_EQ(find_best_scores({arrays[0]}), nullptr);
  EXPECT_EQ(find_best_scores(arrays), &arrays[2]);
  arrays.pop_back();
  EXPECT_EQ(find_best_scores(arrays), &arrays[1]);
}

TEST_F(ScoresView, CutsLongUrlsOfARange) {
  const std::string url = "http://long.example/" + std::string(2 * kRowUrlBytesMax, 'x');
  must(pages_.add(CrawledPage(url, kCrawlTimeUs)));
  must(pages_.merge());
  std::vector<float> values(view().info().page_count);
  values[must(view().find(url)).value()] = 1;
  const auto scores = store_values(values);
  EXPECT_EQ(must(top_in_range(view(), scores, {.range = {}, .count = 1}, go_on)).pages.at(0).url,
            row_url(url));
  EXPECT_EQ(must(top_pages(view(), scores, 1)).at(0).url, url);
}

TEST_F(ScoresView, GivesTheDetailOfAPageItsScoresAndRanks) {
  store_values({0.5F, 4});
  EXPECT_EQ(detail(0, "score:own"), Cell(0.5));
  EXPECT_EQ(detail(0, "rank:own"), Cell(std::uint64_t{2}));
  EXPECT_EQ(detail(2, "score:own"), Cell(0.0));
  EXPECT_EQ(detail(2, "rank:own"), Cell());
  const std::uint64_t later = view().info().page_count;
  must(pages_.add(CrawledPage("http://later.example/", kCrawlTimeUs)));
  must(pages_.merge());
  EXPECT_EQ(detail(later, "score:own"), Cell());
  EXPECT_EQ(detail(later, "rank:own"), Cell());
}

}  // namespace
}  // namespace crawlstore::model
