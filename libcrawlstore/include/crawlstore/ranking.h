// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scorers of the library: PageRank, HITS and OPIC over the links of a page database. What they
/// compute becomes score arrays (scores.h).
///
/// Ownership: as in crawlstore.hpp. Threads: any; while
/// they compute, the store is read as it was, and others may write it. The result has the same bits
/// whatever the number of threads.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/pages.h>
#include <crawlstore/scores.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Called after each iteration, counted from 1, with the L1 change that it made, and now and then
/// with 0 while links are read. False stops the work. Of calls that take a Store, a callback
/// (store.h), which must not destroy that Store; no locks are held, so that other threads go on.
using RankProgress = std::function<bool(std::uint32_t iteration, double residual)>;

struct RankOptions {
  std::string name{ScoreView::kDefaultName};  ///< of the array; one of this name is replaced
  std::string database = "pages";             ///< whose links are read
  /// Subjects to rank: pages, or hosts or registered domains. One of these links to another one
  /// when a page of it does, however many do; links inside are none.
  ScoreSubject by = ScoreSubject::kPage;
  double damping = 0.85;  ///< 0 to 1: how often a link is followed
  /// Ends when an iteration changes less, summed over all pages; 0: at most 2^-52, which is what
  /// doubles can show.
  double precision = 1e-6;
  std::uint32_t max_iterations = 300;  ///< 1 to 65,536
  unsigned thread_count = 0;  ///< 0: all cores. The result has the same bits whatever it is
  /// Bytes that links and scores may take; 0: three quarters of the machine's memory. Where they
  /// need more they lie in a file without a name, read and written forwards, in `folder`; empty: in
  /// the one for temporary files.
  std::uint64_t memory_bytes = 0;
  std::string folder{};
  bool by_content_scores = false;  ///< teleports go to pages by the scores of their records
  /// Not empty: teleports go to these pages, or their hosts or domains, alone, evenly.
  std::vector<std::uint64_t> seeds{};
  bool is_warm = true;      ///< begins with the array that is replaced
  RankProgress progress{};  ///< called in the calling thread
};

struct RankReport {
  ScoresInfo scores;       ///< of hits(): the authorities; of opic(): the cash
  ScoresInfo hubs{};       ///< of hits() alone
  bool converged = false;  ///< false: precision was not reached, nothing was stored
  std::vector<double> residuals;
  std::uint64_t waiting_count = 0;  ///< edits that wait in the file, which were not seen
  std::uint64_t memory_bytes = 0;   ///< of links and arrays, while it was computed
  bool is_in_file = false;          ///< where they lay, as memory_bytes of the options were fewer
  std::uint64_t home_count = 0;     ///< of opic() alone: pages that begin with cash
  std::uint64_t giver_count = 0;    ///< of opic() alone: pages that gave theirs on
  double build_seconds = 0;         ///< reading the links
  double solve_seconds = 0;         ///< all iterations
};

/// Computes PageRank (Page, Brin, Motwani, Winograd 1998) over all links and stores it in a commit
/// of its own. Scores are not negative and add up to 1; what pages without links hold goes where
/// teleports go, which is never to pages that were forgotten. Edits that wait are not seen.
///   errors  kUnknownName (no such database), kInvalidArgument (options; seeds that are no pages;
///           content scores that are negative, or all 0; all pages were forgotten; hosts of pages
///           without URLs; one shard of several), kCancelled, kOutOfMemory, kNoSpace and the like,
///           of `folder` too: the array before stays
///   cost    reads the links twice; memory: about 4 bytes a link and 40 a page (doubles: 70). By
///           host and domain all keys, links once and a URL of each host; 12 bytes a page and up to
///           16 a pair of hosts, on top
[[nodiscard]] Result<RankReport> rank_pages(Store& store, const RankOptions& options = {});

struct HitsOptions {
  /// Names of the two arrays; those of these names are replaced.
  std::string authorities = "authorities";
  std::string hubs = "hubs";
  std::string database = "pages";  ///< whose links are read
  /// Ends when an iteration changes less of the hubs, and of the authorities; 0: at most 2^-48.
  double precision = 1e-6;
  std::uint32_t max_iterations = 300;  ///< 1 to 65,536
  unsigned thread_count = 0;           ///< as of RankOptions
  std::uint64_t memory_bytes = 0;      ///< as of RankOptions
  std::string folder{};                ///< as of RankOptions
  bool by_content_scores = false;      ///< links count by the scores of the pages they lead to
  bool is_warm = true;                 ///< begins with the hubs that are replaced
  RankProgress progress{};
};

