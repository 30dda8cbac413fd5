// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace crawlstore::queue {

/// Limits of the memory of a queue.
struct QueueLimits {
  static constexpr std::uint64_t kMemoryBytesMin = std::uint64_t{32} << 20;
  static constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{1} << 30;

  std::size_t entries_max = std::size_t{1} << 20;      ///< of each kind: the tail, near ones ...
  std::uint64_t changes_max = std::uint64_t{1} << 21;  ///< when a rewrite begins
  std::size_t fan_in_max = 96;                         ///< of joins of large runs
  std::size_t joined_for_one = 2;  ///< entries for each that comes or leaves: one for each level

  /// With 256 bytes of a quarter for each entry, and 384 bytes of the rest for each change, all
  /// that a queue keeps stayed below 28 MiB of 32 in queue_memory_test.cpp.
  static QueueLimits of(std::uint64_t memory_bytes) {
    memory_bytes = std::clamp(memory_bytes, kMemoryBytesMin, kMemoryBytesMax);
    const bool is_small = memory_bytes < kMemoryBytesMax / 2;
    return {static_cast<std::size_t>(memory_bytes / 4 / 256), memory_bytes / 4 * 3 / 384,
            is_small ? std::size_t{8} : std::size_t{96},
            is_small ? std::size_t{6} : std::size_t{2}};
  }
};

}  // namespace crawlstore::queue
