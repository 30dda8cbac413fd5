// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The largest superstep of a parallel crawl: how many pages each processor may fetch before all
/// exchange the links that they found, with an error below a bound. An earlier crawl tells.
///
/// The sites of the crawl are spread over processors, and its pages are extracted again, the best
/// first. A processor keeps what it finds for others until it has found something for one of them
/// on more pages than the *tolerance*; then a superstep ends, and all is delivered. A page is
/// *missed* if it is extracted in the superstep in which its processor would first hear of it. The
/// error of a superstep is the share of its pages that were missed.
///
/// The paper leaves some things open. Here links to a processor's own pages count neither as
/// messages nor as missed, as nothing is sent for them, and a page that its processor knows from an
/// earlier superstep, or by a link of its own, is not missed. SuperstepForm::kAsPrinted follows the
/// letter. The superstep that is under way at the end counts, unless no page was extracted in it.
///
/// Ownership: as in crawlstore.hpp. Threads: any number use one
/// sample. Errors: as said. Source: Marin, Paredes, Bonacic, "High-performance priority queues for
/// parallel crawlers", 2008, section 2.
///
///   CRAWLSTORE_TRY(const auto sites, assign_processors(pages, {.processor_count = 4}));
///   CRAWLSTORE_TRY(const auto order, extraction_order(pages, scores));
///   CRAWLSTORE_TRY(const auto sample, SuperstepSample::build(pages, {4, sites.processors,
///   order})); CRAWLSTORE_TRY(const auto found, sample.search(0.01)); if (found.best)
///   use(found.best->pages_mean);

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>
#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Processors that a sample may have.
inline constexpr std::uint32_t kProcessorsMax = 4096;

/// The unit that is kept on one processor.
enum class SuperstepSite : std::uint8_t {
  kHost,
  kDomain,  ///< a registered domain: registered_domain.h
  kBlock,   ///< neighbours by index, for pages without URLs
};

/// The assignment of sites to processors.
struct SiteOptions {
  std::uint32_t processor_count = 4;  ///< 1 to kProcessorsMax
  SuperstepSite site = SuperstepSite::kHost;
  std::uint64_t block_pages = 500;  ///< with kBlock: pages of a block, at least 1
};

/// Processors by page.
struct SiteProcessors {
  std::vector<std::uint16_t> processors;  ///< of each page, by index
  std::uint64_t site_count = 0;           ///< fewer than processors: some have nothing to do
};

/// Assigns hosts and domains as shard_of() does, and block i to processor i % processor_count.
///   errors  kInvalidArgument: hosts or domains of pages without URLs; numbers that are none; of
///           damage
///   cost    reads all keys and a URL of each host; memory: 10 bytes a page and 40 a host
[[nodiscard]] Result<SiteProcessors> assign_processors(const PageView& pages,
                                                       const SiteOptions& options = {});

/// Returns all pages that were not forgotten, by index.
///   errors  kInvalidArgument: all were forgotten, or the file is one shard of several; kTooLarge:
///           2^32 - 1 pages or more; of damage
[[nodiscard]] Result<std::vector<std::uint32_t>> extraction_order(const PageView& pages);
/// The same pages by scores, the highest first, then by index. Pages without a score come last.
///   errors  also kTypeMismatch: the scores are of hosts or domains
///   cost    sorts; memory: 12 bytes a page
[[nodiscard]] Result<std::vector<std::uint32_t>> extraction_order(const PageView& pages,
                                                                  const ScoreView& scores);
/// The same by scores that were computed and are not stored; of HITS the authorities.
[[nodiscard]] Result<std::vector<std::uint32_t>> extraction_order(const PageView& pages,
                                                                  const RankedPages& ranked);

/// The reading of the six steps.
enum class SuperstepForm : std::uint8_t {
  kRemote,     ///< only links to other processors count, and only pages new to their processor
  kAsPrinted,  ///< all links count, whatever is known
};

