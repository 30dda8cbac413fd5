// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The merges of a DRUM, from the plan to the commits. Buckets are merged on a second thread, a
/// flight of some at a time, while the answers of the flight before are told and new requests come
/// in: submissions take only the mutex, which a merge takes when it plans and when it installs.
///
/// Invariants:
/// - A sequence is durable, as below the number that the file says comes next, before a sink sees
///   it; with log_first the request is as well (but neither with Durability::kNone).
/// - A commit holds whole slices of buckets whose answers were told to the end, and everything that
///   the sinks submitted to DRUMs of the store.
/// - Until install() nothing of a group is in the state; abandon() leaves no trace of it.
/// - The thread with the turn uses the allocator, and no other, in an order that does not depend on
///   threads.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "drum/bucket_logs.h"
#include "drum/delivery.h"
#include "drum/inbox.h"
#include "drum/merge_flight.h"
#include "drum/merge_planner.h"
#include "drum/open_drum.h"

namespace crawlstore::drum {

inline constexpr const char* kMergeInside = "a merge was asked for inside a transaction";

/// Makes and installs merges.
class Merger {
 public:
  Merger(OpenDrum& drum, Inbox& inbox, BucketLogs& logs, Delivery& delivery)
      : drum_(drum), inbox_(inbox), logs_(logs), delivery_(delivery), planner_(drum, inbox, logs) {}

  /// Merges what waits. With a filter the buckets that it meets are merged, those without requests
  /// too, and no other.
  Result<MergeReport> merge(MergeCall call, const KeyFilter* filter)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  /// Makes room in memory: starts the merges of the next buckets, and ends those started before.
  Result<MergeReport> relieve() CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  /// Gives up what is under way; its requests stay pending.
  void cancel() CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));

 private:
  using Plan = std::vector<PlannedMerge>;

  /// The work since its last commit.
  struct Group {
    std::vector<MergeOutcome> outcomes;
    Delivery::Absent absent;
    /// The sealed requests of the buckets that are installed, with the first key of each.
    std::vector<std::pair<std::uint64_t, SealedRequests::List>> answered;
    std::uint64_t bytes = 0;  // of the new partitions
    MergeReport report;

    [[nodiscard]] std::uint64_t total_bytes() const;
  };

  Result<Plan> start(MergeCall call, const KeyFilter* filter)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> reserve_sequences() CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> launch(std::span<const PlannedMerge> planned)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> launch_next(std::span<const PlannedMerge>& plan)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> land(MergeFlight& landing, Group& group)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> tell_all(MergeFlight& landing, Group& group)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> land_and_commit(MergeReport& report)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<MergeReport> merge_planned(std::span<const PlannedMerge> plan)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> send_off(std::span<const PlannedMerge> plan, MergeReport& report)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));

  Result<void> finish(Group& group) CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> commit(Group& group, CommitScope scope)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  Result<void> install(Group& group)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  Result<void> install_outcome(Group& group, MergeOutcome& outcome)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  void abandon(Group& group) CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));

  OpenDrum& drum_;
  Inbox& inbox_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex));
  BucketLogs& logs_;
  Delivery& delivery_;
  MergePlanner planner_;
  std::unique_ptr<MergeFlight> flight_ CRAWLSTORE_LOCKING(guarded_by(kStoreTurn));
};

}  // namespace crawlstore::drum
