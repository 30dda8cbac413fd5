// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finds the values of an array whose values have any length: half a byte a value.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace crawlstore::drum {

/// Threads: one at a time.
class ValueBegins {
 public:
  /// Returns where the value of this number begins.
  ///   lengths  those of all values, in their order; they only grow in number between calls
  ///   cost     a cache line of lengths, and O(1) for each value since the last call
  [[nodiscard]] std::size_t find(std::span<const std::uint32_t> lengths, std::size_t number) {
    for (std::size_t known = begins_.size(); known <= number / kStep; ++known) {
      begins_.push_back(
          known == 0 ? 0 : begins_.back() + sum(lengths.subspan((known - 1) * kStep, kStep)));
    }
    const std::size_t first = number / kStep * kStep;
    return begins_[number / kStep] + sum(lengths.subspan(first, number - first));
  }
  [[nodiscard]] std::size_t memory_bytes() const { return begins_.capacity() * sizeof(begins_[0]); }

 private:
  static constexpr std::size_t kStep = 16;

  static std::size_t sum(std::span<const std::uint32_t> lengths) {
    return std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  }

  std::vector<std::size_t> begins_;  // of values 0, kStep, 2 * kStep ...
};

}  // namespace crawlstore::drum
