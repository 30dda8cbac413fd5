// SPDX-License-Identifier: Apache-2.0
#include "rank_graphs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>

#include <fmt/core.h>

#include "seen_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::size_t kTopCount = 1000;

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

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode), std::fclose);
  if (file == nullptr) fail(fmt::format("{} cannot be opened", path));
  return file;
}

template <class T>
void write_array(const File& file, std::span<const T> values) {
  const std::uint64_t count = values.size();
  if (std::fwrite(&count, sizeof count, 1, file.get()) != 1 ||
      std::fwrite(values.data(), sizeof(T), count, file.get()) != count) {
    fail("a graph or scores cannot be written");
  }
}

template <class T>
std::vector<T> read_array(const File& file) {
  std::uint64_t count = 0;
  if (std::fread(&count, sizeof count, 1, file.get()) != 1) fail("a file of arrays ends early");
  std::vector<T> values(count);
  if (std::fread(values.data(), sizeof(T), count, file.get()) != count) {
    fail("a file of arrays ends early");
  }
  return values;
}

}  // namespace

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

std::vector<std::uint32_t> degrees_of(const Graph& graph) {
  std::vector<std::uint32_t> degrees(graph.page_count());
  for (std::uint64_t page = 0; page < graph.page_count(); ++page) {
    degrees[page] = static_cast<std::uint32_t>(graph.row(page).size());
  }
  return degrees;
}

Graph read_adjacency(const std::string& path) {
  // From its input: a path that is a symbolic link zstd leaves out.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      ::popen(fmt::format("zstd -dc < '{}'", path).c_str(), "r"), ::pclose);
  if (pipe == nullptr) fail("zstd cannot be started");
  Graph graph;
  std::uint32_t number = 0;
  bool has_digits = false;
  for (int letter = std::fgetc(pipe.get()); letter != EOF; letter = std::fgetc(pipe.get())) {
    if (letter >= '0' && letter <= '9') {
      number = number * 10 + static_cast<std::uint32_t>(letter - '0');
      has_digits = true;
      continue;
    }
    if (has_digits) graph.numbers.push_back(number);
    number = 0;
    has_digits = false;
    if (letter != '\n') continue;
    if (graph.first.empty()) graph.numbers.clear();  // the number of pages
    graph.first.push_back(graph.numbers.size());
  }
  if (graph.first.size() < 2) fail(fmt::format("{} holds no graph", path));
  for (const std::uint32_t link : graph.numbers) {
    if (link >= graph.page_count()) fail(fmt::format("{} has links to no page", path));
  }
  return graph;
}

void write_graph(const std::string& path, const Graph& graph) {
  const File file = open_file(path, "wb");
  write_array<std::uint64_t>(file, graph.first);
  write_array<std::uint32_t>(file, graph.numbers);
}

Graph read_graph(const std::string& path) {
  const File file = open_file(path, "rb");
  Graph graph;
  graph.first = read_array<std::uint64_t>(file);
  graph.numbers = read_array<std::uint32_t>(file);
  return graph;
}

void write_scores(const std::string& path, std::span<const double> scores) {
  write_array(open_file(path, "wb"), scores);
}

std::vector<double> read_scores(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  return read_array<double>(open_file(path, "rb"));
}

Distance distance(std::span<const float> scores, std::span<const double> reference) {
  if (scores.size() != reference.size()) fail("the reference has scores of other pages");
  Distance result;
  std::vector<std::uint32_t> best(reference.size());
  std::iota(best.begin(), best.end(), 0);
  for (const std::uint32_t page : best) {
    result.l1 += std::abs(static_cast<double>(scores[page]) - reference[page]);
  }
  const auto end = best.begin() + static_cast<std::ptrdiff_t>(std::min(kTopCount, best.size()));
  std::partial_sort(best.begin(), end, best.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return reference[a] > reference[b]; });
  std::for_each(best.begin(), end, [&](std::uint32_t page) {
    const double error = std::abs(static_cast<double>(scores[page]) / reference[page] - 1);
    result.top_error = std::max(result.top_error, error);
  });
  return result;
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace crawlstore::bench
