// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs of items of a damaged frontier, written anew without what cannot be read.

#include <cstdint>
#include <utility>
#include <vector>

#include "frontier/version.h"
#include "frontier/waiting_runs.h"
#include "rescue/frontier_replay.h"
#include "rescue/patient.h"

namespace crawlstore::rescue {

/// A run of the damaged frontier; `waiting` has nothing of one whose directory cannot be read.
struct DamagedItems {
  format::ItemRunSpan span;
  format::RunRef ref;
  std::vector<frontier::WaitingRun> waiting;
};

/// Writes the items that wait, of groups that are not lost, one run for each: bodies go from block
/// to block, and are not kept. The order of the runs stays.
///   Threads: one. Memory: as ItemRun and ItemRunWriter.
class ItemRenewal {
 public:
  /// segment, owner  of the new runs
  ItemRenewal(Patient& patient, const GroupNumbers& numbers, SegmentId segment, SegmentId owner)
      : patient_(patient), numbers_(numbers), segment_(segment), owner_(owner) {}

  /// errors  of the storage; damage makes gaps
  Result<void> add(const DamagedItems& items);

  [[nodiscard]] const std::vector<frontier::ItemRunPtr>& runs() const { return runs_; }
  [[nodiscard]] const std::vector<format::ItemRunSpan>& spans() const { return spans_; }
  /// The part of it that a replay has to know.
  [[nodiscard]] KnownItems known() && { return std::move(known_); }

 private:
  Result<void> add_blocks(const frontier::WaitingRun& run, frontier::ItemRunWriter& out,
                          RenewedRun& renewed);
  Result<void> add_later_blocks(const frontier::ItemRun& run, frontier::ItemRunWriter& out,
                                RenewedRun& renewed);
  void add_gap_of_all(std::uint64_t time);
  void add_gap(const frontier::WaitingRun& run, format::ItemRange items, RunId id);

  Patient& patient_;
  const GroupNumbers& numbers_;
  SegmentId segment_;
  SegmentId owner_;
  std::vector<frontier::ItemRunPtr> runs_;
  std::vector<format::ItemRunSpan> spans_;
  KnownItems known_;
  std::size_t place_ = 0;         // in the directory of the run: the group under way
  std::uint64_t kept_count_ = 0;  // items of this group
};

}  // namespace crawlstore::rescue
