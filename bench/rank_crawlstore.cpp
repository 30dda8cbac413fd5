// SPDX-License-Identifier: Apache-2.0
//
// PageRank of a crawl file, from opening it to the commit that swaps the scores in; every chunk
// that is read is verified. Starts cold: not with the scores that an earlier run left.

#include <vector>

#include <nlohmann/json.hpp>

#include <crawlstore/page_view.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>
#include <crawlstore/store.h>

#include "rank_graphs.h"
#include "rank_run.h"
#include "seen_run.h"

namespace crawlstore::bench {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) fail(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

nlohmann::ordered_json rank(const RankRun& run) {
  std::vector<double> ends;  // of iterations
  const Stopwatch total;
  Store store = must(Store::open(run.crawl()));
  RankOptions options;
  options.damping = kRankDamping;
  options.precision = kRankPrecision;
  options.thread_count = run.threads;
  options.is_warm = false;
  options.progress = [&](std::uint32_t iteration, double) {
    if (iteration > 0) ends.push_back(total.seconds());
    return true;
  };
  const RankReport report = must(rank_pages(store, options));
  const double total_seconds = total.seconds();
  if (!report.converged) fail("the precision was not reached");
  // The first iteration begins at a time that nobody tells.
  std::vector<double> iterations;
  for (std::size_t i = 1; i < ends.size(); ++i) iterations.push_back(ends[i] - ends[i - 1]);
  nlohmann::ordered_json line = {
      {"bench", "rank"},
      {"store", "crawlstore"},
      {"read_seconds", report.build_seconds},
      {"solve_seconds", report.solve_seconds},
      {"total_seconds", total_seconds},
      {"iterations", report.scores.iteration_count},
      {"iteration_seconds", iterations.empty() ? report.solve_seconds : median(iterations)},
      {"residual", report.scores.residual},
      {"memory_bytes", report.memory_bytes},
      {"peak_rss_bytes", process_usage().peak_rss_bytes}};
  {
    const PageView pages = must(PageView::open(must(store.snapshot())));
    const ScoreView scores = must(ScoreView::open(pages));
    add_distance(line, run, must(scores.floats()));
  }
  must(store.close());
  return line;
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  return crawlstore::bench::rank_main(argc, argv, crawlstore::bench::rank);
}
