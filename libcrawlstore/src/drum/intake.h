// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include <crawlstore/drum_core.h>

#include "drum/bucket_logs.h"
#include "drum/inbox.h"
#include "drum/open_drum.h"

namespace crawlstore::drum {

/// The steps that follow after requests were taken.
struct Wants {
  bool commit = false;
  bool relief = false;
  bool merge = false;
  bool only_full = false;
  [[nodiscard]] bool is_anything() const { return commit || relief || merge; }
};

/// Takes requests into the inbox, and makes room for them: in arrays, and in the logs for the runs
/// that arrays become.
class Intake {
 public:
  Intake(OpenDrum& drum, Inbox& inbox, BucketLogs& logs)
      : drum_(drum), inbox_(inbox), logs_(logs) {}

  /// Follows a change of the options.
  void tune() CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  ///   errors  kTooLarge, kInvalidArgument, kUnknownName
  Result<void> check(const RawRequest& request) const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Takes a request that is checked.
  ///   errors  kTooLarge: its bucket's log is full until a merge; those of writing runs
  Result<void> take(const RawRequest& request) CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Takes requests off the span, even if it fails; some stay when a merge should come first.
  Result<void> take_some(std::span<const RawRequest>& requests)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Likewise keys, std::uint64_t or Key16 as the DRUM's, of requests with this tag, which are
  /// checked.
  template <class Key>
  Result<void> take_keys(std::uint16_t tag, std::span<const Key>& keys)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  /// Returns what should follow now. Nothing inside a transaction.
  [[nodiscard]] Wants wants() const CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Notes a commit of everything, for Durability::kInterval.
  void committed() CRAWLSTORE_LOCKING(requires_capability(kPartMutex)) {
    last_commit_ = std::chrono::steady_clock::now();
  }

 private:
  [[nodiscard]] bool is_full(const RequestColumns& columns, const RawRequest& request) const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  Result<void> make_room_in_memory(std::size_t bucket)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  Result<void> make_room(std::size_t bucket, const RawRequest& request, bool is_tentative)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  OpenDrum& drum_;
  Inbox& inbox_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex));
  BucketLogs& logs_;
  std::chrono::steady_clock::time_point last_commit_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex)) =
      std::chrono::steady_clock::now();
};

}  // namespace crawlstore::drum
