// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Differences between the page databases of two states: generations of one store, a store and an
/// older copy of it, or two stores. Beside diff() (diff.h), which compares segments and DRUMs.
///
/// Databases are compared by name. In states of one store, and where pages have no URLs, a page is
/// known by its index; between two stores, and between copies of a store that went on apart, by
/// its URL, whatever the seeds of their keys are. So in one store a URL that was forgotten and came
/// up again is two pages, one gone and one added. Compared are states, counts, times, scores, HTTP
/// statuses and content hashes of pages, their links, and the edits that wait; not the first linker
/// and the depth, which never change, and not how the database is laid out: supersteps without
/// news, compact() and a copy make no difference.
///
/// In states of one store tiles of records, and runs of origins, links and edits, that are the same
/// are skipped, so the cost follows what was written between the two.
/// Ownership: as in crawlstore.hpp. Threads: none kept; sinks are called on
/// the caller's thread. Memory: some blocks a run, 8 bytes a page that was forgotten; where pages
/// are known by URL 8 bytes a page of the older state, 2 bits a page of the newer one, and 32 MiB.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/tools/diff.h>
#include <crawlstore/tools/page_gaps.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// In what the two records of a page differ.
struct PageFields {
  bool state = false;
  bool crawl_count = false;
  bool change_count = false;
  bool first_crawl = false;
  bool last_crawl = false;
  bool score = false;
  bool content_hash = false;
  bool http_status = false;
  bool failure_count = false;
  [[nodiscard]] bool any() const;
  /// "state crawl_count last_crawl_us": the names of PageInfo, in its order.
  [[nodiscard]] std::string text() const;
};

/// A page that is not in both states with the same record. kGone: only the older state has it (it
/// was forgotten), or the newer one says that it is gone, which the older one did not.
struct PageDiff {
  std::string_view database;
  Change change{};
  std::optional<PageInfo> older;  ///< nothing: that state does not have the page
  std::optional<PageInfo> newer;
  PageFields fields;  ///< where both have it
};

/// A page whose links are not the same in both states. Of two stores links are the same when the
/// pages at both ends are.
struct PageLinksDiff {
  std::string_view database;
  std::optional<std::uint64_t> old_index;  ///< of the page; nothing: that state does not have it
  std::optional<std::uint64_t> new_index;
  std::span<const std::uint64_t> added;  ///< targets, by their indexes in the newer state
  std::span<const std::uint64_t> gone;   ///< targets, by their indexes in the older state
};

/// An edit that waits in one state only. Edits are compared as they came: all behind the first that
/// differs are gone, or added. kGone: a superstep took it, most likely.
struct EditDiff {
  std::string_view database;
  Change change{};
  const CrawlEvent& event;
};

/// A page database that one state has, or both.
struct PagesDiff {
  std::string name;
  bool in_old = false;
  bool in_new = false;
  bool kind_differs = false;  ///< with URLs in one state only: nothing in it was compared
  bool by_url = false;        ///< how pages were told apart; false: by their indexes
  std::uint64_t old_page_count = 0;
  std::uint64_t new_page_count = 0;
  std::uint64_t added_page_count = 0;  ///< PageDiff of that kind, and so on
  std::uint64_t gone_page_count = 0;
  std::uint64_t forgotten_page_count = 0;  ///< of these, those that the newer state does not have
  std::uint64_t changed_page_count = 0;
  std::uint64_t fetched_page_count = 0;  ///< of those added or changed: with more crawls
  std::uint64_t failed_page_count = 0;   ///< and with more failed fetches in a row
  std::uint64_t old_link_count = 0;
  std::uint64_t new_link_count = 0;
  std::uint64_t added_link_count = 0;
  std::uint64_t gone_link_count = 0;
  std::uint64_t old_edit_count = 0;
  std::uint64_t new_edit_count = 0;
  std::uint64_t added_edit_count = 0;
  std::uint64_t gone_edit_count = 0;
  std::vector<PageGap> old_gaps;  ///< past damage: what the older state could not tell
  std::vector<PageGap> new_gaps;
  /// Past damage: why the older, or newer, state has no table. Nothing was compared, nor counted.
  std::optional<Error> old_error;
  std::optional<Error> new_error;
  /// Whether the database differs between the states, in any of the above.
  [[nodiscard]] bool differs() const;
};

/// Told database by database: pages, then links, then edits. Pages and links come in the order of
/// indexes; where pages are known by URL in that of the older state, then what only the newer one
/// has. Empty functions are not called.
struct PagesDiffSink {
  std::function<void(const PageDiff&)> page;
  std::function<void(const PageLinksDiff&)> links;
  std::function<void(const EditDiff&)> edit;
  /// Right before diff_pages() returns an error of one of the states: of which.
  std::function<void(bool in_new)> failed;
};

struct PagesDiffOptions {
  /// Called now and then with pages and links done and about all that must be looked at; false
  /// stops with kCancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  /// Goes on past damage, as open_past_damage() does: what one state cannot tell is left out, so
  /// that nothing counts as added or gone for that. All links, and by URL all keys, are looked up.
  /// Edits after damaged ones are left out where none that differs comes before these.
  bool past_damage = false;
};

/// Compares an older state with a newer one: all page databases, by name. What a sink was told is
/// to be believed only when this succeeds: the checksums of what was streamed are compared at its
/// end.
///   errors  of damage, in either state; kCancelled
///   cost    of one store: as said above. By URL: all origins and records of both, all links, and a
///           look-up of a key and of a row of links for each page, 5 to 20 us
[[nodiscard]] Result<std::vector<PagesDiff>> diff_pages(const Snapshot& older,
                                                        const Snapshot& newer,
                                                        const PagesDiffSink& sink = {},
                                                        const PagesDiffOptions& options = {});

}  // namespace crawlstore
#pragma GCC visibility pop
