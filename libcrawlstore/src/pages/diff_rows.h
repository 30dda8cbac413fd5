// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of out-links of one of two states that are compared. A row that damage hides, in a state
/// that goes on past damage, is lost, and noted in the view.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "links/combined_rows.h"
#include "pages/compared_pages.h"

namespace crawlstore::pages {

/// The links of a page, ascending.
using LinkRow = std::span<const std::uint64_t>;

/// Rows of runs, of pages that are asked for in ascending order. Threads: one.
class RowSeeker {
 public:
  RowSeeker(const ComparedPages& side, std::vector<links::LogRun> runs)
      : side_(side), runs_(std::move(runs)) {}

  /// Returns an empty row when no run has one of the page, and nothing when it is lost. Valid until
  /// the next call.
  Result<std::optional<LinkRow>> find(std::uint64_t page);

 private:
  Result<void> advance();

  const ComparedPages& side_;
  std::vector<links::LogRun> runs_;
  std::optional<links::CombinedRows> rows_;
  bool has_row_ = false;  // rows_ stands at one
  format::LinkRows decoded_;
};

/// Rows one after the other: as they are streamed, or, past damage, with a look-up a page. Threads:
/// one.
class RowWalk {
 public:
  static Result<RowWalk> start(const ComparedPages& side, const std::vector<links::LogRun>& runs);

  [[nodiscard]] bool at_end() const { return !has_row_; }
  [[nodiscard]] std::uint64_t page() const { return rows_ ? rows_->page() : page_; }
  /// Empty when it is lost.
  [[nodiscard]] LinkRow row() const { return rows_ ? rows_->links() : row_; }
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  Result<void> advance();

 private:
  explicit RowWalk(const ComparedPages& side) : side_(&side) {}
  Result<void> look_up();

  const ComparedPages* side_;
  std::optional<links::CombinedRows> rows_;  // none: past damage
  bool has_row_ = false;
  bool is_lost_ = false;
  std::vector<links::LogRun> runs_;
  std::uint64_t page_ = 0;
  std::uint64_t end_page_ = 0;
  format::LinkRows decoded_;
  LinkRow row_;  // in decoded_
};

}  // namespace crawlstore::pages
