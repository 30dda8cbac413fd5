// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include <crawlstore/drum_options.h>

#include "container/locks.h"
#include "container/store_impl.h"
#include "drum/drum_state.h"
#include "drum/log_rules.h"

namespace crawlstore::drum {

/// The state that the parts of an open DRUM share.
struct OpenDrum {
  StoreImpl& store;
  std::recursive_mutex& mutex;  ///< the Participant's
  const Shape shape;            ///< as the state has it
  DrumState state CRAWLSTORE_LOCKING(guarded_by(kPartMutex));
  DrumOptions options CRAWLSTORE_LOCKING(guarded_by(kPartMutex));
  bool dirty CRAWLSTORE_LOCKING(guarded_by(kPartMutex)) =
      false;  ///< whether the file lacks something of `state`
  std::uint64_t published_sequence CRAWLSTORE_LOCKING(guarded_by(kPartMutex)) =
      0;  ///< the next sequence by the file

  [[nodiscard]] container::Writer& writer() const { return *store.writer; }
  /// Returns the options as they are now. Threads: any, without the mutex.
  [[nodiscard]] DrumOptions current_options() const;

  /// Whether full arrays are merged from memory. Options that size arrays and logs, or ask for
  /// requests in the log first, have them logged.
  [[nodiscard]] bool merges_from_memory() const CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Returns the requests that one slice of a merge can hold.
  [[nodiscard]] std::uint64_t slice_requests_max() const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Returns the limits of logs: bytes where those are given by hand, else requests.
  [[nodiscard]] MergeThresholds merge_thresholds() const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Whether the runs that no merge has planned to take call for one.
  [[nodiscard]] bool calls_for_merge(const Bucket& bucket) const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
};

}  // namespace crawlstore::drum
