// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the indexes of runs say of how entries are spread. Exact to a fragment: inside of one,
/// entries count as spread evenly. Pure functions; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/queue.h>

#include "queue/run_front.h"

namespace crawlstore::queue {

/// How many entries of a run are above its cut.
std::uint64_t remaining_count(const LiveRun& run);

/// See QueueView::distribution().
std::vector<QueueBin> distribution(std::span<const LiveRun> runs, std::size_t bin_count);

}  // namespace crawlstore::queue
