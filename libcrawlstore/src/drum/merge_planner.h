// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "drum/bucket_logs.h"
#include "drum/bucket_merge.h"
#include "drum/inbox.h"
#include "drum/merge_plan.h"
#include "drum/open_drum.h"

namespace crawlstore::drum {

/// The pending requests that a merge takes: all; all if some bucket is full; those of full buckets.
enum class MergeCall : std::uint8_t { kAll, kWhenFull, kFullBuckets };

/// Decides which buckets of a DRUM are merged next, and whether it is cheaper to log their requests
/// first.
///
/// Invariant: a planned bucket keeps its leading locked_run_count runs and its sealed requests
/// until its merge is installed or forget_plans()
/// CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex)); later requests go after them.
class MergePlanner {
 public:
  MergePlanner(OpenDrum& drum, Inbox& inbox, BucketLogs& logs)
      : drum_(drum), inbox_(inbox), logs_(logs) {}

  /// Plans the merges of all buckets, or of full ones only. With a filter: of those that it meets,
  /// even if nothing waits, and of no other.
  Result<std::vector<PlannedMerge>> plan_merges(bool only_full, const KeyFilter* filter)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  /// Takes the next buckets' requests out of the arrays: plans merges, or nothing when it has
  /// logged them.
  Result<std::vector<PlannedMerge>> plan_sweep()
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  /// Whether the merges under way must end before the next sweep can begin.
  [[nodiscard]] bool next_sweep_is_planned() const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Returns the bytes of requests that are merged at a time.
  [[nodiscard]] std::uint64_t flight_bytes() const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  /// Returns the job of a planned merge, with reserved extents for all that it will write.
  Result<MergeJob> make_job(const PlannedMerge& planned)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  /// Follows when the outcome of a job is installed.
  void end_job(const MergeJob& job) CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  /// Gives up all plans and jobs; their requests stay pending.
  void forget_plans() CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));

 private:
  Result<void> plan_bucket(std::size_t bucket, const KeyFilter* filter,
                           std::vector<PlannedMerge>& plan)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  [[nodiscard]] std::uint64_t waiting_bytes(std::size_t bucket) const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  [[nodiscard]] bool takes_fullest() const CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  [[nodiscard]] BucketRange next_in_sweep() const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  [[nodiscard]] bool should_merge(BucketRange buckets) const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  OpenDrum& drum_;
  Inbox& inbox_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex));
  BucketLogs& logs_;
  std::uint64_t sweep_key_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex)) =
      0;  // the next automatic merge from memory goes on here
  std::uint64_t splits_under_way_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex)) =
      0;  // of jobs that are not ended
};

}  // namespace crawlstore::drum
