// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "frontier/item_run_writer.h"
#include "frontier/waiting_runs.h"

namespace crawlstore::frontier {

/// Writes the items of runs that wait in their order, without entries that are dead, which it takes
/// out of `dead`.
///   errors  those of ItemRun::item(), and of the storage
///   memory  a block of each run
Result<void> join_items(std::span<const WaitingRun> runs, DeadEntries& dead, ItemRunWriter& out);

/// Chooses the runs of which one is to take the place, so that few are left: of many those with the
/// fewest items that wait, and those of which three quarters have left; or all, when an eighth of
/// all entries is dead. Returns their numbers.
std::vector<std::size_t> choose_item_join(const ItemsInRuns& items);

}  // namespace crawlstore::frontier
