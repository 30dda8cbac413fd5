// SPDX-License-Identifier: Apache-2.0
//
// The cost of link runs on real graphs: links_codec [FOLDER].
//
// Each graph of FOLDER (*.adj.zst) in its own order and in the order of a crawl (pages numbered as
// they are first seen, breadth first from page 0, then from the next unseen page), its links as
// they are and transposed: as a fresh run (codec 1), as a dense one (codec 2), and as plain LEB128
// (degree, z(first link - page), gaps - 1, one row after another without an index). Rows without
// links are left out. Bits are those of the whole run, with its model, index, footer and checksums.
// All rows are decoded through a cursor of a store in memory, checksums included, and once more
// when they were verified before; single rows, drawn at random, through a look-up whose chunks are
// verified. Rates are medians of seven, by processor time of all threads; a row's by the clock, the
// median of seven means and of seven 99th percentiles.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "container/create.h"  // tidy: inside, the codec itself is measured
#include "container/run_io.h"  // tidy: inside, the codec itself is measured
#include "container/writer.h"  // tidy: inside, the codec itself is measured
#include "links/dense_run.h"   // tidy: inside, the codec itself is measured
#include "links/plain_run.h"   // tidy: inside, the codec itself is measured

namespace crawlstore::bench {
namespace {

using Graph = std::vector<std::vector<std::uint64_t>>;
constexpr SegmentId kSegment{5};
constexpr int kRounds = 7;

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Graph read_graph(const std::filesystem::path& path) {
  // From its input: a path that is a symbolic link zstd leaves out.
  FILE* const pipe = ::popen(("zstd -dc < '" + path.string() + "'").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("zstd cannot be started");
  Graph graph(1);
  std::uint64_t number = 0;
  bool has_digits = false;
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe)) {
    if (letter >= '0' && letter <= '9') {
      number = number * 10 + static_cast<std::uint64_t>(letter - '0');
      has_digits = true;
      continue;
    }
    if (has_digits) graph.back().push_back(number);
    number = 0;
    has_digits = false;
    if (letter == '\n') graph.emplace_back();
  }
  if (::pclose(pipe) != 0 || graph.size() < 2) {
    throw std::runtime_error(path.string() + " holds no graph");
  }
  graph.erase(graph.begin());  // the number of nodes
  graph.pop_back();
  return graph;
}

Graph transposed(const Graph& graph) {
  Graph result(graph.size());
  for (std::size_t page = 0; page < graph.size(); ++page) {
    for (const std::uint64_t link : graph[page]) result[link].push_back(page);
  }
  return result;
}

Graph in_crawl_order(const Graph& graph) {
  constexpr std::uint64_t kUnseen = ~std::uint64_t{0};
  std::vector<std::uint64_t> number(graph.size(), kUnseen);
  std::vector<std::size_t> seen;
  std::size_t crawled = 0;
  for (std::size_t seed = 0; seed < graph.size(); ++seed) {
    if (number[seed] != kUnseen) continue;
    number[seed] = seen.size();
    seen.push_back(seed);
    for (; crawled < seen.size(); ++crawled) {
      for (const std::uint64_t link : graph[seen[crawled]]) {
        if (number[link] != kUnseen) continue;
        number[link] = seen.size();
        seen.push_back(link);
      }
    }
  }
  Graph result(graph.size());
  for (std::size_t page = 0; page < graph.size(); ++page) {
    for (const std::uint64_t link : graph[page]) result[number[page]].push_back(number[link]);
    std::sort(result[number[page]].begin(), result[number[page]].end());
  }
  return result;
}

/// Processor time: other programs do not count.
double seconds_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// The one below which `share` of the numbers are.
double quantile(std::vector<double> numbers, double share) {
  const auto place =
      numbers.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(numbers.size()));
  std::nth_element(numbers.begin(), place, numbers.end());
  return *place;
}

/// The median time of `work`, run kRounds times.
double median_seconds(const std::function<void()>& work) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const std::clock_t start = std::clock();
    work();
    times.push_back(seconds_since(start));
  }
  return quantile(times, 0.5);
}

void require_equal(std::uint64_t sum, std::uint64_t expected) {
  if (sum != expected) throw std::runtime_error("what was decoded is not what was encoded");
}

