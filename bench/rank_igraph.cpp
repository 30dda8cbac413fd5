// SPDX-License-Identifier: Apache-2.0
//
// igraph in its best way: PRPACK, in doubles to about 1e-10, from an edge array in memory. Its
// threads are those of OMP_NUM_THREADS. Nothing is read from a store, verified or kept; the scores
// are left as the reference.

#include <cstdint>
#include <string>

#include <fmt/core.h>
#include <igraph/igraph.h>
#include <nlohmann/json.hpp>

#include "rank_graphs.h"
#include "rank_run.h"
#include "seen_run.h"

namespace crawlstore::bench {
namespace {

void must(igraph_error_t error) {
  if (error != IGRAPH_SUCCESS) fail(igraph_strerror(error));
}

/// Source and target of each link in turn.
void read_edges(const std::string& path, igraph_vector_int_t& edges, igraph_integer_t& pages) {
  const Graph graph = read_graph(path);
  pages = static_cast<igraph_integer_t>(graph.page_count());
  must(igraph_vector_int_init(&edges, static_cast<igraph_integer_t>(2 * graph.numbers.size())));
  igraph_integer_t next = 0;
  for (std::uint64_t page = 0; page < graph.page_count(); ++page) {
    for (const std::uint32_t link : graph.row(page)) {
      VECTOR(edges)[next++] = static_cast<igraph_integer_t>(page);
      VECTOR(edges)[next++] = static_cast<igraph_integer_t>(link);
    }
  }
}

nlohmann::ordered_json rank(const RankRun& run) {
  igraph_set_error_handler(igraph_error_handler_ignore);
  igraph_vector_int_t edges{};
  igraph_integer_t pages = 0;
  read_edges(run.graph(), edges, pages);
  igraph_vector_t scores{};
  must(igraph_vector_init(&scores, 0));

  const Stopwatch building;
  igraph_t graph{};
  must(igraph_create(&graph, &edges, pages, IGRAPH_DIRECTED));
  const double build_seconds = building.seconds();
  igraph_vector_int_destroy(&edges);
  const Stopwatch solving;
  must(igraph_pagerank(&graph, IGRAPH_PAGERANK_ALGO_PRPACK, &scores, nullptr, igraph_vss_all(),
                       IGRAPH_DIRECTED, kRankDamping, nullptr, nullptr));
  const double solve_seconds = solving.seconds();

  write_scores(run.reference(),
               {VECTOR(scores), static_cast<std::size_t>(igraph_vector_size(&scores))});
  igraph_destroy(&graph);
  igraph_vector_destroy(&scores);
  return {{"bench", "rank"},
          {"store", fmt::format("igraph {}", IGRAPH_VERSION)},
          {"read_seconds", build_seconds},
          {"solve_seconds", solve_seconds},
          {"total_seconds", build_seconds + solve_seconds},
          {"peak_rss_bytes", process_usage().peak_rss_bytes}};
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  return crawlstore::bench::rank_main(argc, argv, crawlstore::bench::rank);
}
