// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A page in a frontier of pages: when it is visited next, and what it waits for. Ownership:
/// values. Threads: as FrontierView. Times are milliseconds since 1970.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/frontier_view.h>

namespace crawlstore::model {

struct PageVisit {
  double priority = 0;
  std::uint32_t attempt = 0;                ///< so many times it was taken
  std::uint64_t ahead_count = 0;            ///< items of its group that leave before it
  std::uint64_t not_before_ms = 0;          ///< of one that waits; 0: at once
  std::optional<std::uint64_t> until_ms{};  ///< where it is leased; 0: for ever
};

/// nothing: the frontier does not hold the page, at least not in this group.
///   group   key, which is the host of the page where this program put it
///   errors  of damage
///   cost    a pass over leases, and over the items of the group in front of the page
Result<std::optional<PageVisit>> page_visit(const FrontierView& frontier, std::string_view group,
                                            std::uint64_t page);

/// Returns "the next of its group", "behind 3 of its group", "comes due in 3 h 12 min", or "taken,
/// comes back in 9 min 30 s unless it is done before"; then ", taken 2 times" if it was.
std::string describe_visit(const PageVisit& visit, std::uint64_t now_ms);

}  // namespace crawlstore::model
