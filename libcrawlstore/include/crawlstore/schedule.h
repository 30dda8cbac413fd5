// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pages of a database as the items of a frontier (FrontierOptions::pages): their ids are indexes
/// of pages, their groups hosts, and they have no bodies, for the database has the URLs.
///
/// A superstep gives indexes to the pages that it makes, in their order, and a frontier knows the
/// highest id that was ever put. So nothing else is kept to know which pages are new, and a page
/// that a crash, an import or another program left between the two is put by the next call.
///
/// A page that was fetched comes back by put_back(), which looks at all records and at all that the
/// frontier holds. That, too, needs nothing else in the file, and puts what other programs have
/// crawled, what was lost, and what another policy left out. The body of such an item is the state
/// of its page, as a number, a point, and how often it was crawled, all in ASCII: it is to be
/// fetched as long as this has not changed. A new page has an empty body.
///
/// Ownership: as in crawlstore.hpp. Threads: those of Frontier, but of one frontier one put_pages()
/// at a time: two would put the same pages. Errors: as Frontier; of damage where pages are read.
/// Source: Aduana's schedulers.
///
///   FrontierOptions options{.pages = "pages"};
///   CRAWLSTORE_TRY(auto frontier, Frontier::open(store, "frontier", options));
///   CRAWLSTORE_TRY(pages.merge());
///   CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
///   CRAWLSTORE_TRY(const auto view, PageView::open(snapshot));
///   CRAWLSTORE_TRY(put_pages(frontier, view));
///   CRAWLSTORE_TRY(const auto taken, take_pages(frontier, view, {.count = 100}));

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <crawlstore/frontier.h>
#include <crawlstore/page_view.h>
#include <crawlstore/snapshot.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The pages that are to be fetched, and how soon.
struct SchedulePolicy {
  std::uint32_t depth_max = ~std::uint32_t{0};  ///< links from a seed; deeper pages are left out
  /// Asked for each page that would be put, whose URL is one of HTTP with a host: its priority, or
  /// nothing: it is left out. Without it those that are nearest to a seed come first. It must not
  /// use the frontier. What it throws is thrown on: some pages before that are put.
  std::function<std::optional<double>(const PageInfo& page)> priority_of{};
};

/// Counts of new pages by what became of them.
struct ScheduledPages {
  std::uint64_t put_count = 0;
  std::uint64_t refused_count = 0;   ///< by the limit of a host (FrontierRule), for good
  std::uint64_t left_out_count = 0;  ///< by the policy, or because they are nothing to fetch
  std::uint64_t next_page = 0;       ///< for a further call, unless a transaction is dropped
};

/// Puts all pages that are new since the last one that was put. What is left out or refused in
/// front of that one is so for good; Frontier::put() puts a single page.
///   first_page  those below were looked at before, as ScheduledPages::next_page says; so nobody
///               looks again at pages that are left out
///   errors      kInvalidArgument: the frontier is not of pages of this name; a priority is NaN.
///               After an error some pages are put, and a further call puts the rest
///   cost        some microseconds a page
[[nodiscard]] Result<ScheduledPages> put_pages(Frontier& frontier, const PageView& pages,
                                               const SchedulePolicy& policy = {},
                                               std::uint64_t first_page = 0);

/// The rule by which intervals between visits to a page come about.
enum class RevisitKind : std::uint8_t {
  /// When a fetch gains most: with x changes expected since the last crawl, all pages are fetched
  /// when (1 - (1 + x) exp(-x)) / PageInfo::change_rate() has reached one value, with which there
  /// are so many fetches a day as there may be. Pages that change too often to be kept fresh wait
  /// for `max_ms`.
  kGain,
  /// Nutch's: `first_ms`, times 0.8 for each crawl that found a change, 1.4 for each that did not.
  kAdaptive,
};

/// The time between visits to a page. Times are milliseconds.
struct RevisitRule {
  RevisitKind kind = RevisitKind::kGain;
  /// With kGain, about, and besides those that `first_ms` and `max_ms` bring about. Above 0.
  double fetches_per_day = 10'000;
  std::uint64_t first_ms = std::uint64_t{7} * 86'400'000;  ///< after the first crawl
  std::uint64_t min_ms = 3'600'000;
  std::uint64_t max_ms = std::uint64_t{365} * 86'400'000;
  /// From now on, of pages that failed for good, redirect, are denied or duplicates.
  std::uint64_t other_ms = std::uint64_t{90} * 86'400'000;
  /// Told a page and the interval that it has by all that, returns the one that it gets, such as
  /// one by its URL, or kNever. Bounds do not count then. As SchedulePolicy::priority_of.
  std::function<std::uint64_t(const PageInfo& page, std::uint64_t interval_ms)> interval_of{};
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
};

/// Counts of pages by what became of them.
struct PagesPutBack {
  std::uint64_t held_count = 0;      ///< that waited or were leased anyway
  std::uint64_t new_count = 0;       ///< put, never fetched
  std::uint64_t revisit_count = 0;   ///< put, for another visit
  std::uint64_t due_count = 0;       ///< of these, whose time has come already
  std::uint64_t refused_count = 0;   ///< by the limit of a host
  std::uint64_t left_out_count = 0;  ///< by policy or rule, gone, or nothing to fetch
};

/// Puts all pages that the frontier does not hold: those that were never fetched, to be taken at
/// once, and with a rule all others that are not gone, for their next visit. Each visit counts for
/// FrontierRule::put_max.
///   snapshot  of the newest commit; nothing was put into the frontier behind it
///   rule      nullptr: pages that were never fetched only
///   errors    as put_pages(); kInvalidArgument: numbers of the rule that are none, or contradict
///   cost      some microseconds a page, a look at all that waits; memory: a bit a page
[[nodiscard]] Result<PagesPutBack> put_back(Frontier& frontier, const Snapshot& snapshot,
                                            const SchedulePolicy& policy = {},
                                            const RevisitRule* rule = nullptr);

/// Ends all items whose pages are gone, leased ones too, as after PageDb::forget(). Returns how
/// many. Without it they end when it is their turn.
///   snapshot  as for put_back()
///   errors    as put_back()
///   cost      a look at all that waits, and at the state of its page
[[nodiscard]] Result<std::uint64_t> drop_gone(Frontier& frontier, const Snapshot& snapshot);

/// Takes pages as Frontier::take() does; the body of an item is the URL of its page. Pages of which
/// another outcome than a failure is known since they were put (crawled, gone, a redirect ...) are
/// finished instead, and were a visit to their host all the same; so there may be fewer than could
/// be taken. So are items that were put by others into the group of another host.
///   pages   as new as the frontier, or newer
///   errors  kInvalidArgument: as put_pages(); a page is not in `pages`. After an error all that
///           was taken is given back
///   cost    a block of URLs a page
[[nodiscard]] Result<std::vector<TakenItem>> take_pages(Frontier& frontier, const PageView& pages,
                                                        const TakeOptions& options = {});

}  // namespace crawlstore
#pragma GCC visibility pop
