// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Ranges that do not overlap: of bytes of a file, or of numbers that runs of a log hold.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include <crawlstore/types.h>

namespace crawlstore::rescue {

/// Threads: one.
class Places {
 public:
  Places() = default;
  /// These may overlap each other.
  explicit Places(const std::vector<Extent>& taken) {
    for (const Extent& extent : taken) {
      auto& end = ends_[extent.offset_bytes];
      end = std::max(end, extent.end_bytes());
    }
    std::uint64_t furthest = 0;
    for (auto& [begin, end] : ends_) end = furthest = std::max(furthest, end);
  }

  /// Takes the place if nothing has a part of it. Returns whether it did. O(log places).
  bool take(Extent extent) {
    const auto after = ends_.lower_bound(extent.offset_bytes);
    if (after != ends_.end() && after->first < extent.end_bytes()) return false;
    if (after != ends_.begin() && std::prev(after)->second > extent.offset_bytes) return false;
    ends_.emplace_hint(after, extent.offset_bytes, extent.end_bytes());
    return true;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by their starts
};

}  // namespace crawlstore::rescue
