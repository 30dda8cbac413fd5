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
  EXPECT_EQ(edge_of("x\t#").naming, model::PageNaming::kUrls);
  EXPECT_EQ(edge_of("1x\t#1x").naming, model::PageNaming::kUrls);
  const Edge edge = edge_of("#3\t#1099511627775");
  EXPECT_EQ(edge.naming, model::PageNaming::kIndexes);
  EXPECT_EQ(edge.from_index, 3U);
  EXPECT_EQ(edge.to_index, (std::uint64_t{1} << 40U) - 1);
}

TEST(ParseEdge, TakesAnyBlanksBetweenIndexes) {
  for (const char* line : {"3 17", "#3\t#17", "3\t17", " 3  17 ", "\t3 \t #17\t", "#3 17"}) {
    const Edge edge = edge_of(line);
    EXPECT_EQ(edge.naming, model::PageNaming::kIndexes) << line;
    EXPECT_EQ(edge.from_index, 3U) << line;
    EXPECT_EQ(edge.to_index, 17U) << line;
  }
}

TEST(ParseEdge, KeepsTheBlanksOfUrls) {
  const Edge edge = edge_of(" a 1\t2 b ");
  EXPECT_EQ(edge.from, " a 1");
  EXPECT_EQ(edge.to, "2 b ");
}

TEST(IsEdgeComment, TakesSignsAndBlankLines) {
  for (const char* line : {"", " ", "\t \t", "#", "# Nodes: 3", "#FromNodeId\tToNodeId", "%",
                           "% 1 2", "  # 1", "##1 2", "#-", "#--1", "#-x 1"}) {
    EXPECT_TRUE(is_comment_line(line)) << line;
  }
  for (const char* line : {"#1\t#2", "1", " #0", "a\t#", "-", ";", "//", "\v", "#-1\t#2", " #+1"}) {
    EXPECT_FALSE(is_comment_line(line)) << line;
  }
}

/// Every two of some odd URLs: what is said to fit comes back from its line.
TEST(FitsEdge, MeansThatTheLineIsTakenBack) {
  const std::vector<std::string> urls{"",    " ",   "a",   "a b",  "1",   " 1",  "1 ",
                                      "1 2", "#1",  "#1x", "# 1",  "%41", " %",  "#",
                                      "##",  "x1",  "1x",  "a\tb", "a\r", "\n",  "#x",
                                      "1 x", "x 1", " # ", "0x1",  "#-1", "#+1", "#-1x"};
  std::size_t fit_count = 0;
  for (const std::string& from : urls) {
    for (const std::string& to : urls) {
      if (!fits_edge_from(from) || !fits_edge_to(to)) continue;
      const std::string line = from + '\t' + to;
      ++fit_count;
      EXPECT_FALSE(is_comment_line(line)) << line;
      EXPECT_EQ(edge_of(line).from, from) << line;
      EXPECT_EQ(edge_of(line).to, to) << line;
      EXPECT_EQ(edge_of(line).naming, model::PageNaming::kUrls) << line;
    }
  }
  EXPECT_GT(fit_count, 80U);
}

TEST(ParseEdge, SaysWhyALineIsNoEdge) {
  const auto problem = [](std::string_view line) {
    const auto edge = parse_edge(line);
    return edge ? std::string() : std::string(edge.error().text);
  };
  EXPECT_EQ(problem("1"), "there is one column only");
  for (const char* line : {"1 2 3", "1 2\t3", "1 2 x", "1\t2 3"}) {
    EXPECT_EQ(problem(line), "there are more than two columns") << line;
  }
  for (const char* line : {"1 -2", "-1 2", "+1 +2", "1\t-2", "-1\t2", "#1 #-2", "#-1\t#2"}) {
    EXPECT_EQ(problem(line), "an index has no sign") << line;
  }
  for (const char* line : {"1 http://a.test/", "1\tb", "b\t1", "1 -"}) {
    EXPECT_EQ(problem(line), "one end is an index, the other one a URL") << line;
  }
  for (const char* line : {"http://a.test/ http://b.test/", "a 1", "-1 b", "- 1 2"}) {
    EXPECT_EQ(problem(line), "there is no TAB between FROM and TO") << line;
  }
}

TEST(ParseEdge, RefusesWhatIsNoEdge) {
  for (const char* line : {"",
                           "\t",
                           "a",
                           "a\t",
                           "\tb",
                           "a\tb\t",
                           "a\tb\tc",
                           "#1\tb",
                           "a\t#1",
                           "#1\t#1099511627776",
                           "#1099511627776\t#1",
                           "1",
                           "1 ",
                           "1 2 3",
                           "1 2\t3",
                           "1\t2\t3",
                           "a b",
                           "1 b",
                           "a 1",
                           "1 -2",
                           "1 +2",
                           "1 0x2",
                           "1,2",
                           "#-1\t#2",
                           "#1\t#-2",
                           "#-1\t#-2",
                           "#+1\tb",
                           "a\t #-1 ",
                           "# 1\t2\t3",
                           " 1\ta",
                           "a\t 1 ",
                           "1 99999999999999999999"}) {
    EXPECT_FALSE(parse_edge(line)) << line;
  }
  const std::string url(kEventUrlBytesMax, 'a');
  EXPECT_TRUE(parse_edge(url + "\tb"));
  EXPECT_FALSE(parse_edge(url + "a\tb"));
  EXPECT_FALSE(parse_edge("b\t" + url + "a"));
}

TEST(EdgeColumnCount, CountsIndexesBetweenBlanksAndTextsBetweenTabs) {
  EXPECT_EQ(edge_column_count("1"), 1U);
  EXPECT_EQ(edge_column_count(" 1\t#2  3 "), 3U);
  EXPECT_EQ(edge_column_count("http://a.test/ b\tc\td"), 3U);
  EXPECT_EQ(edge_column_count("1 2 -3"), 1U);
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
