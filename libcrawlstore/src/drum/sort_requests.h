// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/tools/merge_rules.h>

#include "format/request_run.h"

namespace crawlstore::drum {

// An index is 24 bits.
static_assert(kSortCountMax == std::uint32_t{1} << 24);
static_assert(kSortCountMax >= format::kRequestsPerRunMax);

/// Requests ordered by key, then by arrival. Its memory stays for the next sort.
class SortedRequests {
 public:
  using Spans = std::span<const std::span<const std::uint64_t>>;

  /// Sorts requests with the given keys, in arrival order. No span is empty.
  ///   keys  at most kSortCountMax together; the heads, if keys have 16 bytes
  ///   tails of 16-byte keys, cut as `keys`; else empty
  ///   cost  hashed keys: one scatter over n words of 8 bytes, then sorts of about a hundred words
  ///         in the first-level cache. Any keys: O(n log n).
  void sort(Spans keys, Spans tails = {});

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const std::uint64_t> keys() const { return {keys_.data(), size_}; }
  /// Returns the tails of `keys`; empty if keys have 8 bytes.
  [[nodiscard]] std::span<const std::uint64_t> tails() const {
    return {tails_.data(), is_wide_ ? size_ : 0};
  }
  /// Returns the place of each request in arrival order.
  [[nodiscard]] std::span<const std::uint32_t> arrivals() const {
    return {arrivals_.data(), size_};
  }

  /// Keeps the first arrival of each key, and sets `repeated[arrival]` to whether it was another.
  void keep_first(std::span<std::uint8_t> repeated);

 private:
  struct Shape;
  void sort_numbers(Spans keys);
  void scatter(Spans keys, const Shape& shape);
  void emit(const Shape& shape, std::uint64_t group, std::size_t begin, std::size_t end);
  void repair_ties(Spans keys, const Shape& shape);
  void sort_tails(Spans tails);
  template <bool kIsWide>
  void keep_first_of(std::span<std::uint8_t> repeated);

  std::size_t size_ = 0;
  bool is_wide_ = false;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> tails_;
  std::vector<std::uint32_t> arrivals_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> starts_;  // of the groups, while sorting
};

}  // namespace crawlstore::drum
