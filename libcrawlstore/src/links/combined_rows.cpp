// SPDX-License-Identifier: Apache-2.0
//
// Invariants: inputs_ stand in the order of their runs, none at its end; current_ names those that
// gave the row at page_, oldest first, and they move on only when the next row is asked for.
#include "links/combined_rows.h"

#include <algorithm>
#include <iterator>

namespace crawlstore::links {

void RowEdits::take(std::span<const std::uint64_t> links, bool is_gone) {
  std::vector<std::uint64_t>& grows = is_gone ? gone_ : added_;
  std::vector<std::uint64_t>& shrinks = is_gone ? added_ : gone_;
  if (grows.empty()) {
    grows.assign(links.begin(), links.end());
  } else {
    scratch_.clear();
    std::set_union(grows.begin(), grows.end(), links.begin(), links.end(),
                   std::back_inserter(scratch_));
    grows.swap(scratch_);
  }
  if (!shrinks.empty()) {
    scratch_.clear();
    std::set_difference(shrinks.begin(), shrinks.end(), links.begin(), links.end(),
                        std::back_inserter(scratch_));
    shrinks.swap(scratch_);
  }
}

Result<CombinedRows> CombinedRows::open(const std::vector<LogRun>& runs, Combination combination,
                                        std::uint64_t first_page) {
  CombinedRows stream(combination);
  for (const LogRun& run : runs) {
    if (run.run.footer().last_page < first_page) continue;
    CRAWLSTORE_TRY(auto cursor, LinksCursor::open(run.run, first_page));
    if (!cursor.at_end()) stream.inputs_.push_back({std::move(cursor), run.is_gone});
  }
  return stream;
}

Result<bool> CombinedRows::next() {
  for (const std::size_t i : current_) CRAWLSTORE_TRY(inputs_[i].cursor.advance());
  if (!current_.empty()) {
    std::erase_if(inputs_, [](const Input& input) { return input.cursor.at_end(); });
    current_.clear();
  }
  if (inputs_.empty()) return false;
  page_ = inputs_.front().cursor.page();
  for (const Input& input : inputs_) page_ = std::min(page_, input.cursor.page());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].cursor.page() == page_) current_.push_back(i);
  }
  combine();
  return true;
}

void CombinedRows::combine() {
  gone_ = {};
  const Input& newest = inputs_[current_.back()];
  if (combination_ == Combination::kReplace || (current_.size() == 1 && !newest.is_gone)) {
    links_ = newest.cursor.links();
    return;
  }
  edits_.clear();
  for (const std::size_t i : current_) edits_.take(inputs_[i].cursor.links(), inputs_[i].is_gone);
  const RowEdits& combined = edits_;
  links_ = combined.added();
  gone_ = combined.gone();
}

}  // namespace crawlstore::links