/// A crawl to extract again. The spans are read by build() alone.
struct SuperstepCrawl {
  std::uint32_t processor_count = 0;            ///< 1 to kProcessorsMax
  std::span<const std::uint16_t> processors{};  ///< of each page, by index
  /// Indexes of pages, the first one to extract first, each at most once. Pages that are not among
  /// them are no part of the crawl, nor are their links.
  std::span<const std::uint32_t> order{};
  SuperstepForm form = SuperstepForm::kRemote;
};

/// Counts of a run with one tolerance.
struct SuperstepRun {
  std::uint64_t tolerance = 0;        ///< beta: a superstep ends when a processor has more messages
  std::uint64_t superstep_count = 0;  ///< 0 only without pages
  double pages_mean = 0;              ///< R_x: pages of the busiest processor, by supersteps
  std::uint64_t pages_max = 0;        ///< largest count of pages of a processor in a superstep
  double error_mean = 0;              ///< over supersteps, whatever their size
  double error_max = 0;
  double error_by_pages = 0;        ///< all missed pages by all pages
  std::uint64_t missed_count = 0;   ///< pages
  std::uint64_t message_count = 0;  ///< pairs of a page and a processor that it has links to
  /// Links from other processors that arrived when their page had been extracted. Links that were
  /// kept at the end arrive then.
  std::uint64_t failure_count = 0;
};

/// Runs of a search, and the one that it found.
struct SuperstepSearch {
  /// The run with the largest tolerance that keeps the error; nothing: not even tolerance 0 does.
  std::optional<SuperstepRun> best;
  /// Whether that run is one superstep, so that a larger tolerance changes nothing.
  bool is_unbounded = false;
  std::vector<SuperstepRun> runs;  ///< all that were made, by tolerance
};

/// Pages in the order of extraction, with what runs need of their links.
class SuperstepSample {
 public:
  /// Builds a sample of all links of a page database. Edits that wait are not seen.
  ///   progress  in links, which are read twice
  ///   errors    kInvalidArgument: numbers or orders that are none, processors that are not one for
  ///             each page; kTooLarge: 2^32 - 1 pages or more; kCancelled; of damage
  ///   cost      memory: 12 bytes a page, 4 a link to a later page of another processor, 2 a
  ///             message; while it is built 20 a page more
  [[nodiscard]] static Result<SuperstepSample> build(const PageView& pages,
                                                     const SuperstepCrawl& crawl,
                                                     const Progress& progress = {});
  /// The same of rows of distinct links, by page.
  [[nodiscard]] static Result<SuperstepSample> build(
      std::span<const std::vector<std::uint64_t>> rows, const SuperstepCrawl& crawl,
      const Progress& progress = {});

  /// Pages of the crawl, and links between them from one processor to another.
  [[nodiscard]] std::uint64_t page_count() const;
  [[nodiscard]] std::uint64_t remote_link_count() const;
  /// Pages of the busiest processor, divided by the mean over all processors; 0 without pages.
  [[nodiscard]] double balance() const;

  /// Extracts all pages with one tolerance.
  ///   progress  in pages
  ///   errors    kCancelled
  ///   cost      some nanoseconds a page and message; links to later pages are read once
  [[nodiscard]] Result<SuperstepRun> run(std::uint64_t tolerance,
                                         const Progress& progress = {}) const;

  /// Searches for the largest tolerance with a mean error of at most `error_max`. The error does
  /// not grow steadily, so all powers of two are run, from 0 and 1 to the first with one superstep;
  /// then steps above the largest that keeps the error are halved, to 1/64 of it.
  ///   error_max  0 to 1
  ///   progress   in pages of all runs; the total grows
  ///   errors     kInvalidArgument: `error_max`; kCancelled
  ///   cost       about 25 runs
  [[nodiscard]] Result<SuperstepSearch> search(double error_max,
                                               const Progress& progress = {}) const;

  struct Impl;

 private:
  explicit SuperstepSample(std::shared_ptr<const Impl> impl);
  friend struct Inside;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
