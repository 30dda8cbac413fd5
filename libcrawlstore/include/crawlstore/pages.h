// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The page database of a store: every page that was crawled or linked to, under a dense index, and
/// the links between them. Readers use PageView (page_view.h).
///
/// Edits wait in memory, each page named once, and become pages and links in a *superstep*: when
/// they take their memory, or when merge() is called. A superstep is part of one commit, so readers
/// see whole supersteps. None that memory calls for begins between edits in a row of one page,
/// unless these take an eighth more. Store::commit() before that keeps the edits in the file, as
/// events; they are there again, still waiting, when the database is opened next.
///
/// Indexes are given in the order in which edits first name pages: 0, 1, 2 ... The page of an edit
/// comes before its links, and these come in the order of their URLs. Indexes depend on the order
/// of edits only, not on memory, supersteps, or crashes, and are never given twice.
///
/// Ownership: as in crawlstore.hpp. Threads: any number; they take turns. Inside a dispatcher of
/// the same store edits may be added: they belong to its transaction, and the superstep comes with
/// the first edit after it. Errors: as Store; every call may also fail with kClosed, kForked,
/// kPoisoned. Source: Aduana's PageDB; Nutch's WebDB (supersteps); spec/design.md, Pages.
///
///   auto pages = PageDb::open(*store);
///   CrawledPage page("https://example.org/");
///   page.add_link("https://example.org/a");
///   CRAWLSTORE_TRY(pages->add(page));
///   CRAWLSTORE_TRY(pages->merge());

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/crawl_event.h>
#include <crawlstore/crawled_page.h>
#include <crawlstore/report.h>
#include <crawlstore/store.h>
#include <crawlstore/url.h>

#pragma GCC visibility push(default)
namespace crawlstore {

struct PagesOptions {
  /// Bytes that waiting edits and the superstep over them may take, about. At least 1 MiB.
  std::uint64_t memory_bytes = std::uint64_t{256} << 20;
  /// Ranges of keys that a new database begins with; they split as they grow. 1 to 65536.
  std::uint32_t bucket_count = 16;
  /// Keys of one range, after which it splits.
  std::uint64_t bucket_keys_max = std::uint64_t{1} << 22;
  /// Whether pages have URLs; fixed when the database is made. False: a graph, pages by index only.
  bool has_urls = true;
  /// Keeps an index of contents (tools/page_copies.h) for good. What was there before comes into it
  /// with the next compact().
  bool content_index = false;
  /// nullopt: as the database has it; version 2 when it is made now.
  std::optional<UrlNormalizer> normalizer{};
  /// Told, inside add(), of each URL of an edit that no parser takes; it is added all the same,
  /// unless this throws. A callback (store.h).
  std::function<void(std::string_view url, UrlProblem problem)> unparsed{};
  /// Most by which an index may exceed all that were named before, for pages without URLs: each
  /// below the largest is a page with a record. 1 to 2^40.
  std::uint64_t index_gap_max = std::uint64_t{1} << 28;
  /// A superstep that memory calls for runs on a thread of its own, while edits come in, and is
  /// published when the next one begins, or with the next merge() or commit. False: both inside
  /// add(). Batches are as large in both cases, and equal edits give equal bytes while only
  /// supersteps commit; another commit, or close(), joins that superstep into its generation.
  bool parallel = true;
  /// Told about the supersteps that add() brings about, while it waits for them. See merge().
  Progress progress{};
};

/// Counts of what forget() took out.
struct ForgetReport {
  std::uint64_t page_count = 0;
  std::uint64_t link_count = 0;         ///< from these pages, or to them
  std::uint64_t seen_count = 0;         ///< keys that the DRUMs of seen URLs had
  std::uint64_t score_array_count = 0;  ///< that were removed
  std::uint64_t queued_count = 0;       ///< pages that waited in queues
};

struct ForgetOptions {
  /// DRUMs of URL keys (UrlSeen), which are not open, and in which no requests wait: the URLs of
  /// the pages are taken from them, too, so that they are new when they are seen again. nullopt:
  /// all with the normalizer of this database.
  std::optional<std::vector<std::string>> seen{};
  /// Queues of pages of this database (queue.h), open or not: the pages are taken from them, too.
  /// Those that are not there are left out. They know pages by index alone: name none of another's.
  std::vector<std::string> queues = {"queue"};
  /// Told how far forget() is. See merge().
  Progress progress{};
};

/// The cost of a compact().
struct JoinReport {
  /// The most that coding links held at once, counted: some megabytes, and up to 10 bytes for each
  /// 32 rows. What is read meanwhile comes on top. 0: all links were joined already.
  std::uint64_t coder_bytes_max = 0;
};

/// The database now. Counts of pages and links are those of the last superstep.
struct PagesStatus {
  std::uint64_t page_count = 0;
  std::uint64_t crawled_count = 0;  ///< pages crawled at least once
  std::uint64_t link_count = 0;     ///< distinct pairs
  std::uint64_t edit_count = 0;  ///< waiting; one with links of 256 KiB or more counts as several
  std::uint64_t superstep_count = 0;  ///< since the database was made
  std::uint64_t collision_count = 0;
  std::uint64_t unparsed_count = 0;  ///< pages whose URL no parser takes, kept as it is
  std::uint64_t memory_bytes = 0;    ///< of what waits
  bool has_urls = true;
  /// Edits may name indexes below it now: index_gap_max above the largest named. 0 with URLs.
  std::uint64_t index_end = 0;
  std::uint64_t elsewhere_count = 0;  ///< of other shards: shard.h
};

class PageDb {
 public:
  /// Opens the database `name`, or makes it.
  ///   errors  kTypeMismatch (with and without URLs; another normalizer; a DRUM of that name holds
  ///           something else), kInvalidArgument (or it is open), kTooLarge (name), of damage;
  ///           kReentrant
  ///   cost    what waits in the file is read
  [[nodiscard]] static Result<PageDb> open(Store& store, std::string_view name = kDefaultName,
                                           const PagesOptions& options = {});
  static constexpr std::string_view kDefaultName = "pages";