/// Computes HITS (Kleinberg 1999) over all links and stores hubs and authorities in one commit.
/// Both add up to 1: authorities by the hubs that link to them, hubs by the authorities that they
/// link to. Communities that are equally strong share as they began, which a cold start makes even
/// by page; where no link counts, all pages are alike. Edits that wait are not seen.
///   errors  as rank_pages(); kInvalidArgument: both names are the same; kSegmentInvalid: out-links
///           and in-links are not the same
///   cost    reads the links twice each way; memory: about 8 bytes a link and 24 a page (doubles:
///           36), with content scores 8 (12) more
[[nodiscard]] Result<RankReport> hits(Store& store, const HitsOptions& options = {});

struct OpicOptions {
  std::string database = "pages";  ///< whose links are read
  bool is_warm = true;             ///< goes on from the arrays; false: begins anew
  RankProgress progress{};         ///< always with iteration 0
};

/// Brings OPIC (Abiteboul, Preda, Cobena 2003) up to date and stores it in one commit, as arrays of
/// doubles: `opic_cash`, what a page has got and not given on yet, `opic_history`, what it has
/// given on so far, and `opic_crawls`, the crawls of it that have counted.
///
/// Homes, which are the pages without a first linker, begin with a cash of 1, others with 0; where
/// pages have no URLs, all are homes. A page that was crawled since the last update gives all its
/// cash on, in equal parts, to the pages that it links to now, or to all homes if it links to none.
/// Pages give once, in the order of their indexes, so that cash can go on to higher ones in the
/// same update. The sum of cash is the number of homes. Cash tells what to crawl next, history +
/// cash what is important. Pages that were never crawled, and are only known by links, give
/// nothing. Edits that wait are not seen.
///
/// Where an array is missing, as after forget(), or the three are not of one update, it begins
/// anew, and all crawled pages give once.
///   errors  as rank_pages(); kUnknownName: another update was stored meanwhile, this one is not,
///           for a crawl would count twice or not at all; of damage in the arrays before, which
///           is_warm does without
///   cost    reads origins and records of all pages, and the links of all, or of those that give if
///           they are fewer than 1 in 16; memory: 24 bytes a page
[[nodiscard]] Result<RankReport> opic(Store& store, const OpicOptions& options = {});

struct OpicMergeReport {
  SuperstepReport merged;
  std::optional<RankReport> opic{};  ///< nothing: it was not brought up to date
};

/// Runs PageDb::merge(), and brings OPIC up to date in the same commit, so that a rollback takes
/// back both. OPIC is brought up to date where the database has its three arrays and pages came
/// since; elsewhere this is merge(). Supersteps that memory called for before have been commits of
/// their own, and the update is in the last one. Where no edit waits, it is a commit of its own.
///   progress  as of merge(), of both together
///   errors  as PageDb::merge() and opic(): the last superstep is not stored either, its
///           edits still wait
///   cost    of both, all of it with the store locked
[[nodiscard]] Result<OpicMergeReport> merge_with_opic(PageDb& pages, const Progress& progress = {});

/// Scores of pages that were computed, and are not stored yet. They need no snapshot.
/// Copies are the same ones.
class RankedPages {
 public:
  [[nodiscard]] const RankReport& report() const;

  struct Impl;
  explicit RankedPages(std::shared_ptr<const Impl> impl);

 private:
  friend struct Inside;
  std::shared_ptr<const Impl> impl_;
};

/// The work of rank_pages(), hits() and opic() in two steps, so that the store need not be open
/// while they compute. `options.database` does not count: the links are those of `pages`.
[[nodiscard]] Result<RankedPages> compute_rank(const PageView& pages,
                                               const RankOptions& options = {});
[[nodiscard]] Result<RankedPages> compute_hits(const PageView& pages,
                                               const HitsOptions& options = {});
[[nodiscard]] Result<RankedPages> compute_opic(const PageView& pages,
                                               const OpicOptions& options = {});
/// Stores them, unless they did not converge. Pages may have come since: then they are stale.
///   errors  kInvalidArgument: of another store; kUnknownName: pages were forgotten, or the file
///           was rolled back, since they were read: compute again; of OPIC also, the arrays before
///           were replaced; kNoSpace and the like: the array before stays
[[nodiscard]] Result<RankReport> store_ranked(Store& store, const RankedPages& ranked);

}  // namespace crawlstore
#pragma GCC visibility pop
