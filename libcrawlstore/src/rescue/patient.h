// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The copy that is being repaired.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <crawlstore/snapshot.h>
#include <crawlstore/tools/recover.h>

#include "container/reader.h"
#include "container/writer.h"
#include "rescue/survey.h"

namespace crawlstore::rescue {

/// A writer of the copy, in which damaged pieces of runs are zeros. Repairs put what can be read
/// of these runs into its changes, and note what is lost.
/// Threads: one.
struct Patient {
  Storage& copy;
  container::Writer& writer;
  std::set<RunId> damaged;  ///< runs
  std::uint64_t memory_bytes = 0;
  Advance advance;
  std::vector<Loss> losses{};
  /// Pages that queues lose, ascending. Nothing says of which database a queue has pages: so only
  /// where there is one.
  std::vector<std::uint64_t> forgotten{};
  bool is_all_forgotten = false;  ///< the only database is lost
  /// Page databases whose parts were found without a directory, and may not fit each other.
  std::set<SegmentId> doubtful{};

  [[nodiscard]] bool is_damaged(const format::RunRef& run) const {
    return damaged.contains(run.run_id);
  }
  /// Whether a run of the segment, or of one that it owns, is.
  [[nodiscard]] bool has_damage(const format::SegmentEntry& entry) const;
  /// Removes the segment and all that it owns; score arrays are noted as lost.
  void remove(const format::SegmentEntry& entry);
  void lose(Loss loss) { losses.push_back(std::move(loss)); }
  /// Notes pages whose URL is lost: queues lose them, too.
  void forget(const std::vector<bool>& pages);
  /// The segments of a kind, in the last commit of the copy.
  [[nodiscard]] std::vector<format::SegmentEntry> segments(SegmentKind kind) const;
  /// The last commit of the copy, for views.
  [[nodiscard]] Snapshot snapshot() const;
};

/// The error of a damaged piece of a run.
inline Error damage_of(const format::RunRef& run, SegmentId segment) {
  return {Errc::kChunkDamaged, 0, segment, run.offset_bytes,
          "the checksum of a chunk does not match"};
}

/// Repair all parts of a kind. Each commits what it changed.
///   errors  kNoSpace and the like, kCancelled; damage is a loss
/// Gives page databases records again whose trees are damaged: before repair_pages().
Result<void> repair_trees(Patient& patient, container::Reader& source,
                          const container::DirectoryDamage& damage);
Result<void> repair_drums(Patient& patient);
Result<void> repair_pages(Patient& patient);
Result<void> repair_scores(Patient& patient);
Result<void> repair_values(Patient& patient);
/// Keeps what can be read of runs of items, and groups whose key and state are whole; nothing of
/// frontiers whose page database is among the losses.
Result<void> repair_frontiers(Patient& patient);
/// Removes the frontiers of page databases that are among the losses: their ids name nothing any
/// more.
Result<void> lose_frontiers_of_lost_pages(Patient& patient);

/// Repairs the queues of a copy that no writer has open.
Result<void> repair_queues(Storage& copy, const Patient& known, std::vector<Loss>& losses);

}  // namespace crawlstore::rescue