  PageDb(PageDb&&) noexcept;
  PageDb& operator=(PageDb&&) noexcept;
  ~PageDb();  ///< close(); after an error the store keeps what waits for its next commit

  /// Adds a page that was crawled: made or brought up to date, and its links with it. The links
  /// replace those of an earlier crawl. A content hash that differs counts as a change.
  ///   errors  kTooLarge (a URL whose normal form is over 16 MiB, hash over 64 bytes),
  ///           kInvalidArgument (score that is not finite, time before 1970, index where there are
  ///           URLs or the other way round, or not below index_end; a page of another shard);
  ///           those of merge(), when memory was full: the edit was taken all the same (kCancelled:
  ///           memory grows, the next edit begins the superstep anew), but not if progress throws
  ///   cost    hashes every URL; amortised, its share of a superstep
  [[nodiscard]] Result<void> add(const CrawledPage& page);
  /// Any edit. Also kInvalidArgument: a redirect has no link, or several.
  [[nodiscard]] Result<void> add(const CrawlEvent& event);

  /// Runs the superstep over what waits, and commits. Nothing waits: commits nothing but a database
  /// that is new.
  ///   progress  called every few milliseconds (0.2 s apart while a dictionary is trained, a second
  ///             while four million keys are sorted), in this thread and with the store locked.
  ///             Steps are keys, URLs, records and links; their total is an estimate, and grows
  ///             when runs are to be joined. Not asked while it commits
  ///   errors  kNoSpace and the like, kCancelled: nothing changed, the edits still wait; kReentrant
  ///   cost    reads and writes forwards: all keys, the records of pages that change, the links of
  ///           pages that were crawled anew; now and then joins runs (spec/links.md)
  [[nodiscard]] Result<SuperstepReport> merge(const Progress& progress = {});

  /// Takes the pages whose URL `is_meant` (a callback) out of the database: keys, URLs, records,
  /// all links from and to them, and their places in queues, after merging what waits. Score arrays
  /// go with them, as they are of these pages, too. Indexes stay given, to pages that are gone and
  /// have no URL. A URL that comes up again is a new page. Pages that one of them linked to first
  /// are seeds now, of depth 0, and depths behind them follow.
  ///
  /// In one commit, if that writes no more than a twentieth of the file or 128 KiB; else in
  /// several, so that the file grows by a quarter or so, and not by all that is left: more where
  /// one host has most keys, or pages go that most others link to. After each commit a page is
  /// wholly there or wholly gone, with its places in queues; scores go with the first page, seen
  /// URLs some commits before their pages. Whatever stops it, a second call finishes it. A rollback
  /// brings no page back after several commits.
  ///   errors  kInvalidArgument (pages without URLs; the DRUM is open, or requests wait in it; its
  ///           keys are not made from URLs), kUnknownName (no such DRUM), kNoSpace (told before
  ///           any page goes) and the like, kCancelled. What waited may have been merged
  ///   cost    reads and writes all URLs, reads links twice; memory: 34 bits a page, and what goes
  [[nodiscard]] Result<ForgetReport> forget(
      const std::function<bool(std::string_view url)>& is_meant, const ForgetOptions& options = {});

  /// Joins the runs of links into one for each direction, and the runs of origins, brings all keys
  /// into their DRUM, and makes the index of contents anew. Merges first. Each of these is a commit
  /// of its own: the file needs room for the longest of them beside; other commits wait for it.
  ///   progress  as of merge(), of both together
  ///   errors  as merge(), kCancelled too: what waited may have been merged, and out-links,
  ///           in-links, origins, keys, contents, in this order, were each joined or not
  ///   cost    reads and writes all of them; memory: some megabytes, with that index 64
  [[nodiscard]] Result<JoinReport> compact(const Progress& progress = {});

  [[nodiscard]] PagesStatus status() const;

  /// Commits what waits, as events, and closes. Again: no effect.
  ///   errors  kReentrant inside a transaction; those of Store::commit(): it stays open with what
  ///           waits, try again
  [[nodiscard]] Result<void> close();

  struct Impl;

 private:
  explicit PageDb(std::shared_ptr<Impl> impl);
  friend struct Inside;
  std::shared_ptr<Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
