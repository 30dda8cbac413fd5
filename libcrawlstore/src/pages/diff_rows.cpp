// SPDX-License-Identifier: Apache-2.0
//
// Invariants: past damage a row is that of the newest run that has one; where a newer run cannot
// tell, the row is lost, and no older one takes its place.
#include "pages/diff_rows.h"

#include <algorithm>

namespace crawlstore::pages {
namespace {

/// Finds the newest row of a page; nothing: no run has one. Valid while `decoded` is.
Result<std::optional<LinkRow>> newest_row(const std::vector<links::LogRun>& runs,
                                          std::uint64_t page, format::LinkRows& decoded) {
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    std::size_t row = 0;
    CRAWLSTORE_TRY(const auto found, run->run.find(page, decoded, row));
    if (found) return std::optional<LinkRow>(decoded.links(row));
  }
  return std::optional<LinkRow>{};
}

Result<void> note_lost(const ComparedPages& side, std::uint64_t page, const Error& error) {
  return side.inside().note_gap(PagePart::kOutLinks, page, page + 1, error);
}

}  // namespace

Result<std::optional<LinkRow>> RowSeeker::find(std::uint64_t page) {
  /// Looking up the next block takes as long as reading so many rows.
  constexpr std::uint64_t kPagesSkipped = 4096;
  if (runs_.empty()) return LinkRow{};
  if (side_.goes_on_past_damage()) {
    const auto row = newest_row(runs_, page, decoded_);
    if (row) return row->value_or(LinkRow{});
    CRAWLSTORE_TRY(note_lost(side_, page, row.error()));
    return std::optional<LinkRow>{};
  }
  if (!rows_ || (has_row_ && page > rows_->page() + kPagesSkipped)) {
    CRAWLSTORE_TRY(auto opened,
                   links::CombinedRows::open(runs_, links::Combination::kReplace, page));
    rows_.emplace(std::move(opened));
    has_row_ = true;
    CRAWLSTORE_TRY(advance());
  }
  while (has_row_ && rows_->page() < page) CRAWLSTORE_TRY(advance());
  return has_row_ && rows_->page() == page ? rows_->links() : LinkRow{};
}

Result<void> RowSeeker::advance() {
  CRAWLSTORE_TRY(const auto more, rows_->next());
  has_row_ = more;
  return {};
}

Result<RowWalk> RowWalk::start(const ComparedPages& side, const std::vector<links::LogRun>& runs) {
  RowWalk walk(side);
  if (!side.goes_on_past_damage()) {
    CRAWLSTORE_TRY(auto opened, links::CombinedRows::open(runs, links::Combination::kReplace, 0));
    walk.rows_.emplace(std::move(opened));
    CRAWLSTORE_TRY(walk.advance());
    return walk;
  }
  walk.runs_ = runs;
  for (const links::LogRun& run : runs) {
    walk.end_page_ = std::max(walk.end_page_, run.run.footer().last_page + 1);
  }
  CRAWLSTORE_TRY(walk.look_up());
  return walk;
}

Result<void> RowWalk::advance() {
  if (!rows_) {
    ++page_;
    return look_up();
  }
  CRAWLSTORE_TRY(const auto more, rows_->next());
  has_row_ = more;
  return {};
}

/// Goes to the next page, from page_ on, that has a row or lost it.
Result<void> RowWalk::look_up() {
  is_lost_ = false;
  for (; page_ < end_page_; ++page_) {
    const auto row = newest_row(runs_, page_, decoded_);
    is_lost_ = !row;
    if (!row) CRAWLSTORE_TRY(note_lost(*side_, page_, row.error()));
    has_row_ = !row || row->has_value();
    row_ = row ? row->value_or(LinkRow{}) : LinkRow{};
    if (has_row_) return {};
  }
  has_row_ = false;
  return {};
}

}  // namespace crawlstore::pages
