// SPDX-License-Identifier: Apache-2.0
#include "model/graph_scores.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <crawlstore/pages.h>

#include "drum/memory_store.h"
#include "inspector/pages_file.h"
#include "model/graph_drawing.h"

namespace crawlstore::model {
namespace {

using testing::crawl_web;
using ::testing::HasSubstr;
using testing::kCrawlTimeUs;
using testing::MemoryStore;
using testing::must;

using Scores = std::vector<std::optional<double>>;

bool go_on(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return true;
}

std::vector<float> sizes_of(const Scores& scores) {
  std::vector<float> sizes;
  for (const NodeScore& node : scale_scores(scores)) sizes.push_back(node.size);
  return sizes;
}

std::vector<std::size_t> ranks_of(const Scores& scores) {
  std::vector<std::size_t> ranks;
  for (const NodeScore& node : scale_scores(scores)) ranks.push_back(node.rank);
  return ranks;
}

TEST(NodeScores, AreLargeByTheLogarithm) {
  const auto sizes = sizes_of({1e-6, 1e-2, 1e-4, 1e-5});
  ASSERT_EQ(sizes.size(), 4U);
  EXPECT_FLOAT_EQ(sizes[0], 0);
  EXPECT_FLOAT_EQ(sizes[1], 1);
  EXPECT_FLOAT_EQ(sizes[2], 0.5);
  EXPECT_FLOAT_EQ(sizes[3], 0.25);
}

TEST(NodeScores, AreSmallestWhereThereIsNoLogarithmAndNoScore) {
  EXPECT_EQ(sizes_of({0.0, std::nullopt, 3.0, 5.0, 0.0}), (std::vector<float>{0, 0, 0, 1, 0}));
  EXPECT_EQ(sizes_of({0.0, 0.0}), (std::vector<float>{0, 0}));
  EXPECT_EQ(sizes_of({std::nullopt}), (std::vector<float>{0}));
  EXPECT_TRUE(sizes_of({}).empty());
}

TEST(NodeScores, AreHalfAsLargeAsCanBeWhereAllAreEqual) {
  EXPECT_EQ(sizes_of({7.0, 7.0, 0.0}), (std::vector<float>{0.5, 0.5, 0}));
}

TEST(NodeScores, SpanAllNumbersThereAre) {
  using Limits = std::numeric_limits<double>;
  const auto sizes = sizes_of({Limits::denorm_min(), Limits::max(), 1.0});
  EXPECT_EQ(sizes[0], 0);
  EXPECT_EQ(sizes[1], 1);
  EXPECT_GT(sizes[2], 0.4F);
  EXPECT_LT(sizes[2], 0.6F);
}

TEST(NodeScores, ShareTheRankOfEquals) {
  EXPECT_EQ(ranks_of({2.0, std::nullopt, 5.0, 2.0, 0.0, 1.0}),
            (std::vector<std::size_t>{2, 0, 1, 2, 5, 4}));
}

TEST(Shades, DivideSizesEvenly) {
  EXPECT_EQ(shade_of(0, 7), 0U);
  EXPECT_EQ(shade_of(0.142F, 7), 0U);
  EXPECT_EQ(shade_of(0.143F, 7), 1U);
  EXPECT_EQ(shade_of(0.5F, 7), 3U);
  EXPECT_EQ(shade_of(1, 7), 6U);
  EXPECT_EQ(shade_of(1, 1), 0U);
}

/// A small web and scores of one's own, before and after more pages came.
class GraphsWithScores : public ::testing::Test {
 protected:
  GraphsWithScores() : pages_(must(PageDb::open(*store_))) {
    crawl_web(pages_, 2, 4, kCrawlTimeUs);
    must(pages_.merge());
    std::vector<float> values(view().info().page_count);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 8;
    must(store_scores(*store_, "own", view(), values));
    old_count_ = values.size();
  }
  [[nodiscard]] PageView view() { return must(PageView::open(must(store_->snapshot()))); }
  EgoGraph graph() {
    return must(page_graph(view(), 0, {GraphDirection::kBoth, 3, 500, {}}, go_on));
  }
  GraphScores scores() {
    return must(graph_scores(graph(), must(ScoreView::open(view(), "own")), go_on));
  }

