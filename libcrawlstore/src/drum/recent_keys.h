// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The recent-keys window: the keys inserted lately, and the places of their requests in the array
/// of their bucket. A later request of a key found here refers to that request.
///
/// Keys are noted only while their request is in an array, and each array has a number of its own.
/// When an array is sealed, logged or given away, its keys are found no more. So later events, such
/// as a dispatcher that throws or a commit that fails, do not concern the window.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <crawlstore/types.h>

#include "drum/sort_requests.h"

namespace crawlstore::drum {

/// A direct-mapped table. It rests while too few requests repeat: then nothing looks into it or
/// notes keys. Rests depend only on earlier requests, never on clocks, so that equal requests make
/// equal arrays.
class RecentKeys {
 public:
  static constexpr std::size_t kNotFound = std::numeric_limits<std::size_t>::max();
  /// Requests for each repeat found above which the window rests. A look at a request costs about a
  /// quarter of the processor time that a found repeat saves, and repeats also save bytes.
  static constexpr std::uint64_t kRequestsPerRepeat = 5;
  /// Requests of a rest, as a multiple of those before the decision to rest.
  static constexpr std::uint64_t kRest = 31;

  /// Returns the number that stands for a key in the table. That of an 8-byte key is the key; two
  /// keys of 16 bytes may share one.
  static std::uint64_t name_of(std::uint64_t key) { return key; }
  static std::uint64_t name_of(Key16 key) { return key.head ^ key.tail * 0xBF58476D1CE4E5B9U; }

  /// Makes a table of `count` keys, rounded up to a power of two; 0 = off. Forgets all keys.
  void resize(std::size_t count) {
    count_ = count == 0 ? 0 : std::bit_ceil(count);
    slots_ = std::vector<Slot>();
    asked_ = 0;
    found_ = 0;
    resting_ = 0;
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }
  /// Returns the number of an array that begins.
  std::uint64_t begin_array() { return ++array_; }

  /// Whether the caller should look for the next requests.
  [[nodiscard]] bool is_awake() const { return count_ != 0 && resting_ == 0; }
  /// Allocates the table; call it before the first prefetch(), find() or note().
  void wake() {
    if (slots_.size() != count_) slots_.resize(count_);
  }
  void prefetch(std::uint64_t key) const { __builtin_prefetch(&slots_[slot_of(key)], 1); }
  /// Returns the index, among the array's keys, of the request that inserts the key; or kNotFound.
  [[nodiscard]] std::size_t find(std::uint64_t key, std::uint64_t array) const {
    const Slot& slot = slots_[slot_of(key)];
    return slot.key == key && slot.place >> kIndexBits == array ? slot.place & kIndexMask
                                                                : kNotFound;
  }
  /// Notes that the array's request `index`, counting only its keys, inserts the key.
  void note(std::uint64_t key, std::uint64_t array, std::size_t index) {
    slots_[slot_of(key)] = {key, array << kIndexBits | index};
  }
  /// Counts requests and the repeats found among them; while the window rests, requests that
  /// passed.
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
  /// Keys of a bucket share their highest bits. For hashes any other bits would do; the product
  /// spreads keys that are no hashes.
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
    return (key * 0x9E3779B97F4A7C15U >> 32) & (count_ - 1);
  }

  std::vector<Slot> slots_;  // empty until it is needed
  std::size_t count_ = 0;
  std::uint64_t array_ = 0;  // the newest; 0 is the number of none
  std::uint64_t asked_ = 0;
  std::uint64_t found_ = 0;
  std::uint64_t resting_ = 0;  // requests until the window wakes
};

}  // namespace crawlstore::drum
