// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A store with one of its page databases open for writing: made when it is not there, with URLs or
/// without as the first event names its pages. Threads: one.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/shard.h>

#include "model/event_json.h"

namespace crawlstore::cli {

struct PageSinkOptions {
  std::string path;
  std::string database;
  std::optional<std::uint64_t> memory_bytes;
  double lock_wait_seconds = 0;
  bool raw = false;
  std::optional<std::uint64_t> index_gap;                        ///< PagesOptions::index_gap_max
  Progress progress{};                                           ///< of supersteps
  std::function<void(std::string_view, UrlProblem)> unparsed{};  ///< PagesOptions::unparsed
};

class PageSink {
 public:
  /// Opens FILE, making it when it does not exist, and the database if it is there.
  static Result<PageSink> open(const PageSinkOptions& options);

  /// The way in which the pages of the database are named; nothing while there is no database.
  [[nodiscard]] std::optional<model::PageNaming> naming() const;
  /// A page database without URLs, this one or the one that would be made, takes edits that name
  /// the index.
  [[nodiscard]] bool takes_index(std::uint64_t index);
  /// The reason that it does not.
  static constexpr const char* kIndexTooFar =
      "an index is far above all before it, and each index below it would be a page: number pages "
      "from 0 on without gaps, or give import --index-gap N (default: 268,435,456)";
  /// An event of a page of another shard is counted and left out; that a page is known is not.
  /// errors  kCancelled: `progress` stopped a superstep, the event was taken all the same;
  ///         kTypeMismatch: the event names pages in another way than the database;
  ///         kInvalidArgument: a rule for events; those of PageDb::add()
  Result<void> add(const CrawlEvent& event, model::PageNaming naming);
  [[nodiscard]] std::uint64_t elsewhere_count() const { return elsewhere_count_; }
  /// The superstep, and OPIC in its commit where that is in use; returns how many pages gave their
  /// cash on then. Without a database nothing happens. errors of merge_with_opic(), kCancelled too:
  /// the edits still wait
  Result<std::optional<std::uint64_t>> merge();
  /// The status of the database now, and as it was when it was opened.
  [[nodiscard]] PagesStatus status() const;
  [[nodiscard]] const PagesStatus& first_status() const { return first_status_; }
  /// It has committed what merge() did.
  [[nodiscard]] Store& store() { return store_; }
  /// Commits what waits, and gives the file back.
  Result<void> close();

 private:
  PageSink(Store store, const Shard& shard, const PageSinkOptions& options);
  Result<void> open_database(bool has_urls);

  Store store_;
  Shard shard_;
  std::string name_;
  PagesOptions pages_options_;
  std::optional<PageDb> pages_;
  PagesStatus first_status_;
  std::uint64_t elsewhere_count_ = 0;
  std::uint64_t index_end_ = 0;  // as it was when it was last asked for; it only grows
};

}  // namespace crawlstore::cli
