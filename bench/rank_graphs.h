// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The graphs that the benches of PageRank share, made ones and real ones, and how a driver leaves
/// one to the next.
///
/// Errors: fail(), which guarded_main() prints. Threads: one.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace crawlstore::bench {

/// Lists by page, ascending, one behind another.
struct Graph {
  std::vector<std::uint64_t> first;  // of each page; one more at the end
  std::vector<std::uint32_t> numbers;

  [[nodiscard]] std::uint64_t page_count() const { return first.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> row(std::uint64_t page) const {
    return std::span(numbers).subspan(first[page], first[page + 1] - first[page]);
  }
};

/// Seven links in eight go near the page, at distances whose logarithms are uniform, the others
/// anywhere, low numbers first. One page in five has none; `degree` is the mean of all.
Graph local_graph(std::uint64_t page_count, double degree);
/// The same with its pages renumbered at random.
Graph shuffled(const Graph& graph);
Graph transposed(const Graph& graph);
std::vector<std::uint32_t> degrees_of(const Graph& graph);

/// A line with the number of pages, then one a page with its links, compressed by zstd.
Graph read_adjacency(const std::string& path);

/// Plain arrays, for the next driver on this machine.
void write_graph(const std::string& path, const Graph& graph);
Graph read_graph(const std::string& path);
void write_scores(const std::string& path, std::span<const double> scores);
/// Empty where there is no such file.
std::vector<double> read_scores(const std::string& path);

/// The distance of scores from a reference.
struct Distance {
  double l1 = 0;
  double top_error = 0;  ///< greatest relative error among the 1,000 best of the reference
};
Distance distance(std::span<const float> scores, std::span<const double> reference);

double median(std::vector<double> numbers);

}  // namespace crawlstore::bench
