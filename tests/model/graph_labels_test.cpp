// SPDX-License-Identifier: Apache-2.0
#include "model/graph_labels.h"

#include <gtest/gtest.h>

namespace crawlstore::model {
namespace {

GraphNode page(std::string host, std::string url) {
  GraphNode node;
  node.host = std::move(host);
  node.label = std::move(url);
  return node;
}

TEST(GraphLabels, LeaveOutWhatAllNodesOfASiteShare) {
  EgoGraph graph;
  graph.nodes = {page("a.example", "https://a.example/x/1"),
                 page("a.example", "https://a.example:8080/x/2?y=3"),
                 page("a.example", "https://a.example/"),
                 page("b.example", "https://b.example/x/1"),
                 page("a.example", "https://a.example?q"),
                 page("", "page 7")};
  std::vector<std::string> labels;
  for (const GraphNode& node : graph.nodes) labels.push_back(short_label(graph, node));
  EXPECT_EQ(labels, (std::vector<std::string>{"/x/1", "/x/2?y=3", "a.example/", "b.example/x/1",
                                              "?q", "page 7"}));
}

TEST(GraphLabels, KeepTheNamesOfHosts) {
  EgoGraph graph;
  graph.is_of_hosts = true;
  graph.nodes = {page("a.example", "a.example")};
  EXPECT_EQ(short_label(graph, graph.nodes.front()), "a.example");
}

TEST(GraphLabels, AreCutInTheMiddleBetweenLetters) {
  EXPECT_EQ(cut_middle("a.example/wiki/b/page-12.html", 15), "a.ex...-12.html");
  EXPECT_EQ(cut_middle("/wiki/a/b/c/page-12.html", 15), "...page-12.html") << "a path";
  EXPECT_EQ(cut_middle("/short", 6), "/short");
  EXPECT_EQ(cut_middle("1234567890", 0), "1...7890") << "8 are always there";
  EXPECT_EQ(cut_middle("\u65e5\u672c\u65e5\u672c\u65e5\u672c\u65e5\u672c\u65e5\u672c", 9),
            "\u65e5\u672c...\u65e5\u672c\u65e5\u672c");
}

TEST(GraphLabels, TakeBytesThatAreNoText) {
  EXPECT_EQ(cut_middle("\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe", 8), "\xff...\xff\xfe\xff\xfe");
}

}  // namespace
}  // namespace crawlstore::model
