// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <tsl/robin_set.h>

#include "base/seeded_hash.h"

namespace crawlstore::queue {

/// A set of pages. Those that lie near each other, as the indexes of a page database do, are a bit
/// each. Memory: at most some 200 bytes for each page that was in it at once, whatever its number.
/// Threads: one at a time. Errors: none.
class PageSet {
 public:
  /// Adds a page. Returns false if it was there.
  bool insert(std::uint64_t page) {
    if (page >= end_of_bits() && page < kPagesABit * (count_ + kPagesABit)) grow(page);
    const bool is_new = page < end_of_bits() ? put(page, true) : far_.insert(page).second;
    count_ += is_new ? 1 : 0;
    return is_new;
  }
  /// Removes a page. Returns false if it was not there.
  bool erase(std::uint64_t page) {
    const bool was_there = page < end_of_bits() ? put(page, false) : far_.erase(page) > 0;
    count_ -= was_there ? 1 : 0;
    return was_there;
  }
  [[nodiscard]] bool contains(std::uint64_t page) const {
    return page < end_of_bits() ? (words_[page / kWordBits] & bit_of(page)) != 0
                                : far_.contains(page);
  }
  /// Prefetches the memory that a look-up of this page will use.
  void prefetch(std::uint64_t page) const {
    if (page < end_of_bits()) __builtin_prefetch(&words_[page / kWordBits], 1);
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  static constexpr std::uint64_t kWordBits = 64;
  /// Bits at most for each page that is there.
  static constexpr std::uint64_t kPagesABit = 512;

  static std::uint64_t bit_of(std::uint64_t page) { return std::uint64_t{1} << page % kWordBits; }
  [[nodiscard]] std::uint64_t end_of_bits() const { return words_.size() * kWordBits; }
  /// Returns whether the bit changed.
  bool put(std::uint64_t page, bool is_there) {
    std::uint64_t& word = words_[page / kWordBits];
    const std::uint64_t before = word;
    word = is_there ? before | bit_of(page) : before & ~bit_of(page);
    return word != before;
  }
  void grow(std::uint64_t page) {
    words_.resize(std::max<std::size_t>(page / kWordBits + 1, 2 * words_.size()));
    for (auto far = far_.begin(); far != far_.end();) {
      far = *far < end_of_bits() && put(*far, true) ? far_.erase(far) : std::next(far);
    }
  }

  std::vector<std::uint64_t> words_;
  tsl::robin_set<std::uint64_t, SeededHash> far_;  // pages behind the bits
  std::uint64_t count_ = 0;
};

}  // namespace crawlstore::queue
