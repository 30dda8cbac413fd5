// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rows of several link runs, combined: spec/links.md#links.

#include <cstdint>
#include <span>
#include <vector>

#include "links/plain_run.h"

namespace crawlstore::links {

/// One run of a log, with what it does to the runs before it.
struct LogRun {
  LinksLookup run;
  bool is_gone = false;  ///< of gone_links
};

/// The way in which rows of one page combine. Runs stand from the oldest to the newest.
enum class Combination : std::uint8_t {
  kReplace,  ///< out-links: the newest row is the page's row
  kEdit,     ///< in-links: rows add links, rows of gone_links remove them
};

/// Combines the rows of one page, taken from the oldest to the newest. Reuses its memory.
class RowEdits {
 public:
  void clear() {
    added_.clear();
    gone_.clear();
  }
  void take(std::span<const std::uint64_t> links, bool is_gone);
  [[nodiscard]] std::span<const std::uint64_t> added() const { return added_; }
  /// Links that the taken rows remove from what older runs may hold.
  [[nodiscard]] std::span<const std::uint64_t> gone() const { return gone_; }
  [[nodiscard]] std::vector<std::uint64_t>& added() { return added_; }

 private:
  std::vector<std::uint64_t> added_;
  std::vector<std::uint64_t> gone_;
  std::vector<std::uint64_t> scratch_;
};

/// Merged rows, pages ascending, with one sequential reader a run. Rows that say nothing (no links,
/// none gone) come along, so that who merges runs can keep them.
/// Memory: a block a run. Threads: one at a time.
class CombinedRows {
 public:
  /// Begins with the first row at or behind `first_page`.
  static Result<CombinedRows> open(const std::vector<LogRun>& runs, Combination combination,
                                   std::uint64_t first_page);

  /// Goes to the next row, the first one at first; false behind the last.
  ///   errors  kSegmentInvalid, kChunkDamaged and those of storage: the stream has ended
  ///   cost    one run: a nanosecond a link; several: 5 to 10 ns a row and run more
  Result<bool> next();
  [[nodiscard]] std::uint64_t page() const { return page_; }
  /// Valid until the next call, as is gone().
  [[nodiscard]] std::span<const std::uint64_t> links() const { return links_; }
  [[nodiscard]] std::span<const std::uint64_t> gone() const { return gone_; }

 private:
  explicit CombinedRows(Combination combination) : combination_(combination) {}
  void combine();

  struct Input {
    LinksCursor cursor;
    bool is_gone;
  };
  Combination combination_;
  std::vector<Input> inputs_;         // oldest first; those at their end are dropped
  std::vector<std::size_t> current_;  // the inputs that stand at page_
  std::uint64_t page_ = 0;
  std::span<const std::uint64_t> links_;
  std::span<const std::uint64_t> gone_;
  RowEdits edits_;
};

}  // namespace crawlstore::links
