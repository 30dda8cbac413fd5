// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pages that are put into a frontier, for the verbs `schedule` and `import`. Threads: one.

#include <cstdint>
#include <optional>
#include <string>

#include <crawlstore/schedule.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>

#include "cli/frontier_source.h"

namespace crawlstore::cli {

struct PageScheduleOptions {
  FrontierSourceOptions source;
  std::string database;
  FrontierRule default_rule{};  ///< of a frontier that is made
  SchedulePolicy policy{};
  bool puts_back = false;                 ///< all that the frontier does not hold
  std::optional<RevisitRule> revisits{};  ///< then, of pages that were fetched
};

/// Returns the name of the frontier that is meant, which is of these pages, or not there. On
/// failure says why, and leaves the exit code in `code`.
std::optional<std::string> choose_frontier_of_pages(const Snapshot& snapshot,
                                                    const PageScheduleOptions& options, int& code);

struct PageScheduleDone {
  std::uint64_t page_count = 0;
  std::uint64_t waiting_count = 0;
  std::uint64_t leased_count = 0;
  ScheduledPages pages;
  PagesPutBack back;  ///< where the options say so; else `pages`
};
/// Puts all new pages, or pages back, into the frontier `name`, which is made if it is not there,
/// and commits.
Result<PageScheduleDone> schedule_pages(Store& store, const std::string& name,
                                        const PageScheduleOptions& options);

}  // namespace crawlstore::cli
