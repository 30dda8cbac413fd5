// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Splits the parts of a shard that are no pages. Threads: one.

#include <cstdint>
#include <string>

#include <crawlstore/drum_view.h>
#include <crawlstore/frontier_view.h>
#include <crawlstore/snapshot.h>

#include "cli/split_half.h"
#include "cli/split_pages.h"

namespace crawlstore::cli {

/// Copies the small values of programs to both halves. Returns how many. Names that begin with a
/// full stop are of the file itself.
Result<std::uint64_t> copy_values(const Snapshot& snapshot, SplitWork& work);

/// Copies a DRUM, in which nothing waits, to both halves: its keys do not say whose they are.
Result<void> copy_drum(const Snapshot& snapshot, const DrumInfo& info, SplitWork& work);

/// Counts of pages of queues, or items of frontiers.
struct SplitEntries {
  std::uint64_t entry_count = 0;
  std::uint64_t lease_count = 0;  ///< of them, that were leased
  std::uint64_t gone_count = 0;   ///< left out: their pages are gone, or elsewhere
};

/// Gives each page of a queue to the half that has it. errors  also kInvalidArgument: the queue
/// holds numbers that are no pages
Result<SplitEntries> split_queue(const Snapshot& snapshot, const std::string& name,
                                 const SplitIndexes& indexes, SplitWork& work);

/// Gives each item to the half that has its group. Groups keep their rules, the time of their next
/// visit if it has not come, and what their limits leave; parents of groups are in both. A leased
/// item waits in its half until its lease would end.
///   indexes  of the pages that its items are; nullptr: they are none
Result<SplitEntries> split_frontier(const Snapshot& snapshot, const FrontierInfo& info,
                                    const SplitIndexes* indexes, SplitWork& work);

}  // namespace crawlstore::cli
