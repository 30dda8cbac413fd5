// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "frontier/item_walk.h"

namespace crawlstore::frontier {

/// Returns false to end the walk.
using VisitItem = std::function<Result<bool>(const format::Item& item, std::string_view body)>;

/// Visits the items of runs of one kind in their order.
///   errors  those of ItemWalk::next(), and of `visit`
Result<void> for_each_of_walks(std::vector<ItemWalk>& walks, const VisitItem& visit);

/// Counts of a run.
struct RunUse {
  std::uint64_t waiting_count = 0;
  std::uint64_t item_count = 0;
  std::uint64_t gone_count = 0;
};

/// Chooses the runs of one kind of which one is to take the place, so that few are left: of many
/// those with the fewest items that wait; and those of which three quarters have left, or an eighth
/// of what waits is gone. Returns their numbers.
std::vector<std::size_t> choose_item_join(std::span<const RunUse> runs);

}  // namespace crawlstore::frontier
