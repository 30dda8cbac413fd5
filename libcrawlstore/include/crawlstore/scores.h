// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The worth of pages: arrays of scores by page index, each computed as a whole and swapped in
/// whole. Bytes: spec/scores.md#score-arrays.
///
/// An array belongs to a page database and has a name, such as "pagerank". Whoever computes one
/// reads a generation and stores the result with the next commit; meanwhile others write the store
/// and readers go on with the array before. Pages that came since have no score, and the array is
/// stale.
///
/// Ownership: as in crawlstore.hpp; spans live as long as a view, or its snapshot. Threads: views,
/// any number; the functions, any thread. Errors: damage is reported with segment and offset, at
/// the first touch of a chunk.
///
///   CRAWLSTORE_TRY(rank_pages(store));                       // ranking.h
///   CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
///   CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot));
///   CRAWLSTORE_TRY(const auto scores, ScoreView::open(pages));
///   CRAWLSTORE_TRY(const auto best, scores.top(10));

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// An array, and the computation that it came from.
struct ScoresInfo {
  SegmentId id;
  std::string name;
  Scorer scorer{};
  ScoreSubject subject{};
  bool has_doubles = false;           ///< else floats
  bool is_content_weighted = false;   ///< teleports, or links, go by the scores of records
  bool is_personalised = false;       ///< teleports go to chosen pages
  std::uint64_t page_count = 0;       ///< of the database that was read; those below have a score
  std::uint64_t link_count = 0;       ///< distinct pairs, of pages or hosts or domains
  std::uint64_t superstep_count = 0;  ///< of the page database, when it was read
  Generation generation;              ///< that was read
  std::int64_t time_us = 0;           ///< since the epoch, UTC
  double damping = 0;                 ///< 1 where nothing teleports
  double precision = 0;               ///< the L1 change of an iteration that was asked for
  double residual = 0;                ///< the one that was reached
  double sum = 0;                     ///< of all scores
  std::uint32_t iteration_count = 0;
  bool is_stale = false;              ///< pages or links have changed since
  std::uint64_t allocated_bytes = 0;  ///< checksums and padding included
};

struct ScoredPage {
  std::uint64_t index = 0;
  double score = 0;
};

class ScoreView {
 public:
  /// All arrays of a page database, by name. errors of damage
  [[nodiscard]] static Result<std::vector<ScoresInfo>> list(const PageView& pages);
  /// Their names, also of arrays that are damaged, ascending. cost nothing is read
  [[nodiscard]] static std::vector<std::string> names(const PageView& pages);
  /// errors  kUnknownName: there is no array of this name; of damage
  [[nodiscard]] static Result<ScoreView> open(const PageView& pages,
                                              std::string_view name = kDefaultName);
  static constexpr std::string_view kDefaultName = "pagerank";

  [[nodiscard]] const ScoresInfo& info() const;

  /// The lowest page of each host or domain, by entry; ascending. Empty for scores of pages.
  ///   cost  the first call verifies them
  [[nodiscard]] Result<std::span<const std::uint64_t>> first_pages() const;

  /// The score of a page; nothing for a page that came since.
  ///   errors  kTypeMismatch: they are of hosts or domains
  ///   cost  a chunk of 64 KiB is verified when it is first touched
  [[nodiscard]] Result<std::optional<double>> score(std::uint64_t index) const;

  /// The whole array as it is mapped, by page index, or else by entry. errors kTypeMismatch: it has
  /// doubles, or floats
  ///   cost  the first call verifies the whole array
  [[nodiscard]] Result<std::span<const float>> floats() const;
  [[nodiscard]] Result<std::span<const double>> doubles() const;

  /// The best `count` pages with a score above 0: highest first, ties by index. Hosts and domains
  /// are told by their first pages.
  ///   errors  kSegmentInvalid: a value is no score; of damage
  ///   cost  one pass over the array; memory for `count` pages
  [[nodiscard]] Result<std::vector<ScoredPage>> top(std::size_t count) const;

  /// The L1 change of each iteration.
  [[nodiscard]] Result<std::vector<double>> residuals() const;

  struct Impl;

 private:
  explicit ScoreView(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

/// Stores what a scorer of one's own made of the links of `pages`, as Scorer::kOwn, in a commit of
/// its own.
///   pages      the view that was read; of a snapshot of this store
///   values     one for each page, finite and not negative
///   residuals  of each iteration, to be shown; at most 65,536
///   errors  as store_ranked() (ranking.h); kInvalidArgument: values or residuals are not as they
///           must be
[[nodiscard]] Result<ScoresInfo> store_scores(Store& store, std::string_view name,
                                              const PageView& pages, std::span<const float> values,
                                              std::span<const double> residuals = {});

/// Removes an array. errors kUnknownName
[[nodiscard]] Result<void> remove_scores(Store& store, std::string_view name,
                                         std::string_view database = "pages");

}  // namespace crawlstore
#pragma GCC visibility pop
