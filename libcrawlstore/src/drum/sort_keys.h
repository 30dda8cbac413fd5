// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <crawlstore/types.h>

namespace crawlstore::drum {

/// Sort at most kSortCountMax keys, as merges sort requests, and keep one of each.
void sort_unique(std::vector<std::uint64_t>& keys);
void sort_unique(std::vector<Key16>& keys);

}  // namespace crawlstore::drum
