// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>

#include <crawlstore/types.h>

#include "base/assert.h"

namespace crawlstore::container {

/// Extents that were reserved and that no commit has published. A Run owns some of them.
/// Threads: one at a time.
class InFlight {
 public:
  void add(Extent extent) { extents_.emplace(extent.offset_bytes, Reserved{extent.length_bytes}); }
  /// A Run owns what was reserved at this place.
  void hand_to_run(Extent extent) {
    const auto found = extents_.find(extent.offset_bytes);
    CRAWLSTORE_ASSERT(found != extents_.end() && extent.length_bytes <= found->second.length_bytes);
    found->second.has_run = true;
  }
  /// Takes out an extent, or its tail, which goes back.
  void remove(Extent extent) {
    auto found = extents_.upper_bound(extent.offset_bytes);
    CRAWLSTORE_ASSERT(found != extents_.begin());
    --found;
    CRAWLSTORE_ASSERT(found->first + found->second.length_bytes == extent.end_bytes());
    if (found->first == extent.offset_bytes) {
      extents_.erase(found);
    } else {
      found->second.length_bytes = extent.offset_bytes - found->first;
    }
  }
  /// Takes out those that a commit has published.
  void published(std::span<const Extent> extents) {
    for (const Extent& extent : extents) extents_.erase(extent.offset_bytes);
  }

  [[nodiscard]] bool begins_at(std::uint64_t offset_bytes) const {
    return extents_.contains(offset_bytes);
  }
  /// Exactly this extent was reserved, and no Run owns it.
  [[nodiscard]] bool is_free_of_runs(Extent extent) const {
    const auto found = extents_.find(extent.offset_bytes);
    return found != extents_.end() && found->second.length_bytes == extent.length_bytes &&
           !found->second.has_run;
  }
  /// The end of the last one; 0 without any.
  [[nodiscard]] std::uint64_t end_bytes() const {
    if (extents_.empty()) return 0;
    const auto& [offset_bytes, last] = *std::prev(extents_.end());
    return offset_bytes + last.length_bytes;
  }

 private:
  struct Reserved {
    std::uint64_t length_bytes = 0;
    bool has_run = false;
  };
  std::map<std::uint64_t, Reserved> extents_;  // by offset
};

}  // namespace crawlstore::container
