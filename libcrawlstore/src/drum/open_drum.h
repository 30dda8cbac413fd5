// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include <crawlstore/drum_options.h>

#include "container/store_impl.h"
#include "drum/drum_state.h"
#include "drum/log_rules.h"

namespace crawlstore::drum {

/// The state that the parts of an open DRUM share. `mutex` guards all but the store.
struct OpenDrum {
  StoreImpl& store;
  std::recursive_mutex& mutex;  ///< the Participant's
  DrumState state;
  DrumOptions options;
  bool dirty = false;                    ///< whether the file lacks something of `state`
  std::uint64_t published_sequence = 0;  ///< the next sequence by the file

  [[nodiscard]] container::Writer& writer() const { return *store.writer; }
  /// Returns the options as they are now. Threads: any, without the mutex.
  [[nodiscard]] DrumOptions current_options() const;

  /// Whether full arrays are merged from memory. Options that size arrays and logs, or ask for
  /// requests in the log first, have them logged.
  [[nodiscard]] bool merges_from_memory() const;
  /// Returns the requests that one slice of a merge can hold.
  [[nodiscard]] std::uint64_t slice_requests_max() const;
  /// Returns the limits of logs: bytes where those are given by hand, else requests.
  [[nodiscard]] MergeThresholds merge_thresholds() const;
  /// Whether the runs that no merge has planned to take call for one.
  [[nodiscard]] bool calls_for_merge(const Bucket& bucket) const;
};

}  // namespace crawlstore::drum
