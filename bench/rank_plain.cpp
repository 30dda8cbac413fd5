// SPDX-License-Identifier: Apache-2.0
//
// The plain power iteration, from lists by page in memory: they are transposed, then pulled along.
// Nothing is read from a store, verified or kept.

#include <vector>

#include <nlohmann/json.hpp>

#include "plain_pull.h"
#include "rank_graphs.h"
#include "rank_run.h"
#include "seen_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::size_t kIterationsMax = 300;

nlohmann::ordered_json rank(const RankRun& run) {
  Graph graph = read_graph(run.graph());
  const Stopwatch total;
  const std::vector<std::uint32_t> degrees = degrees_of(graph);
  const Graph in = transposed(graph);
  const double read_seconds = total.seconds();
  graph = Graph();
  PlainPull pull(in, degrees, run.threads);
  std::vector<double> iterations;
  const Stopwatch solving;
  do {
    const Stopwatch iteration;
    pull.step();
    iterations.push_back(iteration.seconds());
  } while (pull.change() >= kRankPrecision && iterations.size() < kIterationsMax);
  const double solve_seconds = solving.seconds();
  nlohmann::ordered_json line = {{"bench", "rank"},
                                 {"store", "plain pull"},
                                 {"read_seconds", read_seconds},
                                 {"solve_seconds", solve_seconds},
                                 {"total_seconds", read_seconds + solve_seconds},
                                 {"iterations", iterations.size()},
                                 {"iteration_seconds", median(iterations)},
                                 {"residual", pull.change()},
                                 {"peak_rss_bytes", process_usage().peak_rss_bytes}};
  add_distance(line, run, pull.scores());
  return line;
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  return crawlstore::bench::rank_main(argc, argv, crawlstore::bench::rank);
}
