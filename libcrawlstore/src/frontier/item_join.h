// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "container/writer.h"
#include "frontier/item_run_writer.h"
#include "frontier/item_walk.h"

namespace crawlstore::frontier {

/// A run by group that takes the place of others, written bit by bit while items leave these. It is
/// in no generation until it is whole: whoever opens the file again begins anew.
/// Threads: one at a time. Memory: 4 bytes for each group of each of the others, a block of each,
/// and the directory and index of the new one.
class ItemJoin {
 public:
  /// runs  as they are in the newest generation
  explicit ItemJoin(std::vector<WaitingRun> runs);
  ItemJoin(const ItemJoin&) = delete;
  ItemJoin& operator=(const ItemJoin&) = delete;

  [[nodiscard]] bool has(RunId run) const;
  /// Writes so many items more, or all that are left.
  ///   segment  that has the runs
  ///   owner    its owner
  ///   errors   those of ItemWalk::next(), and of the storage; then there is no join any more
  Result<void> advance(container::Writer& writer, SegmentId segment, SegmentId owner,
                       std::uint64_t item_count);
  [[nodiscard]] bool is_done() const { return is_done_; }
  /// The new run, without what has left the others, or is gone there, since this began; nothing
  /// waits: there is none. It is_done().
  ///   runs    as they are now, among others
  ///   errors  those of ItemRun::read_items()
  ///   cost    some nanoseconds for each group of each run; of each group of which items are gone a
  ///           look at all its items
  [[nodiscard]] Result<std::optional<WaitingRun>> result(std::span<const WaitingRun> runs) const;

 private:
  struct Pair;
  Result<void> add_walk(ItemWalk& walk);
  Result<void> leave(const std::vector<Pair>& pairs, std::size_t place, WaitingRun& out) const;
  Result<void> leave_each(const std::vector<Pair>& pairs, std::size_t place, WaitingRun& out) const;

  std::vector<WaitingRun> runs_;  // as they were
  std::vector<ItemWalk> walks_;
  std::vector<ItemWalk*> left_;  // those that have an item
  std::optional<ItemRunWriter> out_;
  ItemRunPtr run_;  // the new one; nullptr: no item waited
  std::vector<format::Item> left_out_;
  bool is_done_ = false;
};

}  // namespace crawlstore::frontier
