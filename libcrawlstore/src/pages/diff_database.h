// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Comparing one page database in two states: pages, links, edits.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/tools/pages_diff.h>

#include "pages/compared_pages.h"
#include "pages/page_pairs.h"

namespace crawlstore::pages {

/// Leaves out what could not be read; returns the error where the state does not go on past it.
inline Result<void> leave_out(const ComparedPages& side, bool in_new, const Error& error,
                              const DiffWork& work) {
  if (side.goes_on_past(error)) return {};
  return work.blame(in_new, Result<void>(tl::unexpected<Error>(error)));
}

/// For one use. Threads: one.
class DatabaseDiff {
 public:
  /// Both with URLs, or both without; one of them may not exist.
  DatabaseDiff(ComparedPages older, ComparedPages newer, bool is_same_store,
               const PagesDiffSink& sink, DiffWork& work)
      : older_(std::move(older)),
        newer_(std::move(newer)),
        is_same_store_(is_same_store),
        sink_(sink),
        work_(work) {}

  /// Tells everything, and counts it in `found`, whose name is there.
  Result<void> run(PagesDiff& found);

 private:
  using Index = std::optional<std::uint64_t>;

  // diff_records.cpp
  Result<void> diff_records_by_index();
  Result<void> diff_tile(std::uint64_t first_page, std::uint64_t end_page);
  Result<void> diff_records_by_url();
  Result<void> compare_page(Index old_index, Index new_index);
  /// Returns whether it was told, not left out.
  Result<bool> tell_page(Change change, Index old_index, Index new_index, PageFields fields);

  // diff_links.cpp
  Result<void> diff_links_by_index();
  Result<void> diff_links_by_url();
  Result<void> compare_row(std::uint64_t old_page, std::span<const std::uint64_t> row);
  Result<void> tell_new_rows();
  void tell_links(Index old_index, Index new_index);

  // diff_edits.cpp
  Result<void> diff_edits();
  Result<void> tell_edits(bool in_new, EventWalk& edits, std::uint64_t place);

  ComparedPages older_;
  ComparedPages newer_;
  const bool is_same_store_;
  const PagesDiffSink& sink_;
  DiffWork& work_;
  PagesDiff* found_ = nullptr;
  PagePairs pairs_;
  std::size_t next_only_old_ = 0;  // in pairs_.only_old, of the page that comes
  std::size_t next_only_new_ = 0;

  // Links of the page that is compared.
  std::optional<links::LinkView> new_links_;
  std::vector<bool> is_compared_;  // by new index, where pages are known by URL
  std::vector<std::uint64_t> new_row_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> targets_;  // new index, old index
  std::vector<std::uint64_t> added_;
  std::vector<std::uint64_t> gone_;
};

}  // namespace crawlstore::pages
