// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A frontier whose items end, and the page database that is told how. Threads: one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "cli/done_line.h"
#include "cli/frontier_source.h"

namespace crawlstore::cli {

/// Counts of items by what became of them.
struct DoneCounts {
  std::uint64_t finished_count = 0;
  std::uint64_t retried_count = 0;
  std::uint64_t failed_count = 0;
  std::uint64_t late_count = 0;
  std::uint64_t unknown_count = 0;
};

/// While it lives no other writer has the file.
class DoneTarget {
 public:
  explicit DoneTarget(OpenFrontier&& open)
      : open_(std::move(open)), database_(open_.frontier.pages()) {}

  /// Whether items are pages.
  [[nodiscard]] bool has_pages() const { return !database_.empty(); }
  /// Commits all lines at once, in their order, or none of them: items and events of their pages.
  /// The page database is opened by the first event. Returns `counts` and what is new.
  ///   errors  kUnknownName: there is no such page database; those of Frontier and PageDb
  Result<DoneCounts> apply(std::span<const DoneLine> lines, DoneCounts counts);
  /// Whether edits wait that take much memory: close() makes pages of them.
  [[nodiscard]] bool is_full() const;
  Result<void> close();

 private:
  Result<void> open_pages();
  Result<void> apply_run(std::span<const DoneLine> run, DoneCounts& counts);
  Result<void> tell_page(const DoneLine& line);

  OpenFrontier open_;
  std::string database_;
  std::optional<PageDb> pages_{};   // below the store: it goes first
  std::optional<PageView> view_{};  // for the URLs of pages, which stay the same
};

}  // namespace crawlstore::cli
