// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "drum/inbox.h"
#include "drum/logged_inserts.h"
#include "drum/open_drum.h"

namespace crawlstore::drum {

/// The logs of a DRUM's buckets: arrays to runs, runs to fewer runs, runs to other buckets. All
/// calls require the mutex.
///
/// Invariants:
/// - The runs of a bucket, and those that its requests in memory would make, are together at most
///   kRunsPerLogMax.
/// - Run ids ascend in a log, and so do sequences over both logs of a bucket.
/// - Runs that a merge has planned to take stay as they are.
class BucketLogs {
 public:
  BucketLogs(OpenDrum& drum, Inbox& inbox) : inserts(drum), drum_(drum), inbox_(inbox) {}

  LoggedInserts inserts CRAWLSTORE_LOCKING(guarded_by(kPartMutex));

  /// Makes room for the run that an array will become. Comes before the array's first request, so
  /// that what writes runs, and with it commits and merges, never lacks the room.
  Result<void> ensure_room_for_run(std::size_t bucket)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  /// Writes the requests of all arrays, or of the buckets [first, end), as runs: all or none.
  Result<void> log_arrays() CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  Result<void> log_arrays(std::size_t first, std::size_t end)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Writes those of the transaction, after the earlier requests of their buckets.
  Result<void> log_tentative() CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Writes what a commit of this scope takes.
  Result<void> log_for(CommitScope scope) CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  /// Gives each of the `count` buckets into which bucket `first` was cut the requests of its range,
  /// tentative ones included, in few runs.
  Result<void> redistribute(std::size_t first, std::size_t count)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  /// Makes the runs of the transaction pending as all others, or forgets them.
  void keep_tentative() CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  void drop_tentative() CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  /// Follows each change of the buckets: the arrays become those of the buckets there are.
  void adapt_to_buckets() CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Follows each other change of pending runs.
  void look_for_full_buckets() CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Whether some bucket's pending runs call for a merge.
  [[nodiscard]] bool has_full_bucket() const CRAWLSTORE_LOCKING(requires_capability(kPartMutex)) {
    return has_full_bucket_;
  }
  /// Whether some bucket has so many runs that only a merge makes room for more.
  [[nodiscard]] bool has_too_many_runs() const CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Whether the requests in memory fill it, or one array a large part of it, so that some must be
  /// merged from memory.
  [[nodiscard]] bool wants_relief() const CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  [[nodiscard]] std::uint64_t transfer_count() const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex)) {
    return transfer_count_;
  }

 private:
  /// Requests that become runs.
  struct Transferred {
    enum class Source : std::uint8_t { kSealed, kArray, kTentative };
    std::size_t bucket;
    Source source;
    const RequestColumns* columns;
    std::uint64_t first_sequence;
    RequestRuns runs{};
  };
  using Visit = std::function<void(const RawRequest&, std::uint64_t sequence)>;

  template <class Wanted>
  Result<void> transfer(bool takes_tentative, const Wanted& is_wanted)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  Result<void> encode(std::span<const Transferred> some, std::span<RequestColumns::Encoded> to)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  Result<void> write(std::span<Transferred> all)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  void move_to_log(Transferred& entry) CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  Result<RequestRuns> write_runs(Bucket& bucket, const RequestColumns::Encoded& encoded)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  Result<void> join_runs(Bucket& bucket) CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  Result<void> read_requests(const Bucket& bucket, std::span<const container::RunPtr> keys,
                             std::span<const container::RunPtr> auxes, const Visit& visit)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  OpenDrum& drum_;
  Inbox& inbox_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex));
  RequestColumns::Encoded scratch_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex));
  std::uint64_t transfer_count_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex)) = 0;
  bool has_full_bucket_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex)) = false;
};

}  // namespace crawlstore::drum
