// SPDX-License-Identifier: Apache-2.0
//
// Real graphs, when their folder is there: round trips, transposition, and how long they are.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "links/link_store.h"
#include "links/real_graph.h"

namespace crawlstore::testing {
namespace {

Rows transposed(const Rows& rows) {
  Rows result;
  for (const auto& [page, row] : rows) {
    for (const std::uint64_t link : row) result[link].push_back(page);
  }
  return result;
}

struct Graph {
  const char* name;
  std::uint64_t links;
  double bits_out;  ///< a link takes fewer, index and checksums included
  double bits_in;
};

class LinkGraphs : public ::testing::TestWithParam<Graph> {};

TEST_P(LinkGraphs, ComeBackBothWaysAndAreShort) {
  const Rows out = real_graph(GetParam().name);
  if (out.empty()) GTEST_SKIP() << "no " << GetParam().name << "; CRAWLSTORE_DATA names its folder";
  const Rows in = transposed(out);
  const ContainerStore store;
  const auto writer = store.writer();
  const auto segments = add_link_segments(*writer);
  append_rows(*writer, segments.out, out);
  append_rows(*writer, segments.in, in);
  must(writer->commit());
  EXPECT_EQ(text_of(store.verified_below_pages()), "");
  const auto reader = store.reader();
  auto view = must(links::LinkView::open(*reader, segments));
  EXPECT_TRUE(rows_of(view.out_rows()) == out);
  EXPECT_TRUE(rows_of(view.in_rows()) == in);
  EXPECT_TRUE(transposed(rows_of(view.in_rows())) == out);
  std::vector<std::uint64_t> links;
  for (const auto& [page, row] : in) {
    if (page % 37 != 0) continue;
    must(view.in(page, links));
    ASSERT_EQ(links, row);
  }
  const auto bits = [](const links::LogRun& run) {
    return 8.0 * static_cast<double>(run.run.run().extent().length_bytes) /
           static_cast<double>(run.run.footer().link_count);
  };
  EXPECT_EQ(view.out_runs().front().run.footer().link_count, GetParam().links);
  EXPECT_LT(bits(view.out_runs().front()), GetParam().bits_out);
  EXPECT_LT(bits(view.in_runs().front()), GetParam().bits_in);
}

INSTANTIATE_TEST_SUITE_P(All, LinkGraphs,
                         ::testing::Values(Graph{"cnr-2000.adj.zst", 3'216'152, 6.5, 5.7},
                                           Graph{"docs-public.adj.zst", 716'365, 9.0, 9.0}),
                         [](const auto& graph) {
                           const std::string name = graph.param.name;
                           return name.substr(0, name.find_first_of("-."));
                         });

}  // namespace
}  // namespace crawlstore::testing
