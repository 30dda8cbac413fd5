// SPDX-License-Identifier: Apache-2.0
#include "cli/edge_lines.h"

#include <string>

#include <gtest/gtest.h>

namespace crawlstore::cli {
namespace {

Edge edge_of(std::string_view line) {
  const auto edge = parse_edge(line);
  EXPECT_TRUE(edge) << line;
  return edge.value_or(Edge{});
}

TEST(ParseIndexName, TakesDigitsBehindAHash) {
  EXPECT_EQ(parse_index_name("#0"), 0U);
  EXPECT_EQ(parse_index_name("#1099511627775"), (std::uint64_t{1} << 40U) - 1);
  EXPECT_EQ(parse_index_name("#99999999999999999999"), ~std::uint64_t{0});
  for (const char* text : {"", "#", "1", "#1 ", "# 1", "#-1", "#+1", "#0x1", "##1"}) {
    EXPECT_FALSE(parse_index_name(text)) << text;
  }
}

TEST(ParseEdge, TellsUrlsFromIndexes) {
  EXPECT_EQ(edge_of("a\tb").naming, model::PageNaming::kUrls);
  EXPECT_EQ(edge_of("#x\t#").naming, model::PageNaming::kUrls);
  const Edge edge = edge_of("#3\t#1099511627775");
  EXPECT_EQ(edge.naming, model::PageNaming::kIndexes);
  EXPECT_EQ(edge.from_index, 3U);
  EXPECT_EQ(edge.to_index, (std::uint64_t{1} << 40U) - 1);
}

TEST(ParseEdge, RefusesWhatIsNoEdge) {
  for (const char* line : {"", "\t", "a", "a\t", "\tb", "a\tb\t", "a\tb\tc", "#1\tb", "a\t#1",
                           "#1\t#1099511627776", "#1099511627776\t#1"}) {
    EXPECT_FALSE(parse_edge(line)) << line;
  }
  const std::string url(kEventUrlBytesMax, 'a');
  EXPECT_TRUE(parse_edge(url + "\tb"));
  EXPECT_FALSE(parse_edge(url + "a\tb"));
  EXPECT_FALSE(parse_edge("b\t" + url + "a"));
}

TEST(EdgeCollector, MakesOneEventOfLinesWithOneSource) {
  EdgeCollector edges;
  EXPECT_TRUE(edges.empty());
  edges.add(edge_of("a\tb"));
  EXPECT_FALSE(edges.begins_event(edge_of("a\tc")));
  EXPECT_TRUE(edges.begins_event(edge_of("b\tc")));
  EXPECT_TRUE(edges.begins_event(edge_of("#0\t#1")));
  edges.add(edge_of("a\tc"));
  const CrawlEvent event = edges.take();
  EXPECT_EQ(event.kind, CrawlEventKind::kLinkAdded);
  EXPECT_EQ(event.url, "a");
  ASSERT_EQ(event.links.size(), 2U);
  EXPECT_EQ(event.links[0].url, "b");
  EXPECT_EQ(event.links[1].url, "c");
  EXPECT_TRUE(edges.empty());
  EXPECT_TRUE(edges.begins_event(edge_of("a\td")));
}

TEST(EdgeCollector, CutsEventsThatBecomeLong) {
  EdgeCollector edges;
  const std::string line = "a\t" + std::string(std::size_t{1} << 20U, 'b');
  std::size_t count = 0;
  for (; edges.empty() || !edges.begins_event(edge_of(line)); ++count) edges.add(edge_of(line));
  EXPECT_EQ(count, 4U);
}

}  // namespace
}  // namespace crawlstore::cli