/// The lists as plain LEB128.
class Leb128 {
 public:
  explicit Leb128(const Graph& graph) {
    for (std::size_t page = 0; page < graph.size(); ++page) {
      if (graph[page].empty()) continue;
      pages_.push_back(page);
      put(graph[page].size());
      std::uint64_t last = page;
      for (std::size_t i = 0; i < graph[page].size(); ++i) {
        const std::uint64_t link = graph[page][i];
        put(i == 0 ? (link - last) << 1 ^ (0 - ((link - last) >> 63)) : link - last - 1);
        last = link;
      }
    }
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }

  /// Decodes all rows, one after another, and sums their links up.
  std::uint64_t decode() {
    const std::uint8_t* next = bytes_.data();
    std::uint64_t sum = 0;
    for (const std::uint64_t page : pages_) {
      row_.resize(take(next));
      std::uint64_t link = take(next);
      link = page + (link >> 1 ^ (0 - (link & 1)));
      row_[0] = link;
      for (std::size_t i = 1; i < row_.size(); ++i) row_[i] = link += take(next) + 1;
      sum += row_.back();
    }
    return sum;
  }

 private:
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
      bytes_.push_back(static_cast<std::uint8_t>(number | 0x80));
    }
    bytes_.push_back(static_cast<std::uint8_t>(number));
  }
  static std::uint64_t take(const std::uint8_t*& next) {
    std::uint64_t number = *next & 0x7fU;
    for (unsigned shift = 7; (*next++ & 0x80U) != 0; shift += 7) {
      number |= static_cast<std::uint64_t>(*next & 0x7fU) << shift;
    }
    return number;
  }

  std::vector<std::uint64_t> pages_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint64_t> row_;
};

struct Sums {
  std::uint64_t links = 0;
  std::uint64_t rows = 0;
  std::uint64_t last_links = 0;  // of all rows, added up
};

Sums sums_of(const Graph& graph) {
  Sums sums;
  for (const auto& row : graph) {
    sums.links += row.size();
    sums.rows += row.empty() ? 0 : 1;
    sums.last_links += row.empty() ? 0 : row.back();
  }
  return sums;
}

/// The graph as one run of a store in memory.
class Store {
 public:
  Store() : file_(make_memory_file({}, std::uint64_t{1} << 30)) {
    format::Identity identity{};
    must(container::write_empty_store(*open_memory_storage(file_, OpenMode::kWrite),
                                      format::seal_identity(identity), 0));
    writer_ = must(container::Writer::open(open_memory_storage(file_, OpenMode::kWrite), {}));
  }

  /// Writes the run; the one before it is given back.
  void write(const Graph& graph, const Sums& sums, bool as_dense) {
    if (run_.payload_bytes != 0) writer_->release(run_.extent());
    const std::uint64_t bytes_max =
        links::link_run_bytes_max(sums.rows, sums.links, graph.size()) + 4096;
    if (as_dense) {
      links::DenseSurvey survey;
      put(graph, survey);
      must(survey.finish());
      finish(must(links::DenseWriter::start(
                 *writer_, {kSegment, SegmentKind::kOutLinks, {}, writer_->new_run_ids(1)},
                 bytes_max, survey.model())),
             graph);
    } else {
      finish(must(links::LinksWriter::start(
                 *writer_, {kSegment, SegmentKind::kOutLinks, {}, writer_->new_run_ids(1)},
                 bytes_max)),
             graph);
    }
  }

  [[nodiscard]] links::LinksLookup lookup() const {
    const std::shared_ptr<Storage> storage(std::shared_ptr<void>(), &writer_->storage());
    return must(links::LinksLookup::open(
        std::make_shared<const container::RunReader>(
            storage, container::run_name(writer_->identity(), kSegment, run_.run_id), run_),
        kSegment));
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return format::checksum_tree(run_.payload_bytes).top().end_bytes();
  }

 private:
  template <class Rows>
  static void put(const Graph& graph, Rows& rows) {
    for (std::size_t page = 0; page < graph.size(); ++page) {
      if (!graph[page].empty()) must(rows.append(page, graph[page]));
    }
  }
  template <class RunWriter>
  void finish(RunWriter run, const Graph& graph) {
    put(graph, run);
    run_ = *must(run.finish());
    run.give_back();
  }

  std::shared_ptr<MemoryFile> file_;
  std::unique_ptr<container::Writer> writer_;
  format::RunRef run_;
};

