// SPDX-License-Identifier: Apache-2.0
//
// What an iteration of PageRank costs: rank_kernel [PAGES [LINKS A PAGE]]; 10,000,000 and 9.05.
//
// Two made graphs. `local`: seven links in eight go near the page, at distances whose logarithms
// are uniform, the others anywhere, low numbers first. `shuffled`: the same graph with its pages
// renumbered at random. For each, by threads: building the cache from rows in memory, PageRank to
// 1e-6, and beside each iteration of it one of the plain kind: links by target as CSR, each target
// pulls its sources' shares, float sums. They take turns, so that what else runs hits both.
// Seconds are by the clock on the wall; medians.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "scores/in_parallel.h"  // tidy: inside, the kernel itself is measured
#include "scores/link_cache.h"   // tidy: inside, the kernel itself is measured
#include "scores/page_rank.h"    // tidy: inside, the kernel itself is measured

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

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
  }
  /// From 0 to 1.
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  std::uint64_t below(std::uint64_t end) { return next() % end; }

 private:
  std::uint64_t state_;
};

/// Lists by page, one behind another.
struct Graph {
  std::vector<std::uint64_t> first;  // of each page; one more at the end
  std::vector<std::uint32_t> numbers;

  [[nodiscard]] std::uint64_t page_count() const { return first.size() - 1; }
};

Graph local_graph(std::uint64_t page_count, double degree) {
  Random random(1);
  Graph graph;
  graph.first.push_back(0);
  std::vector<std::uint32_t> row;
  const double distance_log = std::log(static_cast<double>(page_count) / 4);
  for (std::uint64_t page = 0; page < page_count; ++page) {
    row.clear();
    // One page in five has no links; the others up to twice the mean.
    const bool is_dangling = random.below(5) == 0;
    const double links = is_dangling ? 0 : 1 + random.share() * 2 * (degree / 0.8 - 1);
    while (static_cast<double>(row.size()) + 0.5 < links) {
      std::uint64_t link = 0;
      if (random.below(8) == 0) {
        link = static_cast<std::uint64_t>(std::pow(random.share(), 4) *
                                          static_cast<double>(page_count));
      } else {
        const auto away = static_cast<std::uint64_t>(std::exp(random.share() * distance_log));
        link = (page + (random.below(2) == 0 ? away : page_count - away)) % page_count;
      }
      row.push_back(static_cast<std::uint32_t>(link));
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    graph.numbers.insert(graph.numbers.end(), row.begin(), row.end());
    graph.first.push_back(graph.numbers.size());
  }
  return graph;
}

Graph shuffled(const Graph& graph) {
  Random random(2);
  const std::uint64_t page_count = graph.page_count();
  std::vector<std::uint32_t> number(page_count);
  std::iota(number.begin(), number.end(), 0);
  for (std::uint64_t i = page_count; i > 1; --i) {
    std::swap(number[i - 1], number[random.below(i)]);
  }
  std::vector<std::uint32_t> page_of(page_count);
  for (std::uint32_t page = 0; page < page_count; ++page) page_of[number[page]] = page;
  Graph result;
  result.first.push_back(0);
  result.numbers.reserve(graph.numbers.size());
  for (const std::uint32_t page : page_of) {
    const auto begin = static_cast<std::ptrdiff_t>(result.numbers.size());
    for (std::uint64_t i = graph.first[page]; i < graph.first[page + 1]; ++i) {
      result.numbers.push_back(number[graph.numbers[i]]);
    }
    std::sort(result.numbers.begin() + begin, result.numbers.end());
    result.first.push_back(result.numbers.size());
  }
  return result;
}

Graph transposed(const Graph& graph) {
  Graph result;
  result.first.assign(graph.first.size(), 0);
  result.numbers.resize(graph.numbers.size());
  for (const std::uint32_t link : graph.numbers) ++result.first[link + 1];
  std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
  std::vector<std::uint64_t> next = result.first;
  for (std::uint64_t page = 0; page < graph.page_count(); ++page) {
    for (std::uint64_t i = graph.first[page]; i < graph.first[page + 1]; ++i) {
      result.numbers[next[graph.numbers[i]]++] = static_cast<std::uint32_t>(page);
    }
  }
  return result;
}

class GraphRows final : public scores::RowSource {
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

/// The plain power iteration: each target pulls what its sources give.
class PlainPull {
 public:
  PlainPull(const Graph& in, const scores::LinkCache& links, unsigned threads)
      : in_(in),
        degrees_(links.degrees()),
        threads_(threads),
        scores_(in.page_count(), 1.0F / static_cast<float>(in.page_count())),
        shares_(in.page_count()) {}

  void step() {
    const std::uint64_t tasks = (in_.page_count() + kTaskPages - 1) / kTaskPages;
    std::vector<double> dangling(tasks);
    in_tasks(tasks, [&](std::uint64_t task, std::uint64_t page) {
      shares_[page] = scores_[page] / static_cast<float>(std::max(degrees_[page], 1U));
      if (degrees_[page] == 0) dangling[task] += static_cast<double>(scores_[page]);
    });
    const double lost = std::accumulate(dangling.begin(), dangling.end(), 0.0);
    const auto base =
        static_cast<float>((0.15 + 0.85 * lost) / static_cast<double>(in_.page_count()));
    std::vector<double> changes(tasks);
    in_tasks(tasks, [&](std::uint64_t task, std::uint64_t page) {
      float sum = 0;
      for (std::uint64_t i = in_.first[page]; i < in_.first[page + 1]; ++i) {
        sum += shares_[in_.numbers[i]];
      }
      const float score = base + 0.85F * sum;
      changes[task] += static_cast<double>(std::abs(score - scores_[page]));
      scores_[page] = score;
    });
    change_ = std::accumulate(changes.begin(), changes.end(), 0.0);
  }
  [[nodiscard]] double change() const { return change_; }

 private:
  static constexpr std::uint64_t kTaskPages = 1 << 16;

  template <class Work>
  void in_tasks(std::uint64_t tasks, const Work& work) {
    must(scores::in_parallel(threads_, tasks, [&](std::uint64_t task, unsigned) -> Result<void> {
      const std::uint64_t end = std::min(in_.page_count(), (task + 1) * kTaskPages);
      for (std::uint64_t page = task * kTaskPages; page < end; ++page) work(task, page);
      return {};
    }));
  }

  const Graph& in_;
  std::span<const std::uint32_t> degrees_;
  unsigned threads_;
  std::vector<float> scores_;
  std::vector<float> shares_;
  double change_ = 1;
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
  PlainPull plain(in, links, threads);
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
