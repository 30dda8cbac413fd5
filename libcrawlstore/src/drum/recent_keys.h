// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The recent-keys window: which keys were inserted lately, and where in their bucket's array the
/// request stands. Who finds a key here has an earlier request of the same array to refer to.
///
/// Keys are noted only while their request is in an array, and an array has a number of its own
/// from its first request to its last: when it is sealed, logged or given away, its keys are found
/// no more. So nothing that happens to requests later (a dispatcher that throws, a commit that
/// fails) has to be told to the window.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <crawlstore/types.h>

#include "drum/sort_requests.h"

namespace crawlstore::drum {

/// Direct-mapped. It rests while too few requests repeat: then it is neither asked nor told, which
/// costs nothing. When to rest depends on what was asked, never on clocks: equal requests make
/// equal arrays.
class RecentKeys {
 public:
  static constexpr std::size_t kNotFound = std::numeric_limits<std::size_t>::max();
  /// A look at a request costs about a quarter of the processor time that a repeat that is found
  /// saves; the bytes that it saves decide what lies between.
  static constexpr std::uint64_t kRequestsPerRepeat = 5;
  /// It rests for so many times the requests after which that is decided.
  static constexpr std::uint64_t kRest = 31;

  /// What stands for a key here. Names of 8-byte keys are the keys; those of 16 bytes may share
  /// one.
  static std::uint64_t name_of(std::uint64_t key) { return key; }
  static std::uint64_t name_of(Key16 key) { return key.head ^ key.tail * 0xBF58476D1CE4E5B9U; }

  /// For `count` keys, rounded up to a power of two; 0 = off. Forgets all.
  void resize(std::size_t count) {
    count_ = count == 0 ? 0 : std::bit_ceil(count);
    slots_ = std::vector<Slot>();
    asked_ = 0;
    found_ = 0;
    resting_ = 0;
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }
  /// The number of an array that begins.
  std::uint64_t begin_array() { return ++array_; }

  /// Are the next requests to be looked at?
  [[nodiscard]] bool is_awake() const { return count_ != 0 && resting_ == 0; }
  /// Before the first of some requests is looked at.
  void wake() {
    if (slots_.size() != count_) slots_.resize(count_);
  }
  void prefetch(std::uint64_t key) const { __builtin_prefetch(&slots_[slot_of(key)], 1); }
  /// Which request of the array, counting only its keys, has inserted the key?
  [[nodiscard]] std::size_t find(std::uint64_t key, std::uint64_t array) const {
    const Slot& slot = slots_[slot_of(key)];
    return slot.key == key && slot.place >> kIndexBits == array ? slot.place & kIndexMask
                                                                : kNotFound;
  }
  /// The array's request `index`, counting only its keys, inserts the key.
  void note(std::uint64_t key, std::uint64_t array, std::size_t index) {
    slots_[slot_of(key)] = {key, array << kIndexBits | index};
  }
  /// So many were looked at, and so many of them found; or, while it rests, went by.
  void count(std::uint64_t asked, std::uint64_t found) {
    if (count_ == 0) return;
    if (resting_ != 0) {
      resting_ -= std::min(resting_, asked);
      return;
    }
    asked_ += asked;
    found_ += found;
    if (asked_ < count_) return;
    if (found_ * kRequestsPerRepeat < asked_) resting_ = kRest * count_;
    asked_ = 0;
    found_ = 0;
  }

 private:
  static constexpr unsigned kIndexBits = 24;
  static constexpr std::uint64_t kIndexMask = (std::uint64_t{1} << kIndexBits) - 1;
  static_assert(kSortCountMax <= kIndexMask + 1, "an array has at most so many requests");

  struct Slot {
    std::uint64_t key = 0;
    std::uint64_t place = kNotFound;  // the array's number, and the index
  };
  /// Keys of a bucket have their highest bits in common; any others do where keys are hashes, and
  /// the product spreads those that are not.
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
    return (key * 0x9E3779B97F4A7C15U >> 32) & (count_ - 1);
  }

  std::vector<Slot> slots_;  // empty until it is needed
  std::size_t count_ = 0;
  std::uint64_t array_ = 0;  // the newest; 0 is the number of none
  std::uint64_t asked_ = 0;
  std::uint64_t found_ = 0;
  std::uint64_t resting_ = 0;  // so many requests more
};

}  // namespace crawlstore::drum
