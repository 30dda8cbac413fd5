// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl file with pages, the same bytes at each run: for pictures and for tests of panels.

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>
#include <crawlstore/tools/file_map.h>

#include "drum/memory_store.h"
#include "support/bytes.h"

namespace crawlstore::testing {

inline constexpr std::int64_t kCrawlTimeUs = 1'767'225'600'000'000;  // 2026-01-01

/// Page `number` of host `host` of a small web: hosts a.example, b.example ...
inline std::string web_url(std::uint64_t host, std::uint64_t number) {
  const std::string name(1, static_cast<char>('a' + host));
  return "http://" + name + ".example/" + (number == 0 ? "" : "page/" + std::to_string(number));
}

/// Crawls pages 0 .. count of each host: each links to the next ones of its host, and now and then
/// to the first page of another one.
inline void crawl_web(PageDb& pages, std::uint64_t host_count, std::uint64_t count,
                      std::int64_t time_us) {
  for (std::uint64_t host = 0; host < host_count; ++host) {
    for (std::uint64_t number = 0; number < count; ++number) {
      CrawledPage page(web_url(host, number), time_us + static_cast<std::int64_t>(number) * 1000);
      page.set_score(1.0F / static_cast<float>(1 + number + host));
      page.set_content_hash(static_cast<std::uint64_t>(time_us) / 1000 * (number % 3) + number);
      page.add_link(web_url(host, 2 * number + 1), 0.25F);
      page.add_link(web_url(host, 2 * number + 2), 0.125F);
      page.add_link(web_url(host, 0));
      if (number % 3 == 0) page.add_link(web_url((host + 1 + number / 3) % host_count, 0), 0.5F);
      must(pages.add(page));
    }
  }
}

/// Scores of one's own: how many pages link to each.
inline void store_in_degrees(Store& store) {
  const PageView view = must(PageView::open(must(store.snapshot())));
  std::vector<float> counts;
  for (std::uint64_t i = 0; i < view.info().page_count; ++i) {
    counts.push_back(static_cast<float>(must(view.in_links(i)).size()));
  }
  must(store_scores(store, "in_degree", view, counts));
}

/// Two queues: `queue`, of two runs, of which the first pages have left, with a change; and
/// `later`, of pages that no database has.
inline void fill_queues(Store& store) {
  Queue queue = must(Queue::open(store));
  std::vector<QueuedPage> pages;
  for (std::uint64_t i = 0; i < 60; ++i) pages.push_back({i, 1 / static_cast<double>(1 + i)});
  must(queue.insert(pages));
  must(store.commit());
  must(queue.take(5));
  must(queue.update(std::vector<QueuedPage>{{10, 0.001}}));
  must(queue.insert(std::vector<QueuedPage>{{70, 0.07}, {71, 0.6}}));
  must(queue.close());
  Queue later = must(Queue::open(store, "later"));
  must(later.insert(std::vector<QueuedPage>{{1'000'000, -1}, {1'000'001, 1}}));
  must(later.close());
}

/// Writes the store's file.
inline void write_image(const MemoryStore& store, const std::string& path) {
  const std::vector<std::byte> image = store.image();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(image.data()),
             static_cast<std::streamsize>(image.size()));
}

/// Flips a bit of the longest run of that kind, so far in.
///   returns  the offset of the byte
inline std::uint64_t damage_longest_run(const std::string& path, std::string_view kind,
                                        double share = 0.5) {
  Extent longest;
  for (const ExtentInfo& extent : must(extents(must(Snapshot::open(path, {.pin = false}))))) {
    if (extent.use != ExtentUse::kRun || name_of(extent.kind) != kind) continue;
    if (extent.extent.length_bytes > longest.length_bytes) longest = extent.extent;
  }
  EXPECT_NE(longest.length_bytes, 0U) << "no run of " << kind;
  const std::uint64_t offset =
      longest.offset_bytes +
      static_cast<std::uint64_t>(share * static_cast<double>(longest.length_bytes));
  auto bytes = file_bytes(path);
  bytes.at(offset) ^= std::byte{1};
  put_file(path, bytes);
  return offset;
}

/// Hosts of several sizes: big.example with 40 pages, of which 7 wait in queues; 12 of a name
/// beyond ASCII, of which 2 wait; mid.example with 5, of which 3 failed; 2 pages without a host.
inline void write_hosts_file(const std::string& path) {
  MemoryStore store;
  PageDb pages = must(PageDb::open(*store));
  const auto crawl = [&](const std::string& prefix, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      must(pages.add(CrawledPage(prefix + std::to_string(i), kCrawlTimeUs)));
    }
  };
  crawl("http://mid.example/", 5);
  crawl("file:///folder/", 2);
  crawl("http://big.example/", 40);
  crawl(
      "http://b\xc3\xbc"
      "cher.example/",
      12);
  for (const char* number : {"1", "3", "4"}) {
    const std::string url = std::string("http://mid.example/") + number;
    CrawlEvent failed;
    failed.kind = CrawlEventKind::kFailed;
    failed.url = url;
    failed.time_us = kCrawlTimeUs + 1;
    must(pages.add(failed));
  }
  must(pages.merge());
  const PageView view = must(PageView::open(must(store->snapshot())));
  Queue queue = must(Queue::open(*store));
  const auto wait = [&](const std::string& prefix, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto page = must(view.find(prefix + std::to_string(i)));
      must(queue.insert(std::vector<QueuedPage>{{*page, static_cast<double>(i)}}));
    }
  };
  wait("http://big.example/", 7);
  wait(
      "http://b\xc3\xbc"
      "cher.example/",
      2);
  must(queue.close());
  must(pages.close());
  write_image(store, path);
}

/// The file: two crawls of a web of 6 hosts, failures, deletions, and edits that wait.
///   has_scores  in_degree, stale; and pagerank
///   has_queue   see fill_queues()
inline void write_pages_file(const std::string& path, bool has_scores = false,
                             bool has_queue = false) {
  MemoryStore store;
  {
    PageDb pages = must(PageDb::open(*store));
    crawl_web(pages, 6, 8, kCrawlTimeUs);
    must(pages.merge());
    if (has_scores) store_in_degrees(*store);
    crawl_web(pages, 4, 6, kCrawlTimeUs + 86'400'000'000);
    for (const std::uint64_t number : {9U, 11U}) {
      CrawlEvent failed;
      failed.kind = CrawlEventKind::kFailed;
      const std::string url = web_url(1, number);
      failed.url = url;
      failed.time_us = kCrawlTimeUs + 90'000'000'000;
      must(pages.add(failed));
    }
    CrawlEvent gone;
    gone.kind = CrawlEventKind::kGone;
    gone.url = "http://c.example/page/10";
    gone.time_us = kCrawlTimeUs + 91'000'000'000;
    must(pages.add(gone));
    must(pages.merge());
    if (has_scores) must(rank_pages(*store));
    if (has_queue) fill_queues(*store);
    crawl_web(pages, 1, 3, kCrawlTimeUs + 172'800'000'000);
    CrawledPage unicode(
        "//b\xc3\xbc"
        "cher.example/\xe6\x97\xa5\xe6\x9c\xac",
        kCrawlTimeUs + 172'900'000'000);
    must(pages.add(unicode));
    must(store->commit());
    must(pages.close());
  }
  write_image(store, path);
}

}  // namespace crawlstore::testing
