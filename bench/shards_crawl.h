// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One shard of a crawl, level by level to its end, and its part in the scores of all.
///
/// Errors: std::runtime_error. Threads: one for each shard, which all make the same calls.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/ranking.h>
#include <crawlstore/shard_exchange.h>

#include "shards_peers.h"
#include "shards_web.h"

namespace crawlstore::bench {

/// Processor seconds of the thread, by what it did.
struct CrawlCosts {
  double open = 0;
  double merge_received = 0;  ///< superstep over URLs that others sent
  double read = 0;            ///< new pages, to be fetched
  double add = 0;             ///< pages as they were fetched
  double merge = 0;           ///< superstep over these
  double exchange = 0;        ///< exchange_step(), in which nothing is left to merge
  double outbox = 0;          ///< of it, end_step() and write_outbox()
  double receive = 0;         ///< of it, receive_outbox()
  double note = 0;            ///< of it, note_sent()
  double carry = 0;           ///< of it, the transport
  CrawlCosts& operator+=(const CrawlCosts& other);
};

/// A crawl by its pages and links, whatever the order and the number of files. Sums over shards are
/// those of the crawl.
struct Found {
  std::uint64_t pages = 0;
  std::uint64_t crawled = 0;
  std::uint64_t links = 0;
  std::uint64_t page_hash = 0;
  std::uint64_t link_hash = 0;
  std::uint64_t crossing = 0;        ///< links to pages elsewhere
  std::uint64_t crossing_raw = 0;    ///< bytes of their URLs, each with its length
  std::uint64_t crossing_bytes = 0;  ///< of messages with these, one for each two shards
  std::uint64_t elsewhere = 0;
  std::uint64_t elsewhere_raw = 0;
  Found& operator+=(const Found& other);
};

struct CrawlSums {
  std::uint64_t levels = 0;  ///< of this shard, as of all
  std::uint64_t urls_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t urls_new = 0;  ///< received, and not known
};

/// Iterations of PageRank.
struct RankSums {
  std::uint32_t iterations = 0;
  double process_cpu_seconds = 0;  ///< of all threads, all iterations but the first
  double cpu_seconds = 0;          ///< of this thread
  std::uint64_t bytes = 0;         ///< sent by this shard meanwhile
};

struct CrawlOptions {
  std::size_t seed_count = 0;
  /// Fetches URLs that others sent while they wait as edits, so that they become pages, and are
  /// crawled, in one superstep.
  bool takes_waiting = false;
};

class ShardCrawl {
 public:
  ShardCrawl(const ShardWeb& web, Meeting& meeting, std::string path, const Shard& shard)
      : web_(web), peers_(meeting, shard.index), path_(std::move(path)), shard_(shard) {}

  /// Makes the file and crawls to the end.
  void crawl(const CrawlOptions& options);
  /// Computes PageRank with the others and stores it.
  void rank();
  [[nodiscard]] Found look() const;
  /// Sets the scores of own pages.
  void add_scores(std::vector<double>& by_page) const;

  [[nodiscard]] const CrawlCosts& costs() const { return costs_; }
  [[nodiscard]] const CrawlSums& sums() const { return sums_; }
  [[nodiscard]] const RankSums& rank_sums() const { return rank_sums_; }

 private:
  [[nodiscard]] PageView view() const;
  void open(std::size_t seed_count);
  std::vector<std::uint32_t> new_pages(bool takes_waiting);
  void exchange();
  bool anybody_has(std::size_t count);

  const ShardWeb& web_;
  ThreadPeers peers_;
  std::string path_;
  Shard shard_;
  std::optional<Store> store_;
  std::optional<PageDb> pages_;
  std::uint64_t next_ = 0;  // index of the first page that was not looked at
  CrawlCosts costs_;
  CrawlSums sums_;
  RankSums rank_sums_;
};

}  // namespace crawlstore::bench
