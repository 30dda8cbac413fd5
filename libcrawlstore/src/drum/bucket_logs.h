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

  LoggedInserts inserts;

  /// Makes room for the run that an array will become. Comes before the array's first request, so
  /// that what writes runs, and with it commits and merges, never lacks the room.
  Result<void> ensure_room_for_run(std::size_t bucket);

  /// Writes the requests of all arrays, or of the buckets [first, end), as runs: all or none.
  Result<void> log_arrays();
  Result<void> log_arrays(std::size_t first, std::size_t end);
  /// Writes those of the transaction, after the earlier requests of their buckets.
  Result<void> log_tentative();
  /// Writes what a commit of this scope takes.
  Result<void> log_for(CommitScope scope);

  /// Gives each of the `count` buckets into which bucket `first` was cut the requests of its range,
  /// tentative ones included, in few runs.
  Result<void> redistribute(std::size_t first, std::size_t count);

  /// Makes the runs of the transaction pending as all others, or forgets them.
  void keep_tentative();
  void drop_tentative();

  /// Follows each change of the buckets: the arrays become those of the buckets there are.
  void adapt_to_buckets();
  /// Follows each other change of pending runs.
  void look_for_full_buckets();
  /// Whether some bucket's pending runs call for a merge.
  [[nodiscard]] bool has_full_bucket() const { return has_full_bucket_; }
  /// Whether some bucket has so many runs that only a merge makes room for more.
  [[nodiscard]] bool has_too_many_runs() const;
  /// Whether the requests in memory fill it, or one array a large part of it, so that some must be
  /// merged from memory.
  [[nodiscard]] bool wants_relief() const;
  [[nodiscard]] std::uint64_t transfer_count() const { return transfer_count_; }

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
  Result<void> transfer(bool takes_tentative, const Wanted& is_wanted);
  Result<void> encode(std::span<const Transferred> some, std::span<RequestColumns::Encoded> to);
  Result<void> write(std::span<Transferred> all);
  void move_to_log(Transferred& entry);
  Result<RequestRuns> write_runs(Bucket& bucket, const RequestColumns::Encoded& encoded);
  Result<void> join_runs(Bucket& bucket);
  Result<void> read_requests(const Bucket& bucket, std::span<const container::RunPtr> keys,
                             std::span<const container::RunPtr> auxes, const Visit& visit);

  OpenDrum& drum_;
  Inbox& inbox_;
  RequestColumns::Encoded scratch_;
  std::uint64_t transfer_count_ = 0;
  bool has_full_bucket_ = false;
};

}  // namespace crawlstore::drum
