// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "queue/splitters.h"

namespace crawlstore::queue {

/// Sorts entries, the lowest first. Cost: about a quarter of that of std::sort for some hundred
/// whose orders are spread evenly between the lowest and the highest, as those of neighbours are;
/// never much more. Threads: any number, with spans and room of their own.
///   room  for work, to be used again
void sort_entries(std::span<Entry> entries, std::vector<Entry>& room);

}  // namespace crawlstore::queue
