// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A page database as Nutch's WebDB: pages by URL and by content, links by target and by the
/// content they come from, and a writer whose edits take effect together. It has no format of its
/// own: what it reads and writes are pages (pages.h), and both can be used on one file.
///
/// A page of the WebDB is one that the database has and that is not gone; one that was only linked
/// to is a page as well. A link leads from a page to a URL. The WebDB of the source keeps links
/// once a content; here each page has its own, and those of a content are those of its pages
/// together. So no reference is counted: links go with their page, a copy keeps its own.
///
/// Threads: a reader any number; a writer one at a time. Errors: those of PageView, PageDb and
/// ExternalSort. Source: Nutch's WebDB (wiki, 2004); spec/features.md, W and E8 to E10.
///
///   auto writer = WebDbWriter::open(store);
///   CRAWLSTORE_TRY(writer->add_page(page));
///   CRAWLSTORE_TRY(writer->add_link({hash, "https://example.org/a"}));
///   CRAWLSTORE_TRY(writer->close());
///   auto reader = WebDbReader::open(*Snapshot::open("my.crawl"));
///   CRAWLSTORE_TRY(reader->links_to("https://example.org/a", [](std::uint64_t source) { ... }));

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/crawled_page.h>
#include <crawlstore/page_order.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

struct WebDbCounts {
  std::uint64_t page_count = 0;  ///< that are not gone
  std::uint64_t link_count = 0;  ///< distinct pairs of a page and a target
};

/// Reads one generation. Owns a view, and so its pin; what visitors get lives until they return.
class WebDbReader {
 public:
  using VisitPage = std::function<bool(std::uint64_t index)>;

  /// errors  as PageView::open(); kInvalidArgument: the pages of the database have no URLs
  [[nodiscard]] static Result<WebDbReader> open(const Snapshot& snapshot,
                                                std::string_view name = PageDb::kDefaultName);

  /// The page of a URL; nothing where there is none, or it is gone.
  [[nodiscard]] Result<std::optional<PageInfo>> page(std::string_view url) const;
  /// Whether a page has this content.
  ///   cost  as for_each_page_of_content() (tools/page_copies.h), up to the first page
  [[nodiscard]] Result<bool> page_exists(std::span<const std::byte> content_hash) const;
  /// The pages of a content, ascending by index, until the visitor returns false.
  [[nodiscard]] Result<void> pages_of(std::span<const std::byte> content_hash,
                                      const VisitPage& visit) const;
  /// All pages in an order of page_order.h, but for those that are gone.
  [[nodiscard]] Result<void> for_each_page(
      const PageOrderOptions& options,
      const std::function<bool(std::string_view url, std::uint64_t index)>& visit) const;
  [[nodiscard]] Result<void> for_each_page_by_content(
      const PageOrderOptions& options,
      const std::function<bool(std::span<const std::byte> content_hash, std::uint64_t index)>&
          visit) const;

  /// The pages that link to a URL, ascending by index. Links to a page that is gone stay.
  ///   cost  as PageView::in_links(); 8 bytes a link
  [[nodiscard]] Result<void> links_to(std::string_view url, const VisitPage& visit) const;
  /// The targets of the links of all pages that have a content, each once, ascending by index.
  ///   cost  as pages_of(); some 16 bytes a target that differs
  [[nodiscard]] Result<void> links_of(std::span<const std::byte> content_hash,
                                      const VisitPage& visit) const;
  /// All links, ascending by the URL of the target: each target that has links, with the pages
  /// that link to it. cost: for_each_page(), and links_to() of each target
  [[nodiscard]] Result<void> for_each_link(
      const PageOrderOptions& options,
      const std::function<bool(std::string_view target_url,
                               std::span<const std::uint64_t> sources)>& visit) const;

  /// cost  reads all records
  [[nodiscard]] Result<WebDbCounts> counts() const;
  /// The pages behind it, for all that has an index.
  [[nodiscard]] const PageView& view() const { return view_; }

 private:
  explicit WebDbReader(PageView view) : view_(std::move(view)) {}
  [[nodiscard]] Result<bool> is_there(std::uint64_t index) const;
  PageView view_;
};

/// A link of a content, as edits name it.
struct WebDbLink {
  std::span<const std::byte> content_hash{};  ///< of the page it comes from; 1 to 64 bytes
  std::string_view target_url{};
};

