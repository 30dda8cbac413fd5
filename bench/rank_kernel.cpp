// SPDX-License-Identifier: Apache-2.0
//
// The cost of an iteration of PageRank: rank_kernel [PAGES [LINKS A PAGE]]; 10,000,000 and 9.05.
//
// Made graphs of rank_graphs.h, `local` in its own order, and `shuffled`. For each, by threads:
// building the cache from rows in memory, PageRank to 1e-6, and beside each iteration of it one of
// the plain kind (plain_pull.h). They take turns, so that what else runs hits both.
// Seconds are by the clock on the wall; medians.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "plain_pull.h"
#include "rank_graphs.h"
#include "scores/link_cache.h"  // tidy: inside, the kernel itself is measured
#include "scores/page_rank.h"   // tidy: inside, the kernel itself is measured

namespace crawlstore::bench {
namespace {

using Clock = std::chrono::steady_clock;

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class GraphRows final : public scores::TableSource {
 public:
  explicit GraphRows(const Graph& graph) : graph_(graph) {}
  [[nodiscard]] Result<std::unique_ptr<scores::Rows>> open(std::uint64_t page) const override {
    return std::make_unique<Walk>(graph_, page);
  }

 private:
  class Walk final : public scores::Rows {
   public:
    Walk(const Graph& graph, std::uint64_t page) : graph_(graph), next_(page) {}
    Result<bool> next() override {
      if (next_ >= graph_.page_count()) return false;
      page_ = next_++;
      row_.assign(graph_.numbers.begin() + static_cast<std::ptrdiff_t>(graph_.first[page_]),
                  graph_.numbers.begin() + static_cast<std::ptrdiff_t>(graph_.first[next_]));
      links_ = row_;
      return true;
    }

   private:
    const Graph& graph_;
    std::uint64_t next_;
    std::vector<std::uint64_t> row_;
  };

  const Graph& graph_;
};

void measure(const char* name, const Graph& out, const Graph& in, unsigned threads) {
  const GraphRows rows(out);
  std::vector<double> builds;
  scores::LinkCache links = must(scores::LinkCache::build(rows, out.page_count()));
  for (int round = 0; round < 3; ++round) {
    const auto start = Clock::now();
    links = must(scores::LinkCache::build(rows, out.page_count(), {.threads = threads}));
    builds.push_back(seconds_since(start));
  }
  PlainPull plain(in, links.degrees(), threads);
  std::vector<double> ours;
  std::vector<double> plains;
  auto start = Clock::now();
  scores::PageRankOptions options{.threads = threads};
  options.progress = [&](std::uint32_t, double) {
    ours.push_back(seconds_since(start));
    start = Clock::now();
    plain.step();
    plains.push_back(seconds_since(start));
    start = Clock::now();
    return true;
  };
  const auto result = must(scores::page_rank(links, options));
  fmt::print("| {} | {} | {:.2f} | {} | {:.4f} | {:.4f} | {:.2f} |\n", name, threads,
             median(builds), result.residuals.size(), median(ours), median(plains),
             median(ours) / median(plains));
  if (plain.change() > 1e-3) throw std::runtime_error("the plain iteration does not converge");
}

int run(std::uint64_t page_count, double degree) {
  if (page_count < 1000 || page_count > std::uint64_t{1} << 31 || degree < 1) {
    throw std::runtime_error("pages are 1,000 to 2^31, links a page at least 1");
  }
  const Graph local = local_graph(page_count, degree);
  fmt::print("{} pages, {} links; at most {} MB of links, {} MB of scores\n\n", page_count,
             local.numbers.size(),
             scores::LinkCache::memory_bytes(page_count, local.numbers.size()) / 1'000'000,
             scores::page_rank_memory_bytes(page_count) / 1'000'000);
  fmt::print(
      "| graph | threads | build, s | iterations | s each | plain pull, s each | ratio |\n"
      "|---|---|---|---|---|---|---|\n");
  const auto measure_graph = [](const char* name, const Graph& out) {
    const Graph in = transposed(out);
    for (const unsigned threads : {1U, 2U}) measure(name, out, in, threads);
  };
  measure_graph("shuffled", shuffled(local));
  measure_graph("local", local);
  return 0;
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  try {
    return crawlstore::bench::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000,
                                  argc > 2 ? std::strtod(argv[2], nullptr) : 9.05);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank_kernel: {}\n", error.what());
    return 1;
  }
}
