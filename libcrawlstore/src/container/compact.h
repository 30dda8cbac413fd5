// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <crawlstore/store.h>

#include "container/writer.h"

namespace crawlstore::container {

/// The turns that compaction takes with other users of the writer. This one is alone with it.
class CompactionTurns {
 public:
  CompactionTurns() = default;
  CompactionTurns(const CompactionTurns&) = delete;
  CompactionTurns& operator=(const CompactionTurns&) = delete;
  virtual ~CompactionTurns() = default;

  using Work = std::function<Result<void>()>;
  /// Calls `work` while no other thread commits. errors those of `work`, and why there is no turn
  virtual Result<void> plan(const Work& work) { return work(); }
  /// Calls `work`, which commits, while no other thread uses the writer, and it has no changes.
  ///   errors  as plan()
  virtual Result<void> publish(const Work& work) { return work(); }
};

/// Moves runs from the end of the file to free space nearer the front, then the directory, and
/// gives the rest of the file back. Only bytes are copied: checksums depend on segment and run, not
/// on the place. Runs are copied and synced between the turns; each commit moves at most 64 MiB, or
/// one run that is longer. Runs that others replaced or began to read meanwhile do not move.
///
/// Readers keep what they pin; nothing moves that would only pile up behind a pin. Meanwhile the
/// file grows, beside what others write, by no more than the longest run and three directories.
/// Gaps that no run fits into are closed by moving the runs behind them twice, but not for less
/// than 1/128 of the live bytes. When the call ends early, what was committed stands.
///   progress  called outside of turns
///   errors  kCancelled, those of the turns, of Writer::commit() and of the storage
Result<CompactReport> compact(Writer& writer, const Progress& progress, CompactionTurns& turns);

/// The part of compact() that needs no room, for work that must not let the file grow: runs move
/// from the end of the file to gaps that they fit into, and what is free at the end is given back.
/// The directory stays where it is, and no run makes way for a longer one.
///   errors  as compact()
Result<CompactReport> close_gaps(Writer& writer, const Progress& progress, CompactionTurns& turns);

/// compact() by whoever is alone with the writer, which has no changes.
inline Result<CompactReport> compact(Writer& writer, const Progress& progress) {
  CompactionTurns alone;
  return compact(writer, progress, alone);
}

}  // namespace crawlstore::container
