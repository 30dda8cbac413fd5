// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finds the last request of an array that inserts a key, by a hash table with slots of 32 bits. 24
/// of these are the place in the array, where the key is compared; 8 rule out most other keys.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <crawlstore/types.h>

#include "drum/sort_requests.h"

namespace crawlstore::drum {

/// Threads: one at a time.
class InsertIndex {
 public:
  /// Mixes all bits of the key into all bits of the hash, as keys of a bucket share the highest.
  static std::uint64_t hash_of(Key16 key) {
    std::uint64_t x = key.head ^ key.tail * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDU;
    x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53U;
    return x ^ (x >> 33);
  }

  void prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  /// Returns the place of the last request that inserts the key of this hash, or nothing;
  /// is_key(place) says whether the request there has that key.
  ///   cost  one slot or two
  template <class IsKey>
  [[nodiscard]] std::optional<std::size_t> find(std::uint64_t hash, const IsKey& is_key) const {
    if (slots_.empty()) return std::nullopt;
    const std::size_t slot = slot_of(hash, is_key);
    if (slots_[slot] == 0) return std::nullopt;
    return slots_[slot] & kPlaceMask;
  }
  /// Makes room for `count` keys. hash_at(place) returns the hash of a request that is indexed.
  template <class HashAt>
  void reserve(std::size_t count, const HashAt& hash_at) {
    if (count * 4 <= slots_.size() * 3) return;
    const std::size_t slot_count = std::max(kSlotsMin, std::bit_ceil(count * 4 / 3 + 1));
    const auto old = std::exchange(slots_, std::vector<std::uint32_t>(slot_count));
    for (const std::uint32_t slot : old) {
      if (slot != 0) put(hash_at(slot & kPlaceMask), slot);
    }
  }
  /// Notes a request that inserts the key, after reserve() has made room. It is later than all that
  /// were noted.
  template <class IsKey>
  void note(std::uint64_t hash, std::size_t place, const IsKey& is_key) {
    std::uint32_t& slot = slots_[slot_of(hash, is_key)];
    if (slot == 0) ++count_;
    slot = mark_of(hash) << kPlaceBits | static_cast<std::uint32_t>(place);
  }
  /// Says that the requests before this place were looked at.
  void set_end(std::size_t place) { end_ = place; }
  [[nodiscard]] std::size_t end() const { return end_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t memory_bytes() const { return slots_.capacity() * sizeof(slots_[0]); }

 private:
  static constexpr unsigned kPlaceBits = 24;
  static constexpr std::uint32_t kPlaceMask = (std::uint32_t{1} << kPlaceBits) - 1;
  static constexpr std::size_t kSlotsMin = 16;
  static_assert(kSortCountMax <= kPlaceMask + 1, "an array has at most so many requests");

  /// Returns 8 bits of the hash, but never 0, as a slot that is 0 is empty.
  static std::uint32_t mark_of(std::uint64_t hash) {
    return std::max(std::uint32_t{1}, static_cast<std::uint32_t>(hash >> 56));
  }
  /// Returns the number of the slot with the key, or of the empty one where it belongs.
  template <class IsKey>
  [[nodiscard]] std::size_t slot_of(std::uint64_t hash, const IsKey& is_key) const {
    const std::uint32_t mark = mark_of(hash);
    for (std::size_t i = hash;; ++i) {
      const std::size_t number = i & (slots_.size() - 1);
      const std::uint32_t slot = slots_[number];
      if (slot == 0 || (slot >> kPlaceBits == mark && is_key(slot & kPlaceMask))) return number;
    }
  }
  void put(std::uint64_t hash, std::uint32_t slot) {
    std::size_t i = hash;
    while (slots_[i & (slots_.size() - 1)] != 0) ++i;
    slots_[i & (slots_.size() - 1)] = slot;
  }

  std::vector<std::uint32_t> slots_;  // a power of two, at most three quarters in use; or none
  std::size_t count_ = 0;
  std::size_t end_ = 0;
};

}  // namespace crawlstore::drum
