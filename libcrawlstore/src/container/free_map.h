// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <crawlstore/types.h>

#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::container {

/// By how much a file of `file_bytes` grows when no free extent has `length_bytes`.
constexpr std::uint64_t growth_step(std::uint64_t file_bytes, std::uint64_t length_bytes) {
  constexpr std::uint64_t kGrowthMin = 64 * 1024;
  constexpr std::uint64_t kGrowthMax = 256 * 1024 * 1024;
  const std::uint64_t step =
      std::max(std::clamp(file_bytes / 8, kGrowthMin, kGrowthMax), length_bytes);
  return format::round_up(step, format::kUnitBytes);
}

/// The free extents of a file, coalesced. Best fit, lowest offset among equals, so that the same
/// operations give the same bytes. O(log n) an operation. Not thread-safe.
class FreeMap {
 public:
  /// Adds an extent that overlaps none in the map.
  void insert(Extent extent);

  /// Takes the smallest free extent that is long enough, or nothing.
  std::optional<Extent> take(std::uint64_t length_bytes);

  /// Takes the lowest free extent that is long enough and ends at or below `end_bytes`.
  std::optional<Extent> take_below(std::uint64_t length_bytes, std::uint64_t end_bytes);

  /// Takes the lowest piece of a free extent that is long enough and begins at `from_bytes` or
  /// later.
  std::optional<Extent> take_from(std::uint64_t length_bytes, std::uint64_t from_bytes);

  /// Removes what lies at or above `offset_bytes`.
  void cut(std::uint64_t offset_bytes);

  /// Takes exactly this extent out, when all of it is free.
  bool take_exact(Extent extent);

  [[nodiscard]] std::uint64_t total_bytes() const { return total_bytes_; }
  [[nodiscard]] std::vector<Extent> extents() const;

 private:
  void erase(std::map<std::uint64_t, std::uint64_t>::iterator place);
  void add(Extent extent);

  std::map<std::uint64_t, std::uint64_t> by_offset_;             // offset -> length
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_length_;  // (length, offset)
  std::uint64_t total_bytes_ = 0;
};

}  // namespace crawlstore::container
