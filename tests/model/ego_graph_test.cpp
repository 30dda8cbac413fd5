// SPDX-License-Identifier: Apache-2.0
#include "model/ego_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <crawlstore/page_key.h>

#include "inspector/pages_file.h"
#include "model/graph_drawing.h"
#include "model/graph_layout.h"
#include "support/random.h"

namespace crawlstore::model {
namespace {

using ::testing::HasSubstr;
using testing::MemoryStore;
using testing::must;
using testing::Random;

bool go_on(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return true;
}

/// A random graph of pages on some hosts, and what it is as a plain list of pairs.
class EgoGraphs : public ::testing::Test {
 protected:
  EgoGraphs() {
    PageDb pages = must(PageDb::open(*store_));
    Random random(11);
    for (std::uint64_t i = 0; i < 120; ++i) {
      CrawledPage page(url(i), testing::kCrawlTimeUs);
      page.set_score(static_cast<float>(random.below(1000)) / 1000);
      for (std::uint64_t n = random.below(5); n > 0; --n) page.add_link(url(random.below(120)));
      must(pages.add(page));
    }
    must(pages.merge());
    must(pages.close());
    view_.emplace(must(PageView::open(must(store_->snapshot()))));
    for (std::uint64_t page = 0; page < view_->info().page_count; ++page) {
      for (const std::uint64_t to : must(view_->out_links(page))) links_.emplace(page, to);
    }
  }
  static std::string url(std::uint64_t i) {
    return "http://h" + std::to_string(i % 7) + ".example/" + std::to_string(i);
  }
  /// Distances from the centre, as far as `depth`.
  [[nodiscard]] std::map<std::uint64_t, std::uint32_t> walk(std::uint64_t centre,
                                                            GraphDirection direction,
                                                            std::uint32_t depth) const {
    std::map<std::uint64_t, std::uint32_t> distances{{centre, 0}};
    for (std::uint32_t level = 1; level <= depth; ++level) {
      const auto before = distances;
      for (const auto& [from, to] : links_) {
        const auto reach = [&](std::uint64_t a, std::uint64_t b) {
          const auto known = before.find(a);
          if (known != before.end()) distances.emplace(b, level);
        };
        if (direction != GraphDirection::kIn) reach(from, to);
        if (direction != GraphDirection::kOut) reach(to, from);
      }
    }
    return distances;
  }
  void expect_edges(const EgoGraph& graph) const {
    std::map<std::uint64_t, std::uint32_t> places;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
      EXPECT_TRUE(places.emplace(graph.nodes[i].page, i).second) << "twice";
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> expected;
    for (const auto& [from, to] : links_) {
      const bool is_inside = places.contains(from) && places.contains(to) && from != to;
      if (is_inside) expected.emplace(places[from], places[to]);
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const GraphEdge& edge : graph.edges) EXPECT_TRUE(edges.emplace(edge.from, edge.to).second);
    EXPECT_EQ(edges, expected);
  }

