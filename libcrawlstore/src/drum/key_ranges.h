// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace crawlstore::drum {

/// Finds the bucket of a key: by a table over the leading 12 bits, then by a search.
class KeyRanges {
 public:
  /// Sets the buckets. `first_keys` ascend strictly; the first is 0.
  void assign(std::vector<std::uint64_t> first_keys) {
    first_keys_ = std::move(first_keys);
    starts_.resize(kPrefixCount + 1);
    for (std::uint64_t prefix = 0; prefix < kPrefixCount; ++prefix) {
      starts_[prefix] = static_cast<std::uint32_t>(search(0, first_keys_.size(), prefix << kShift));
    }
    starts_[kPrefixCount] = static_cast<std::uint32_t>(first_keys_.size() - 1);
  }

  [[nodiscard]] const std::vector<std::uint64_t>& first_keys() const { return first_keys_; }

  [[nodiscard]] std::size_t find(std::uint64_t key) const {
    const std::uint64_t prefix = key >> kShift;
    const std::size_t low = starts_[prefix];
    const std::size_t high = starts_[prefix + 1];
    return low == high ? low : search(low, high + 1, key);
  }

 private:
  static constexpr unsigned kShift = 52;
  static constexpr std::uint64_t kPrefixCount = std::uint64_t{1} << 12;

  [[nodiscard]] std::size_t search(std::size_t low, std::size_t high, std::uint64_t key) const {
    const auto begin = first_keys_.begin();
    const auto after = std::upper_bound(begin + static_cast<std::ptrdiff_t>(low),
                                        begin + static_cast<std::ptrdiff_t>(high), key);
    return static_cast<std::size_t>(after - begin) - 1;
  }

  std::vector<std::uint64_t> first_keys_;
  std::vector<std::uint32_t> starts_;
};

}  // namespace crawlstore::drum
