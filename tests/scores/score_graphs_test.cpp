// SPDX-License-Identifier: Apache-2.0
//
// Scores of real graphs, when their folder is there.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "links/real_graph.h"
#include "scores/graphs.h"

namespace crawlstore::testing {
namespace {

struct Graph {
  const char* name;
  std::uint64_t page_count;
  std::size_t iterations_max;  ///< to 1e-6
};

class ScoreGraphs : public ::testing::TestWithParam<Graph> {};

TEST_P(ScoreGraphs, HavePageRanksAfterFewIterations) {
  const auto& [name, page_count, iterations_max] = GetParam();
  const Rows rows = real_graph(name);
  if (rows.empty()) GTEST_SKIP() << "no " << name << "; CRAWLSTORE_DATA names its folder";
  const auto result = must(page_rank(cache_of(rows, page_count), {.threads = 2}));
  EXPECT_TRUE(result.has_converged);
  EXPECT_LE(result.residuals.size(), iterations_max);
  RecordProperty("iterations", static_cast<int>(result.residuals.size()));
  const auto exact = power_iteration<double>(rows, page_count, 1e-12);
  EXPECT_LT(distance(numbers_of(result), exact), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, ScoreGraphs,
                         ::testing::Values(Graph{"cnr-2000.adj.zst", 325'557, 52},
                                           Graph{"docs-public.adj.zst", 48'200, 52}),
                         [](const auto& graph) {
                           const std::string name = graph.param.name;
                           return name.substr(0, name.find_first_of("-."));
                         });

}  // namespace
}  // namespace crawlstore::testing
