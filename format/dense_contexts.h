// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Types of rows, and which context each number of a dense block has: spec/links.md#dense-block.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace crawlstore::format {

// Types of rows.
inline constexpr std::uint64_t kEmptyRows = 0;
inline constexpr std::uint64_t kPlainRow = 1;
inline constexpr std::uint64_t kReferringRow = 1;  // and the distance in rows
inline constexpr std::uint64_t kEqualRow = 48;     // and the distance in rows

/// The class of a row as the one after it sees it.
enum class RowClass : std::uint8_t { kNone, kEmpty, kPlain, kNeighbour, kDistant, kEqual };

constexpr RowClass class_of(std::uint64_t type) {
  if (type == kEmptyRows) return RowClass::kEmpty;
  if (type == kPlainRow) return RowClass::kPlain;
  if (type == kReferringRow + 1) return RowClass::kNeighbour;
  return type < kEqualRow ? RowClass::kDistant : RowClass::kEqual;
}

constexpr std::size_t type_context(RowClass before) {
  return static_cast<std::size_t>(before);
}
inline constexpr std::size_t kEmptiesContext = 6;
constexpr bool is_type_context(std::size_t context) {
  return context < kEmptiesContext;
}
/// of `count`: 0 to 2
constexpr std::size_t size_class(std::uint64_t count) {
  return (count >= 8 ? 1U : 0U) + (count >= 32 ? 1U : 0U);
}
constexpr std::size_t degree_context(std::uint64_t degree_before) {
  return 7 + size_class(degree_before);
}
constexpr std::size_t first_run_context(std::uint64_t reference_degree) {
  return 10 + size_class(reference_degree) + (reference_degree >= 128 ? 1U : 0U);
}
constexpr std::size_t copy_context(std::uint64_t left) {
  return 14 + size_class(left);
}
constexpr std::size_t skip_context(std::uint64_t left) {
  return 17 + size_class(left);
}
constexpr std::size_t extra_count_context(std::uint64_t left_out) {
  return 20 + (left_out > 0 ? 1U : 0U) + (left_out >= 8 ? 1U : 0U);
}
constexpr std::size_t first_extra_context(std::size_t row, std::uint64_t copied) {
  return 23 + (row > 0 ? 1U : 0U) + (copied > 0 ? 1U : 0U) + (copied >= 16 ? 1U : 0U);
}
constexpr std::size_t second_extra_context(std::uint64_t extra_count, std::uint64_t copied) {
  return 27 + (copied > 0 ? 2U : 0U) + (extra_count >= 8 ? 1U : 0U);
}
constexpr std::size_t gap_context(std::uint64_t gap_before) {
  return 31 + std::min<std::size_t>(8, static_cast<std::size_t>(std::bit_width(gap_before)));
}
inline constexpr std::size_t kZerosContext = 40;

/// After as many gaps of 0 comes the number of those that follow.
inline constexpr unsigned kZeroGaps = 3;

}  // namespace crawlstore::format