/// Decodes every row; verifies every checksum that `lookup` has not verified yet.
std::uint64_t decode_all(const links::LinksLookup& lookup) {
  auto cursor = must(links::LinksCursor::open(lookup));
  std::uint64_t sum = 0;
  while (!cursor.at_end()) {
    const format::LinkRows& rows = cursor.rows();
    for (std::size_t row = 0; row < rows.row_count(); ++row) sum += rows.links(row).back();
    must(cursor.advance_block());
  }
  return sum;
}

struct RowTimes {
  double mean_us;
  double p99_us;
};

RowTimes random_rows(const Store& store, const Graph& graph) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> pages;
  while (pages.size() < 20'000) {
    const std::uint64_t page = random() % graph.size();
    if (!graph[page].empty()) pages.push_back(page);
  }
  const links::LinksLookup lookup = store.lookup();
  format::LinkRows rows;
  std::vector<double> means;
  std::vector<double> p99s;
  for (int round = -1; round < kRounds; ++round) {  // the first one verifies the chunks
    std::vector<double> times;
    double sum = 0;
    for (const std::uint64_t page : pages) {
      using Clock = std::chrono::steady_clock;
      const auto start = Clock::now();
      std::size_t row = 0;
      if (!must(lookup.find(page, rows, row))) throw std::runtime_error("a row is missing");
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
      sum += times.back();
      require_equal(rows.links(row).back(), graph[page].back());
    }
    if (round < 0) continue;
    means.push_back(sum / static_cast<double>(pages.size()));
    p99s.push_back(quantile(times, 0.99));
  }
  return {quantile(means, 0.5), quantile(p99s, 0.5)};
}

struct RunFigures {
  double bits;
  double verify_rate;  // M links a second, checksums included
  double decode_rate;
  double write_rate;
  RowTimes row;
};

RunFigures measure_run(const Graph& graph, const Sums& sums, bool as_dense) {
  const auto links = static_cast<double>(sums.links);
  Store store;
  const double write = median_seconds([&] { store.write(graph, sums, as_dense); });
  const double verify =
      median_seconds([&] { require_equal(decode_all(store.lookup()), sums.last_links); });
  const links::LinksLookup verified = store.lookup();
  require_equal(decode_all(verified), sums.last_links);
  const double decode =
      median_seconds([&] { require_equal(decode_all(verified), sums.last_links); });
  return {8 * static_cast<double>(store.bytes()) / links, links / verify / 1e6,
          links / decode / 1e6, links / write / 1e6, random_rows(store, graph)};
}

void measure(const std::string& name, const Graph& graph) {
  const Sums sums = sums_of(graph);
  const auto links = static_cast<double>(sums.links);
  const RunFigures dense = measure_run(graph, sums, true);
  const RunFigures fresh = measure_run(graph, sums, false);
  Leb128 plain(graph);
  const double seconds = median_seconds([&] { require_equal(plain.decode(), sums.last_links); });
  fmt::print(
      "| {} | {:.3f}, {:.2f}, {:.2f} | {:.0f}, {:.0f}, {:.0f} | {:.0f}, {:.0f} | {:.1f}, {:.0f} |",
      name, dense.bits, fresh.bits, 8 * static_cast<double>(plain.bytes()) / links,
      dense.decode_rate, fresh.decode_rate, links / seconds / 1e6, dense.verify_rate,
      fresh.verify_rate, dense.write_rate, fresh.write_rate);
  fmt::print(" {:.2f}, {:.2f} | {:.2f}, {:.2f} |\n", dense.row.mean_us, fresh.row.mean_us,
             dense.row.p99_us, fresh.row.p99_us);
}

int run(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().string().ends_with(".adj.zst")) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  fmt::print(
      "| graph | bits a link: dense, fresh, LEB128 | decoded, M links/s: dense, fresh, LEB128 | "
      "and verified | written | a row, us: dense, fresh | 99 % |\n|---|---|---|---|---|---|---|\n");
  for (const auto& path : paths) {
    const std::string name = path.stem().stem().string();
    const Graph graph = read_graph(path);
    measure(name + ", out", graph);
    measure(name + ", in", transposed(graph));
    const Graph crawled = in_crawl_order(graph);
    measure(name + ", crawl order, out", crawled);
    measure(name + ", crawl order, in", transposed(crawled));
  }
  return 0;
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  try {
    return crawlstore::bench::run(argc > 1 ? argv[1] : "../shared/data/graphs");
  } catch (const std::exception& error) {
    fmt::print(stderr, "links_codec: {}\n", error.what());
    return 1;
  }
}
