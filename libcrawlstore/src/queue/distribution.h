// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The spread of entries according to the indexes of runs. It is exact to a fragment: inside of one
/// entries count as spread evenly. Pure functions; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/queue.h>

#include "queue/run_front.h"

namespace crawlstore::queue {

/// Returns the number of a run's entries above its cut.
std::uint64_t remaining_count(const LiveRun& run);

/// See QueueView::distribution().
std::vector<QueueBin> distribution(std::span<const LiveRun> runs, std::size_t bin_count);

}  // namespace crawlstore::queue