struct WebDbOptions {
  std::string name{PageDb::kDefaultName};
  /// Bytes that edits take until close(), about; those of pages.memory_bytes come on top.
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;
  /// Folder for edits that exceed it: PageOrderOptions::folder.
  std::string folder{};
  /// Options of the page database, which is opened with the writer, and which has an index of
  /// contents if it is new. Their progress is told of the superstep of close(), too, and
  /// `unparsed` inside close().
  PagesOptions pages{};
};

/// The outcome of close().
struct WebDbReport {
  /// A link that was refused: no page has its content.
  struct RefusedLink {
    std::vector<std::byte> content_hash;
    std::string target_url;
  };
  static constexpr std::size_t kRefusedLinksMax = 1000;

  std::uint64_t edit_count = 0;
  std::uint64_t no_effect_count = 0;     ///< pages that were there, or to be deleted and not there
  std::uint64_t refused_link_count = 0;  ///< all; `refused_links` has the first ones
  std::vector<RefusedLink> refused_links{};
  SuperstepReport superstep{};  ///< the last one; of several if pages.memory_bytes was exceeded
};

/// Writes edits that take effect in close(), as one commit. Until then readers see the old state,
/// and a process that dies has changed nothing.
///
/// Edits of one URL take effect in the order of the calls. Those of different URLs may come in any
/// order: a page is there for add_page_if_new() and delete_page() if it was before the session or
/// an edit of its URL made it; that a link of the session leads to it does not count. Links by
/// content are added after all edits of pages, to the pages that have the content then.
///
/// A link makes its target known, unless it is a page: then it is one, not crawled. A target that
/// is gone stays so. The source is silent on that (E10).
///
/// Ownership: as in crawlstore.hpp. It has the page database open, so that nothing else can.
/// Without close() the edits are dropped.
class WebDbWriter {
 public:
  /// Opens the page database, or makes it, and merges what waits there: one commit.
  ///   errors  as PageDb::open() and PageDb::merge(); kInvalidArgument: memory_bytes below 64 KiB,
  ///           or pages without URLs
  [[nodiscard]] static Result<WebDbWriter> open(Store& store, const WebDbOptions& options = {});
  WebDbWriter(WebDbWriter&&) noexcept;
  WebDbWriter& operator=(WebDbWriter&&) noexcept;
  ~WebDbWriter();

  /// Adds a crawled page, or replaces that of its URL, which keeps its score. Links are replaced by
  /// those given; if none are, and the content is known and stays, so do they (E8).
  /// One without a time was crawled when close() is called.
  ///   errors  kTooLarge, kInvalidArgument: as PageDb::add(); those of ExternalSort::add()
  [[nodiscard]] Result<void> add_page(const CrawledPage& page);
  /// The same, and the page gets the score that is given.
  ///   errors  kInvalidArgument, too, of score 0: events have no such opinion
  [[nodiscard]] Result<void> add_page_with_score(const CrawledPage& page);
  /// Adds the page, and the link, if its URL has no page.
  [[nodiscard]] Result<void> add_page_if_new(const CrawledPage& page,
                                             const std::optional<WebDbLink>& link = {});
  /// The same of a page that was not crawled. One that is gone comes back as it was, without links.
  [[nodiscard]] Result<void> add_page_if_new(std::string_view url, float score = 0,
                                             const std::optional<WebDbLink>& link = {});
  /// Deletes the page of a URL, with its links, if there is one.
  [[nodiscard]] Result<void> delete_page(std::string_view url);
  /// Adds a link to each page that has its content when the session ends.
  [[nodiscard]] Result<void> add_link(const WebDbLink& link);

  /// Works through the edits and commits them. Edits that exceed pages.memory_bytes take several
  /// commits: then readers may see a part of them, page by page. Again: no effect.
  ///   errors  of the sorts: nothing was changed, and the writer is of no more use. Those of
  ///           PageDb::merge(): call it again; without, the edits stay waiting in the database.
  ///           After an error, too, edits are refused with kClosed. That the store was closed first
  ///           is told here
  ///   cost    sorts edits by URL, then by content; looks up each URL, and each content that gets
  ///           links; reads and sorts all pages where there are such and no index of contents; the
  ///           links of one content are in memory together; a superstep
  [[nodiscard]] Result<WebDbReport> close();

  struct Impl;

 private:
  explicit WebDbWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
