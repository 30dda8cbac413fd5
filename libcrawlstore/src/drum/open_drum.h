// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include <crawlstore/drum_options.h>

#include "container/store_impl.h"
#include "drum/drum_state.h"

namespace crawlstore::drum {

/// What the parts of an open DRUM share. `mutex` guards all but the store.
struct OpenDrum {
  StoreImpl& store;
  std::recursive_mutex& mutex;  ///< the Participant's
  DrumState state{};
  DrumOptions options{};
  bool dirty = false;  ///< whether the file lacks something of `state`

  [[nodiscard]] container::Writer& writer() const { return *store.writer; }
  /// Returns the options as they are now. Threads: any, without the mutex.
  [[nodiscard]] DrumOptions current_options() const {
    const std::lock_guard lock(mutex);
    return options;
  }
};

}  // namespace crawlstore::drum