  MemoryStore store_;
  PageDb pages_;
  std::uint64_t old_count_ = 0;
};

TEST_F(GraphsWithScores, HaveThoseOfTheirPages) {
  const EgoGraph around = graph();
  const GraphScores found = scores();
  EXPECT_EQ(found.name, "own");
  ASSERT_EQ(found.nodes.size(), around.nodes.size());
  ASSERT_GT(found.nodes.size(), 5U);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < found.nodes.size(); ++i) {
    EXPECT_EQ(found.nodes[i].score, static_cast<double>(around.nodes[i].page) / 8);
    last = std::max(last, around.nodes[i].page);
  }
  EXPECT_EQ(found.scored_count, found.nodes.size());
  EXPECT_EQ(found.lowest, 0);
  EXPECT_EQ(found.highest, static_cast<double>(last) / 8);
}

TEST_F(GraphsWithScores, TakeTheBestByTheArrayWhereThereIsLittleRoom) {
  EgoGraphOptions options;
  options.nodes_max = 4;
  options.scores = must(ScoreView::open(view(), "own"));  // the higher the index, the better
  options.depth = 1;
  const EgoGraph best = must(page_graph(view(), 0, options, go_on));
  options.nodes_max = 500;
  std::vector<std::uint64_t> near;
  for (const GraphNode& node : must(page_graph(view(), 0, options, go_on)).nodes) {
    if (node.page != 0) near.push_back(node.page);
  }
  ASSERT_GT(near.size(), 3U);
  std::ranges::sort(near, std::greater<>{});
  ASSERT_EQ(best.nodes.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(best.nodes[i + 1].page, near[i]);
}

TEST_F(GraphsWithScores, WriteThemForGraphviz) {
  GraphScores found = scores();
  found.nodes[1].score.reset();
  const std::string dot = graph_dot(graph(), found);
  EXPECT_THAT(dot, HasSubstr(fmt::format(R"(, "score:own"="{}"];)", *found.nodes[2].score)));
  EXPECT_EQ(dot.find("score:own", dot.find("  n1 [")), dot.find("score:own", dot.find("  n2 [")));
}

TEST_F(GraphsWithScores, TellThePagesThatCameSince) {
  crawl_web(pages_, 2, 8, kCrawlTimeUs + 1);
  must(pages_.merge());
  const EgoGraph around = graph();
  const GraphScores found = scores();
  std::size_t new_count = 0;
  for (std::size_t i = 0; i < found.nodes.size(); ++i) {
    const bool is_new = around.nodes[i].page >= old_count_;
    EXPECT_EQ(found.nodes[i].score.has_value(), !is_new) << i;
    EXPECT_EQ(describe_score(found, i) == "none, it came since", is_new) << i;
    new_count += is_new ? 1U : 0U;
  }
  EXPECT_GT(new_count, 0U);
  EXPECT_EQ(found.scored_count + new_count, found.nodes.size());
}

TEST_F(GraphsWithScores, TellScoreAndRankOfANode) {
  const GraphScores found{
      .name = "own", .nodes = scale_scores(Scores{0.5, 0.25, {}}), .scored_count = 2};
  EXPECT_EQ(describe_score(found, 0), "0.5, rank 1 of 2 shown");
  EXPECT_EQ(describe_score(found, 1), "0.25, rank 2 of 2 shown");
}

TEST_F(GraphsWithScores, StopWhenTheyAreToldTo) {
  const auto stop = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return false; };
  const auto found = graph_scores(graph(), must(ScoreView::open(view(), "own")), stop);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kCancelled);
}

TEST_F(GraphsWithScores, RejectAnArrayOfHosts) {
  must(rank_pages(*store_, {.name = "hosts", .by = ScoreSubject::kHost}));
  const auto found = graph_scores(graph(), must(ScoreView::open(view(), "hosts")), go_on);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kTypeMismatch);
}

}  // namespace
}  // namespace crawlstore::model
