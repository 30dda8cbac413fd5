// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pages of a shard, in two halves of it: the events of database_events.h, of which each half
/// takes those of its own pages. Threads: one.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/page_view.h>

#include "cli/split_half.h"

namespace crawlstore::cli {

/// Makes the database anew in both halves. Pages keep their order. A page that a page of the other
/// half linked to first has no `linked_from` and depth 0, as if that page had come in a message. A
/// page that is elsewhere, and that nobody links to, becomes known to the lower half, so that its
/// outbox has it.
///   returns  pages with more crawls, or failures in a row, than were told
///   errors   of damage, and those of PageDb
Result<std::uint64_t> split_pages(const Snapshot& snapshot, const std::string& name,
                                  SplitWork& work);

/// Finds pages of FILE in the halves.
class SplitIndexes {
 public:
  /// errors  kUnknownName: FILE has no such database; of damage
  static Result<SplitIndexes> open(const Snapshot& snapshot, const std::string& name,
                                   const SplitWork& work);

  struct Place {
    std::size_t half = 0;
    std::uint64_t index = 0;
  };
  /// Returns nothing for a page that is gone for good, or elsewhere.
  [[nodiscard]] Result<std::optional<Place>> find(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t page_count() const { return from_.info().page_count; }

 private:
  SplitIndexes(const SplitWork& work, PageView from) : work_(&work), from_(std::move(from)) {}

  const SplitWork* work_;
  PageView from_;
  std::vector<PageView> to_;
};

}  // namespace crawlstore::cli
