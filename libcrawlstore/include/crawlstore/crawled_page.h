// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A page as it was crawled, built piece by piece, for PageDb::add().
///
/// Ownership: as in crawlstore.hpp, but an event made of the page views its text.
/// Threads: one at a time. Errors: none here; PageDb::add() refuses what it cannot keep.
/// Source: Aduana's CrawledPage.
///
///   CrawledPage page("https://example.org/");
///   page.set_content_hash(hash_of(body));
///   for (const auto& url : links) page.add_link(url);
///   CRAWLSTORE_TRY(pages.add(page));

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/crawl_event.h>

#pragma GCC visibility push(default)
namespace crawlstore {

class CrawledPage {
 public:
  /// A page without links, score 0, without a content hash.
  ///   url      the page's; any bytes, any length up to 16 MiB
  ///   time_us  when it was crawled, microseconds since the epoch, UTC; 0: now
  explicit CrawledPage(std::string_view url, std::int64_t time_us = 0);

  /// The score that the crawler gives the page; finite.
  void set_score(float score) { score_ = score; }
  /// Sets the hash that tells whether the content changed since the last crawl. PageDb::add() takes
  /// at most 64 bytes. A page changed when a crawl gives another hash than the crawl before; none
  /// is one as well.
  void set_content_hash(std::span<const std::byte> hash);
  void set_content_hash(std::uint64_t hash);

  /// The status that the server answered; 0: not known.
  void set_http_status(std::uint16_t status) { http_status_ = status; }

  /// Any number, in any order; kept in this order here, sorted by index in the store.
  ///   score  an estimate of what the target is worth, until it is crawled
  void add_link(std::string_view url, float score = 0);
  [[nodiscard]] std::size_t link_count() const { return links_.size(); }
  /// Link number `i`, below link_count(), in the order in which they were added; its text lives as
  /// long as no link is added.
  [[nodiscard]] EventLink link(std::size_t i) const;

  /// The page as an event; views into this object, valid until it changes.
  [[nodiscard]] CrawlEvent event() const;

 private:
  struct Link {
    std::string url;
    float score = 0;
  };
  std::string url_;
  std::int64_t time_us_ = 0;
  float score_ = 0;
  std::uint16_t http_status_ = 0;
  std::vector<std::byte> content_hash_;
  std::vector<Link> links_;
  mutable std::vector<EventLink> link_views_;  // of event()
};

}  // namespace crawlstore
#pragma GCC visibility pop
