// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "queue/splitters.h"

namespace crawlstore::queue {

/// Entries of a fragment, about.
inline constexpr std::size_t kFragmentEntries = 4096;

/// Puts entries into groups of about kFragmentEntries neighbours, which ascend. Inside a group they
/// keep their order, unless many are nearly equal, or all descend. Cost: two passes. Threads: any
/// number, with entries and room of their own.
///   room     for work, to be used again
///   returns  the ends of the groups
std::vector<std::size_t> group_neighbours(std::vector<Entry>& entries, std::vector<Entry>& room);

}  // namespace crawlstore::queue
