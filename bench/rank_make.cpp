// SPDX-License-Identifier: Apache-2.0
//
// Makes what the drivers of PageRank read: rank_make FOLDER own|shuffled PAGES [LINKS A PAGE], or
// rank_make FOLDER FILE.adj.zst. In FOLDER are then `graph`, plain arrays, and `graph.crawl`, a
// page database without URLs, as a crawl leaves it: not compacted. Prints a line of JSON about
// them.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <crawlstore/pages.h>
#include <crawlstore/store.h>

#include "rank_graphs.h"
#include "seen_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kPagesMin = 1000;
constexpr std::uint64_t kPagesMax = std::uint64_t{1} << 31;
constexpr double kDegree = 9.05;

template <class T>
T must(Result<T> result) {
  if (!result) fail(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Graph make_graph(const std::vector<std::string>& words) {
  if (words.size() == 2) return read_adjacency(words[1]);
  if (words.size() < 3 || words.size() > 4 || (words[1] != "own" && words[1] != "shuffled")) {
    fail("usage: rank_make FOLDER own|shuffled PAGES [LINKS], or rank_make FOLDER FILE.adj.zst");
  }
  const std::uint64_t page_count = parse_number(words[2]);
  const double degree = words.size() == 4 ? std::strtod(words[3].c_str(), nullptr) : kDegree;
  if (page_count < kPagesMin || page_count > kPagesMax || !(degree >= 1)) {
    fail("pages are 1,000 to 2^31, links a page at least 1");
  }
  Graph graph = local_graph(page_count, degree);
  return words[1] == "own" ? graph : shuffled(graph);
}

std::uint64_t write_crawl(const std::string& path, const Graph& graph) {
  std::filesystem::remove(path);
  Store store = must(Store::create(path));
  PagesOptions options;
  options.has_urls = false;
  PageDb pages = must(PageDb::open(store, PageDb::kDefaultName, options));
  std::vector<EventLink> links;
  for (std::uint64_t page = 0; page < graph.page_count(); ++page) {
    links.clear();
    for (const std::uint32_t link : graph.row(page)) links.push_back({{}, link, 0});
    CrawlEvent event;
    event.index = page;
    event.links = links;
    must(pages.add(event));
  }
  must(pages.merge());
  const PagesStatus status = pages.status();
  if (status.page_count != graph.page_count() || status.link_count != graph.numbers.size()) {
    fail("the crawl file does not hold the graph");
  }
  must(pages.close());
  must(store.close());
  return status.superstep_count;
}

void run(const std::vector<std::string>& words) {
  const Graph graph = make_graph(words);
  write_graph(words[0] + "/graph", graph);
  const std::string crawl = words[0] + "/graph.crawl";
  const std::uint64_t supersteps = write_crawl(crawl, graph);
  const nlohmann::ordered_json line = {{"pages", graph.page_count()},
                                       {"links", graph.numbers.size()},
                                       {"supersteps", supersteps},
                                       {"file_bytes", std::filesystem::file_size(crawl)}};
  fmt::print("{}\n", line.dump());
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  return crawlstore::bench::guarded_main(
      argv, [&] { crawlstore::bench::run(std::vector<std::string>(argv + 1, argv + argc)); });
}
