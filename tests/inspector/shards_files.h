// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files of the shards of a small crawl: for pictures and for tests of what is shown of them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/scores.h>
#include <crawlstore/shard_exchange.h>

#include "drum/memory_store.h"

namespace crawlstore::testing {

/// Three shards of a web of 12 hosts with 5 pages each, in FOLDER/a.crawl, b.crawl and c.crawl.
class ShardFiles {
 public:
  static constexpr std::uint32_t kCount = 3;

  explicit ShardFiles(const std::string& folder) {
    CreateOptions options;
    options.key_seed = 3;
    for (std::uint32_t shard = 0; shard < kCount; ++shard) {
      paths.push_back(folder + "/" + static_cast<char>('a' + shard) + ".crawl");
      stores.push_back(must(create_shard(paths.back(), {shard, kCount}, options)));
    }
    for (Store& store : stores) pages.push_back(must(PageDb::open(store)));
  }

  static std::string url(std::uint64_t host, std::uint64_t number) {
    return "http://host" + std::to_string(host % 12) + ".test/" + std::to_string(number % 5);
  }
  /// Crawls a page of each host, which links to two of its own host and to one of the next.
  void crawl(std::uint64_t number) {
    for (std::uint64_t host = 0; host < 12; ++host) add(host, number);
    for (std::uint32_t shard = 0; shard < kCount; ++shard) {
      must(pages[shard].merge());
      must(stores[shard].commit());
    }
  }
  /// Adds a page as an edit that waits, until crawl() is called.
  void add(std::uint64_t host, std::uint64_t number) {
    CrawledPage page(url(host, number), 1'767'225'600'000'000);
    page.add_link(url(host, number + 1));
    page.add_link(url(host, number + 2));
    page.add_link(url(host + 1, number));
    must(pages[shard_of(url_host(url(host, number)), kCount)].add(page));
  }
  /// Ends a step in all shards; the first of them get what the others found.
  void exchange(std::uint32_t receiver_count = kCount) {
    std::vector<std::vector<std::vector<std::byte>>> messages(kCount);
    for (std::uint32_t from = 0; from < kCount; ++from) {
      std::map<std::uint32_t, std::vector<std::byte>> outbox;
      const std::uint64_t step = must(end_step(stores[from], pages[from])).step;
      must(write_outbox(must(stores[from].snapshot()), step,
                        [&](std::uint32_t to, std::span<const std::byte> bytes) -> Result<void> {
                          outbox[to].insert(outbox[to].end(), bytes.begin(), bytes.end());
                          return {};
                        }));
      must(note_sent(stores[from], pages[from]));
      for (auto& [to, bytes] : outbox) messages[to].push_back(std::move(bytes));
    }
    for (std::uint32_t to = 0; to < receiver_count; ++to) {
      for (const auto& message : messages[to]) receive(to, message);
    }
  }
  /// Stores scores in the first shards: of each page its index, so of a page another one in each.
  void score(const std::string& name, std::uint32_t shard_count = kCount) {
    for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
      const PageView view = must(PageView::open(must(stores[shard].snapshot())));
      std::vector<float> values;
      for (std::uint64_t i = 0; i < view.info().page_count; ++i) {
        values.push_back(1 / static_cast<float>(1 + i));
      }
      must(store_scores(stores[shard], name, view, values, std::vector<double>{0.5}));
      must(stores[shard].commit());
    }
  }

  std::vector<std::string> paths;
  std::vector<Store> stores;
  std::vector<PageDb> pages;

 private:
  void receive(std::uint32_t to, std::span<const std::byte> message) {
    must(receive_outbox(stores[to], pages[to],
                        [&message](std::span<std::byte> into) -> Result<std::size_t> {
                          const std::size_t length = std::min(into.size(), message.size());
                          std::copy_n(message.begin(), length, into.begin());
                          message = message.subspan(length);
                          return length;
                        }));
    must(pages[to].merge());
    must(stores[to].commit());
  }
};

}  // namespace crawlstore::testing
