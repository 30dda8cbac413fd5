// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace crawlstore::frontier {

/// Numbers of the items of a run that do not count any more: they are gone, or wait elsewhere with
/// other values. Threads: one at a time. Memory: a bit an item of the run, once there is one.
class GoneItems {
 public:
  [[nodiscard]] bool has(std::uint64_t number) const {
    const std::size_t word = number / kWordBits;
    return word < words_.size() && (words_[word] >> number % kWordBits & 1) != 0;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Counts those from `begin` to below `end`. Cost: O(1) for 64 of them.
  [[nodiscard]] std::uint64_t count(std::uint64_t begin, std::uint64_t end) const {
    end = std::min<std::uint64_t>(end, words_.size() * kWordBits);
    if (begin >= end) return 0;
    const std::size_t first = begin / kWordBits;
    const std::size_t last = (end - 1) / kWordBits;
    const std::uint64_t low = ~std::uint64_t{0} << begin % kWordBits;
    const std::uint64_t high = ~std::uint64_t{0} >> (kWordBits - 1 - (end - 1) % kWordBits);
    if (first == last) return count_of(words_[first] & low & high);
    std::uint64_t sum = count_of(words_[first] & low) + count_of(words_[last] & high);
    for (std::size_t i = first + 1; i < last; ++i) sum += count_of(words_[i]);
    return sum;
  }
  /// The first number from `begin` to below `end` that is not among them; else `end`.
  [[nodiscard]] std::uint64_t first_there(std::uint64_t begin, std::uint64_t end) const {
    while (begin < end && has(begin)) ++begin;
    return begin;
  }

  /// Calls of(number) with each, ascending.
  template <class Of>
  void for_each(const Of& of) const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
        of(word * kWordBits + static_cast<std::uint64_t>(std::countr_zero(bits)));
      }
    }
  }

  /// It is not among them.
  void add(std::uint64_t number) {
    const std::size_t word = number / kWordBits;
    if (word >= words_.size()) words_.resize(word + 1, 0);
    words_[word] |= std::uint64_t{1} << number % kWordBits;
    ++count_;
  }

 private:
  static constexpr std::uint64_t kWordBits = 64;
  static std::uint64_t count_of(std::uint64_t word) {
    return static_cast<std::uint64_t>(std::popcount(word));
  }

  std::vector<std::uint64_t> words_;
  std::uint64_t count_ = 0;
};

}  // namespace crawlstore::frontier
