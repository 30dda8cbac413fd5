// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pages and links of one generation, for reading: any process, beside the writer.
///
/// Ownership: as in crawlstore.hpp. The view must outlive calls on it, visitors included. Threads:
/// any number, of one view too. Errors: damage is reported with segment and offset, at the first
/// touch of a chunk. Edits that wait are not seen (for_each_event() shows those that are in the
/// file).
///
///   auto snapshot = Snapshot::open("my.crawl");
///   auto pages = PageView::open(*snapshot);
///   auto index = pages->find("https://example.org/");
///   if (*index) auto page = pages->page(**index);

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/crawl_event.h>
#include <crawlstore/shard.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// A page database as a whole.
struct PagesInfo {
  SegmentId id;
  std::string name;
  bool has_urls = true;
  bool has_content_index = false;  ///< tools/page_copies.h
  std::uint64_t page_count = 0;
  std::uint64_t crawled_count = 0;    ///< crawled at least once
  std::uint64_t elsewhere_count = 0;  ///< of other shards: shard.h
  std::uint64_t link_count = 0;       ///< distinct pairs of pages
  std::uint64_t event_count = 0;      ///< edits that wait in the file
  std::uint64_t superstep_count = 0;
  std::uint64_t collision_count = 0;  ///< URLs left out because another URL has their key
  std::uint64_t unparsed_count = 0;   ///< pages whose URL no parser takes, kept as it is
  std::string normalizer;             ///< UrlNormalizer::name()
  Shard shard{};                      ///< that the file is
  /// Allocated bytes, checksums and padding included. 0 where there is nothing.
  std::uint64_t key_bytes = 0;
  std::uint64_t origin_bytes = 0;
  std::uint64_t record_bytes = 0;
  std::uint64_t out_link_bytes = 0;
  std::uint64_t in_link_bytes = 0;  ///< of links that came, and of links that went
  std::uint64_t event_bytes = 0;
  std::uint64_t content_bytes = 0;  ///< of the index of contents
};

/// Everything that is known of a page. Times in microseconds since the epoch, UTC; 0: never
/// crawled.
struct PageInfo {
  std::uint64_t index = 0;                   ///< for ever, unless a rollback takes the page back
  std::string url;                           ///< normalised; empty where pages have no URLs
  std::optional<std::uint64_t> linked_from;  ///< the page that linked to it first; none: a seed
  bool by_redirect = false;                  ///< that page redirected to it, in its depth
  std::uint32_t depth = 0;                   ///< links on the way from a seed, not redirects
  PageState state{};
  std::uint32_t crawl_count = 0;
  std::uint32_t change_count = 0;  ///< crawls that found another content than before
  std::int64_t first_crawl_us = 0;
  std::int64_t last_crawl_us = 0;
  float score = 0;                      ///< an estimate until it is crawled
  std::vector<std::byte> content_hash;  ///< at most 64 bytes
  std::uint16_t http_status = 0;        ///< that an edit gave last, such as 404; 0: none did
  std::uint32_t failure_count = 0;      ///< fetches in a row that failed, up to now

  /// Changes a second, estimated from what crawls saw of them: of n intervals between crawls in the
  /// time t, X with a change (none counts half), -n / t * ln((n - X + 0.5) / (n + 0.5)). Nothing
  /// where all crawls were at one time. Source: Cho and Garcia-Molina, 2003.
  [[nodiscard]] std::optional<double> change_rate() const;
  /// The same as Aduana has it: (X + 1) / t.
  [[nodiscard]] std::optional<double> aduana_change_rate() const;
};

struct LinkStreamOptions {
  bool incoming = false;          ///< rows are pages with the pages that link to them
  bool only_other_hosts = false;  ///< leaves out links inside a host; takes 8 bytes a page
  std::uint64_t first_page = 0;
};

class LinkStream;

class PageView {
 public:
  /// errors  kUnknownName: the generation has no page database of this name; of damage
  [[nodiscard]] static Result<PageView> open(const Snapshot& snapshot,
                                             std::string_view name = "pages");
  /// The names of all page databases.
  static std::vector<std::string> names(const Snapshot& snapshot);

  [[nodiscard]] const PagesInfo& info() const;

  /// The index of a URL; nothing when no page has it. The URL is normalised as the database names
  /// it; where rules of a user's own made the texts, it must be such a text.
  ///   cost    a block of keys in the DRUM of keys, and in each run beside it until it is found, at
  ///           most 4; a block of URLs
  [[nodiscard]] Result<std::optional<std::uint64_t>> find(std::string_view url) const;
  /// The same of a URL that is taken as it is, as url() of this or another database returned it.
  [[nodiscard]] Result<std::optional<std::uint64_t>> find_text(std::string_view text) const;

  /// errors  kInvalidArgument: no page has this index
  ///   cost    a block of URLs, a place in a tile
  [[nodiscard]] Result<PageInfo> page(std::uint64_t index) const;
  [[nodiscard]] Result<std::string> url(std::uint64_t index) const;
  /// The score and the state that page() gives, without reading the URL.
  ///   errors  as page()
  ///   cost    a place in a tile
  [[nodiscard]] Result<float> score(std::uint64_t index) const;
  [[nodiscard]] Result<PageState> state(std::uint64_t index) const;

  /// The pages that a page links to, or that link to it, ascending.
  ///   errors  kInvalidArgument: no page has this index
  ///   cost    a block of links in each run; there are at most 9, in-links 17
  [[nodiscard]] Result<std::vector<std::uint64_t>> out_links(std::uint64_t index) const;
  [[nodiscard]] Result<std::vector<std::uint64_t>> in_links(std::uint64_t index) const;

  /// Pages in the order of their indexes, until the visitor returns false.
  using VisitPage = std::function<bool(const PageInfo& page)>;
  [[nodiscard]] Result<void> for_each_page(const VisitPage& visit, std::uint64_t first = 0) const;
  /// Keys of pages in their order, host by host, with the indexes: until the visitor returns false.
  using VisitKey = std::function<bool(Key16 key, std::uint64_t index)>;
  [[nodiscard]] Result<void> for_each_key(const VisitKey& visit) const;
  /// The same of one host, whose keys are neighbours. `host` as in URLs, normalised, no port.
  [[nodiscard]] Result<void> for_each_key_of(std::string_view host, const VisitKey& visit) const;
  /// Pages of one host, in the order of their keys.
  ///   cost    a block of URLs each, as keys are in another order than URLs
  [[nodiscard]] Result<void> for_each_page_of(std::string_view host, const VisitPage& visit) const;
  /// Edits that wait in the file, as they came, until the visitor returns false.
  [[nodiscard]] Result<void> for_each_event(
      const std::function<bool(const CrawlEvent& event)>& visit) const;

  /// The scores of all pages, by index.
  [[nodiscard]] Result<std::vector<float>> scores() const;

  /// All links as one stream.
  [[nodiscard]] Result<LinkStream> links(const LinkStreamOptions& options = {}) const;

  struct Impl;

 private:
  explicit PageView(std::shared_ptr<Impl> impl);
  friend struct Inside;
  std::shared_ptr<Impl> impl_;
};

/// Links page by page, ascending. Threads: one at a time. Keeps the view's snapshot.
class LinkStream {
 public:
  /// A page that has links, and they; false at the end. Valid until the next call.
  [[nodiscard]] Result<bool> next();
  [[nodiscard]] std::uint64_t page() const;
  [[nodiscard]] std::span<const std::uint64_t> links() const;
  /// Back to the first page of the options.
  [[nodiscard]] Result<void> reset();

  struct Impl;
  explicit LinkStream(std::shared_ptr<Impl> impl);

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
