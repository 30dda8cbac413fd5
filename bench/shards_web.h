// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The web that shards crawl: pages with their URLs and links, real ones or made ones.
///
/// Errors: fail(). Threads: reading, any number.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <crawlstore/crawled_page.h>

#include "rank_graphs.h"

namespace crawlstore::bench {

class ShardWeb {
 public:
  /// Reads STEM.adj.zst and STEM.urls.zst. With `by_folder` the host of a page is its host and its
  /// folders: a name s0, s1 ... is put before the host, the path stays whole.
  static ShardWeb read(const std::string& stem, bool by_folder);
  /// Pages of local_graph(), of hosts with 1 to 39 pages, which are neighbours.
  static ShardWeb make(std::uint64_t page_count);

  /// Pages that no page links to, and so many more, evenly over all.
  [[nodiscard]] std::vector<std::uint32_t> seeds(std::size_t count) const;
  [[nodiscard]] std::size_t page_count() const { return urls_.size(); }
  [[nodiscard]] std::size_t host_count() const { return host_count_; }
  /// In its normal form.
  [[nodiscard]] const std::string& url(std::uint32_t page) const { return urls_[page]; }
  /// The page as a crawler would have parsed it.
  [[nodiscard]] const CrawledPage& fetched(std::uint32_t page) const { return fetched_[page]; }
  /// The first of two pages with one URL.
  [[nodiscard]] std::uint32_t page_of(std::string_view url) const;

 private:
  ShardWeb(const Graph& graph, std::vector<std::string> urls);

  std::vector<std::string> urls_;
  std::vector<bool> is_root_;
  std::vector<CrawledPage> fetched_;
  std::unordered_map<std::string_view, std::uint32_t> pages_;
  std::size_t host_count_ = 0;
};

}  // namespace crawlstore::bench
