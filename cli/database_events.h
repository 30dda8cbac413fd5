// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A page database as the crawl events that make it anew, with the same indexes.
///
/// First every page is named, in the order of indexes: seeds as known, the others by the page that
/// linked to them first, with that link, which is taken back at once if it is there no more. So a
/// new store gives the same indexes, depths and first scores. Then each page in turn: its crawls,
/// the last one with all links; what became of it; links that were only listed. Last come the edits
/// that wait.
///
/// A store that these events come over, in which pages have some of these links already, keeps all
/// of them at all times, but for the page that is being told: the links of one that was crawled
/// more than once, has more than one event holds, is gone, or redirects are whole after its last
/// event only. No superstep that memory calls for begins before that (pages.h), so a kill leaves
/// none missing; a signal, or a stream that breaks off, can leave those of one page missing. Links
/// in each event would change that, and make the export as many times as large as there are crawls.
/// A page to which a redirect led first is named by that redirect, which takes the links of its
/// source until that page is told: there a kill can leave some missing, too.
///
/// The first and last time, the count and the changes of crawls are kept, not the times between.
/// Those have the time of the last, and a change is a made-up hash. Crawls of a page beyond
/// kCrawlsMax are left out, and so are failures in a row beyond that. Scores of links to pages that
/// are known already, and times of failures, are not in a database. Threads: one. Memory: two pages
/// with their links, and the URLs of a piece of these.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/page_view.h>

#include "cli/page_source.h"

namespace crawlstore::cli {

class DatabaseEvents {
 public:
  static constexpr std::uint32_t kCrawlsMax = 1000;

  /// Gets the events; valid during the call. Its error ends everything.
  using Visit = std::function<Result<void>(const CrawlEvent& event)>;
  /// Told how many of twice all pages are done.
  using Look = std::function<Result<void>(std::uint64_t done)>;
  DatabaseEvents(const PageViews& views, Visit visit, Look look);

  /// errors of damage, and those of the visitor
  Result<void> run();
  /// Pages with more crawls than were told.
  [[nodiscard]] std::uint64_t cut_page_count() const { return cut_page_count_; }

 private:
  Result<void> name_pages();
  Result<void> name_page(const PageInfo& page);
  Result<void> find_linker(std::uint64_t index);
  Result<void> finish_group();
  Result<void> describe_pages();
  Result<void> describe_page(const PageInfo& page, std::span<const std::uint64_t> links);
  Result<void> tell_state(const PageInfo& page);
  Result<void> tell_redirect(const PageInfo& page);
  Result<void> tell_crawls(const PageInfo& page, std::span<const std::uint64_t> links);
  Result<void> tell_links(const PageInfo& page, std::span<const std::uint64_t> links);
  /// Takes as many links as go into one event; returns the rest.
  Result<std::span<const std::uint64_t>> fill_links(std::span<const std::uint64_t> links);
  Result<void> tell(const PageInfo& page, CrawlEventKind kind);

  const PageView& view_;
  const PageView& look_up_;
  Visit visit_;
  Look look_;
  UrlCache urls_;
  std::uint64_t cut_page_count_ = 0;
  // New pages that one page linked to first.
  std::optional<PageInfo> linker_;
  std::vector<std::uint64_t> linker_links_;
  std::vector<PageInfo> group_;
  std::size_t group_bytes_ = 0;
  // The bytes of the URL in the event that is being made.
  std::string url_bytes_;
  std::vector<std::size_t> url_ends_;
  std::vector<EventLink> links_;
};

}  // namespace crawlstore::cli