  MemoryStore store_;
  std::optional<PageView> view_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> links_;
};

TEST_F(EgoGraphs, HoldAllPagesWithinTheDepthWhereThereIsRoom) {
  using enum GraphDirection;
  for (const GraphDirection direction : {kOut, kIn, kBoth}) {
    for (std::uint32_t depth = 1; depth <= 3; ++depth) {
      for (std::uint64_t centre = 0; centre < 120; centre += 7) {
        const auto graph = must(page_graph(*view_, centre, {direction, depth, 100'000, {}}, go_on));
        std::map<std::uint64_t, std::uint32_t> distances;
        for (const GraphNode& node : graph.nodes) distances[node.page] = node.distance;
        EXPECT_EQ(graph.nodes.front().page, centre);
        EXPECT_EQ(distances, walk(centre, direction, depth));
        expect_edges(graph);
      }
    }
  }
}

TEST_F(EgoGraphs, TakeTheBestWhereThereIsLittleRoom) {
  for (std::uint64_t centre = 0; centre < 120; centre += 5) {
    const auto graph = must(page_graph(*view_, centre, {GraphDirection::kBoth, 1, 3, {}}, go_on));
    EXPECT_LE(graph.nodes.size(), 3U);
    float worst = INFINITY;
    std::set<std::uint64_t> taken;
    for (const GraphNode& node : graph.nodes) {
      taken.insert(node.page);
      if (node.page != centre) worst = std::min(worst, node.score);
    }
    std::uint64_t hidden_count = 0;
    for (const auto& [page, distance] : walk(centre, GraphDirection::kBoth, 1)) {
      if (taken.contains(page)) continue;
      ++hidden_count;
      EXPECT_LE(must(view_->page(page)).score, worst);
    }
    EXPECT_EQ(graph.nodes.front().hidden_count, hidden_count);
    expect_edges(graph);
  }
}

TEST_F(EgoGraphs, KeepTheBudgetAtEachDepthAndReachTheLastLevel) {
  for (std::size_t budget = 1; budget < 60; ++budget) {
    const auto graph = must(page_graph(*view_, 1, {GraphDirection::kBoth, 3, budget, {}}, go_on));
    EXPECT_LE(graph.nodes.size(), budget);
    if (budget < 12) continue;
    EXPECT_EQ(std::ranges::max(graph.nodes, {}, &GraphNode::distance).distance, 3U) << budget;
  }
}

TEST_F(EgoGraphs, UseTheWholeBudgetWhileThereArePagesWithinTheDepth) {
  using enum GraphDirection;
  for (const GraphDirection direction : {kOut, kIn, kBoth}) {
    for (std::uint32_t depth = 1; depth <= 3; ++depth) {
      const auto near = walk(3, direction, depth);
      for (std::size_t budget = 1; budget <= 120; budget += 4) {
        const auto graph = must(page_graph(*view_, 3, {direction, depth, budget, {}}, go_on));
        EXPECT_EQ(graph.nodes.size(), std::min(budget, near.size())) << depth << " " << budget;
        for (const GraphNode& node : graph.nodes) {
          EXPECT_GE(node.distance, near.at(node.page)) << "no way is shorter";
        }
      }
    }
  }
  for (std::size_t budget = 1; budget <= 7; ++budget) {
    EXPECT_EQ(must(host_graph(*view_, "h3.example", {kBoth, 2, budget, {}}, go_on)).nodes.size(),
              budget);
  }
}

TEST_F(EgoGraphs, GrowWhereTheyAreExpanded) {
  std::uint64_t centre = 0;
  while (walk(centre, GraphDirection::kBoth, 1).size() < 7) ++centre;
  const auto small = must(page_graph(*view_, centre, {GraphDirection::kBoth, 1, 4, {}}, go_on));
  ASSERT_EQ(small.nodes.size(), 4U);
  const GraphNode& node = small.nodes[2];
  const auto large =
      must(page_graph(*view_, centre, {GraphDirection::kBoth, 1, 4, {node.page, 9999}}, go_on));
  EXPECT_EQ(large.nodes.size(),
            4 + std::min<std::uint64_t>(EgoGraphOptions::kExpandedMax, *node.hidden_count));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(large.nodes[i].page, small.nodes[i].page);
  expect_edges(large);
}

TEST_F(EgoGraphs, OfHostsCountTheLinksBetweenThem) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> expected;
  const auto host = [&](std::uint64_t page) {
    return std::string(url_host(must(view_->url(page))));
  };
  for (const auto& [from, to] : links_) {
    if (host(from) != host(to)) ++expected[{host(from), host(to)}];
  }
  const auto graph =
      must(host_graph(*view_, "h3.example", {GraphDirection::kBoth, 2, 100, {}}, go_on));
  EXPECT_EQ(graph.nodes.size(), 7U);
  EXPECT_TRUE(graph.is_of_hosts);
  std::map<std::pair<std::string, std::string>, std::uint64_t> edges;
  for (const GraphEdge& edge : graph.edges) {
    edges[{graph.nodes[edge.from].host, graph.nodes[edge.to].host}] = edge.link_count;
  }
  EXPECT_EQ(edges, expected);
  EXPECT_EQ(host_graph(*view_, "none.example", {}, go_on).error().code, Errc::kInvalidArgument);
}

TEST_F(EgoGraphs, OfHostsSayHowManyPagesWereNotLookedAt) {
  EgoGraphOptions options{GraphDirection::kBoth, 2, 100, {}};
  const auto all = must(host_graph(*view_, "h3.example", options, go_on));
  EXPECT_EQ(all.unseen_page_count, 0U);
  options.host_pages_max = 2;
  const auto some = must(host_graph(*view_, "h3.example", options, go_on));
  std::uint64_t page_count = 0;
  for (const GraphNode& node : some.nodes) {
    const auto same = std::ranges::find(all.nodes, node.host, &GraphNode::host);
    ASSERT_NE(same, all.nodes.end());
    EXPECT_EQ(node.page_count, same->page_count) << "all pages are counted";
    page_count += node.page_count - std::min<std::uint64_t>(node.page_count, 2);
  }
  EXPECT_EQ(some.unseen_page_count, page_count);
  EXPECT_GT(page_count, 0U);
}

TEST_F(EgoGraphs, StopWhenTheyAreToldTo) {
  const auto stop = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_EQ(page_graph(*view_, 1, {}, stop).error().code, Errc::kCancelled);
  EXPECT_EQ(host_graph(*view_, "h1.example", {}, stop).error().code, Errc::kCancelled);
  EXPECT_EQ(page_graph(*view_, 12'000, {}, go_on).error().code, Errc::kInvalidArgument);
}

/// A wheel: a middle, spokes, a rim.
EgoGraph wheel(std::uint32_t count) {
  EgoGraph graph;
  graph.nodes.resize(count + 1);
  for (std::uint32_t i = 1; i <= count; ++i) {
    graph.nodes[i].distance = 1;
    graph.edges.push_back({0, i});
    graph.edges.push_back({i, i % count + 1});
  }
  return graph;
}

TEST(GraphLayout, PutsNeighboursNearAndNoTwoNodesOnOnePlace) {
  for (const std::uint32_t count : {4U, 40U, 600U}) {
    const EgoGraph graph = wheel(count);
    const auto points = lay_out(graph, {}, go_on);
    ASSERT_EQ(points.size(), count + 1);
    const float side = layout_side(points.size());
    double rim = 0;
    double all = 0;
    for (std::uint32_t i = 1; i <= count; ++i) {
      EXPECT_LE(std::abs(points[i].x), side / 2 + 0.01F);
      EXPECT_LE(std::abs(points[i].y), side / 2 + 0.01F);
      const auto distance = [&](std::uint32_t a, std::uint32_t b) {
        return std::hypot(points[a].x - points[b].x, points[a].y - points[b].y);
      };
      rim += static_cast<double>(distance(i, i % count + 1));
      all += static_cast<double>(distance(i, (i + count / 2 - 1) % count + 1));
      EXPECT_GT(distance(i, i % count + 1), 0.001F);
    }
    EXPECT_LT(rim, all) << count;
  }
}

TEST(GraphLayout, IsTheSameForTheSameGraph) {
  for (const std::uint32_t count : {30U, 700U}) {
    EXPECT_EQ(lay_out(wheel(count), {}, go_on), lay_out(wheel(count), {}, go_on));
  }
}

TEST(GraphLayout, TakesGraphsOfOneNodeAndWithoutEdges) {
  EXPECT_TRUE(lay_out(EgoGraph(), {}, go_on).empty());
  for (const std::size_t count : {1U, 2U, 3U, 900U}) {
    EgoGraph graph;
    graph.nodes.resize(count);
    for (const GraphPoint& point : lay_out(graph, {}, go_on)) {
      EXPECT_TRUE(std::isfinite(point.x) && std::isfinite(point.y)) << count;
    }
  }
}

TEST(GraphLayout, MovesNodesThatHadAPlaceOnlyALittle) {
  const EgoGraph graph = wheel(50);
  const auto before = lay_out(graph, {}, go_on);
  const std::vector<std::optional<GraphPoint>> starts(before.begin(), before.end());
  const auto after = lay_out(graph, starts, go_on);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_LT(std::hypot(after[i].x - before[i].x, after[i].y - before[i].y), 2.5F);
  }
}

TEST(GraphLayout, StopsWhenItIsToldTo) {
  std::uint64_t rounds = 0;
  lay_out(wheel(50), {}, [&](std::uint64_t, std::uint64_t) { return ++rounds < 5; });
  EXPECT_EQ(rounds, 5U);
}

TEST(GraphDrawing, EscapesWhatLabelsHold) {
  EgoGraph graph = wheel(3);
  graph.nodes[1].label = "a\"b\\c<d>&\x01\xff";
  const std::string dot = graph_dot(graph, std::nullopt);
  EXPECT_THAT(dot, HasSubstr(R"(n1 [label="a\"b\\\\c<d>&amp;\\x01\\xff")"));
  EXPECT_THAT(dot, HasSubstr("n0 -> n1;"));
  const std::vector<NodeLook> looks(4, NodeLook{0x12ab34, 0.2F, true});
  const std::string svg = graph_svg(graph, lay_out(graph, {}, go_on), looks);
  EXPECT_THAT(svg, HasSubstr(R"(<title>a&quot;b\\c&lt;d&gt;&amp;\x01\xff</title>)"));
  EXPECT_THAT(svg, HasSubstr("#12ab34"));
  for (const char c : svg) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < '\x7f'));
}

}  // namespace
}  // namespace crawlstore::model
