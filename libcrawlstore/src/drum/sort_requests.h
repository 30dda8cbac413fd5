// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "format/request_run.h"

namespace crawlstore::drum {

/// Most requests that one sort can take: an index is 24 bits.
inline constexpr std::uint32_t kSortCountMax = std::uint32_t{1} << 24;
static_assert(kSortCountMax >= format::kRequestsPerRunMax);

/// Orders requests by key, then by arrival.
///   keys     n <= kSortCountMax keys in arrival order
///   first, last  all keys lie in [first, last]; their common leading bits are not sorted by
///   order    resized to n: `order[i] & (kSortCountMax - 1)` is the arrival index of request i
///   scratch  reused between calls
///   cost     at most 4 radix passes over n words of 8 bytes, and a comparison sort of those whose
///            40 leading differing bits are equal but whose keys are not
void sort_requests(std::span<const std::uint64_t> keys, std::uint64_t first, std::uint64_t last,
                   std::vector<std::uint64_t>& order, std::vector<std::uint64_t>& scratch);

}  // namespace crawlstore::drum
