// SPDX-License-Identifier: Apache-2.0
#include "shards_web.h"

#include <cstdio>
#include <memory>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>

#include "seen_run.h"

namespace crawlstore::bench {
namespace {

constexpr double kMadeDegree = 9.05;
constexpr std::int64_t kTimeUs = 1;

std::vector<std::string> read_lines(const std::string& path) {
  // From its input: a path that is a symbolic link zstd leaves out.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      ::popen(fmt::format("zstd -dc < '{}'", path).c_str(), "r"), ::pclose);
  if (pipe == nullptr) fail("zstd cannot be started");
  std::vector<std::string> lines;
  std::string line;
  for (int letter = std::fgetc(pipe.get()); letter != EOF; letter = std::fgetc(pipe.get())) {
    if (letter == '\n') {
      lines.push_back(std::exchange(line, {}));
    } else {
      line += static_cast<char>(letter);
    }
  }
  return lines;
}

/// Makes a host of each folder.
void split_hosts(std::vector<std::string>& urls) {
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::string& url : urls) {
    const std::size_t host = url.find("://");
    const std::size_t file = url.rfind('/');
    if (host == std::string::npos || file < host + 3) fail("a URL has no folder");
    const std::size_t number = numbers.emplace(url.substr(0, file), numbers.size()).first->second;
    url.insert(host + 3, fmt::format("s{}.", number));
  }
}

}  // namespace

ShardWeb ShardWeb::read(const std::string& stem, bool by_folder) {
  std::vector<std::string> urls = read_lines(stem + ".urls.zst");
  if (by_folder) split_hosts(urls);
  return {read_adjacency(stem + ".adj.zst"), std::move(urls)};
}

ShardWeb ShardWeb::make(std::uint64_t page_count) {
  std::vector<std::string> urls;
  for (std::uint64_t host = 0; urls.size() < page_count; ++host) {
    const std::uint64_t host_pages = 1 + host * 7 % 39;
    for (std::uint64_t i = 0; i < host_pages && urls.size() < page_count; ++i) {
      urls.push_back(fmt::format("http://www.site{}.test/folder{}/page{}.html", host, i % 5, i));
    }
  }
  return {local_graph(page_count, kMadeDegree), std::move(urls)};
}

ShardWeb::ShardWeb(const Graph& graph, std::vector<std::string> urls) : urls_(std::move(urls)) {
  if (graph.page_count() != urls_.size()) fail("there are not as many URLs as pages");
  UrlNormalizer normalizer;
  std::unordered_set<std::string> hosts;
  for (std::string& url : urls_) {
    std::string text(normalizer.normalize(url).text);
    url = std::move(text);
    hosts.insert(url_host(url));
  }
  host_count_ = hosts.size();
  is_root_.assign(urls_.size(), true);
  for (const std::uint32_t link : graph.numbers) is_root_[link] = false;
  fetched_.reserve(urls_.size());
  for (std::uint32_t page = 0; page < urls_.size(); ++page) {
    pages_.emplace(urls_[page], page);
    CrawledPage& fetched = fetched_.emplace_back(urls_[page], kTimeUs);
    for (const std::uint32_t link : graph.row(page)) fetched.add_link(urls_[link]);
  }
}

std::vector<std::uint32_t> ShardWeb::seeds(std::size_t count) const {
  std::vector<bool> is_seed = is_root_;
  for (std::size_t i = 0; i < count; ++i) is_seed[i * urls_.size() / count] = true;
  std::vector<std::uint32_t> seeds;
  for (std::uint32_t page = 0; page < urls_.size(); ++page) {
    if (is_seed[page]) seeds.push_back(page);
  }
  return seeds;
}

std::uint32_t ShardWeb::page_of(std::string_view url) const {
  const auto found = pages_.find(url);
  if (found == pages_.end()) fail(fmt::format("{} is no page of the web", url));
  return found->second;
}

}  // namespace crawlstore::bench
