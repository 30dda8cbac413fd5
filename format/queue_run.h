// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Queue runs: entries that came into a queue together, in fragments of neighbouring priorities:
/// spec/queue.md#queue-runs. Pure functions over bytes; any thread.

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "layout.h"

namespace crawlstore::format {

/// Entries of a fragment.
inline constexpr std::uint32_t kQueueFragmentEntriesMax = 65'536;

/// A page that waits. The lowest entry leaves first: that of the highest priority, and of the same
/// ones that of the lowest page.
///   order  of its priority: queue_order(); of changes also kQueueGone
///   page   at most kPageMax
struct QueueEntry {
  std::uint64_t order = 0;
  std::uint64_t page = 0;
  auto operator<=>(const QueueEntry&) const = default;
};

/// The bits of a priority, turned so that a higher one has a lower number. 0 and -0 are one. Not of
/// NaN.
constexpr std::uint64_t queue_order(double priority) {
  const auto bits = std::bit_cast<std::uint64_t>(priority + 0.0);
  return (bits >> 63U) != 0 ? bits : ~bits & ~(std::uint64_t{1} << 63U);
}
constexpr double queue_priority(std::uint64_t order) {
  return std::bit_cast<double>((order >> 63U) != 0 ? order : ~order & ~(std::uint64_t{1} << 63U));
}
/// In a run of changes: the page waits no more. It would be the order of -0, which is that of 0.
inline constexpr std::uint64_t kQueueGone = std::uint64_t{1} << 63U;
/// The order of a priority, which is no NaN, or kQueueGone.
constexpr bool is_queue_order(std::uint64_t order) {
  constexpr std::uint64_t kInfinity = 0x000F'FFFF'FFFF'FFFF;
  constexpr std::uint64_t kMinusInfinity = 0xFFF0'0000'0000'0000;
  return order >= kInfinity && order <= kMinusInfinity;
}

/// Bytes of an entry of this fragment, and of all.
constexpr std::uint64_t entry_bytes(const QueueFragment& fragment) {
  return std::uint64_t{fragment.order_bytes} + fragment.page_bytes;
}
constexpr std::uint64_t fragment_bytes(const QueueFragment& fragment) {
  return fragment.entry_count * entry_bytes(fragment);
}
constexpr QueueEntry lowest_of(const QueueFragment& fragment) {
  return {fragment.lowest_order, fragment.lowest_page};
}

/// Appends the bytes of a fragment, in the order of the entries.
///   entries  1 to kQueueFragmentEntriesMax, with valid orders and pages
QueueFragment encode_queue_fragment(std::span<const QueueEntry> entries,
                                    std::vector<std::byte>& out);

/// Appends what stands behind the fragments of a run: zeros up to a multiple of 8, index, footer.
///   fragments  all of the run, at least one, ascending
///   highest    the entry that leaves last
void encode_queue_tail(std::span<const QueueFragment> fragments, const QueueEntry& highest,
                       std::vector<std::byte>& out);

/// The index of a run: its fragments.
struct QueueIndex {
  std::vector<QueueFragment> fragments;
  std::vector<std::uint64_t> offsets;  ///< of each, and of the end of the last one
  QueueEntry highest;
  std::uint64_t entry_count = 0;

  /// The highest entry that fragment `number` may have.
  [[nodiscard]] QueueEntry limit(std::size_t number) const {
    return number + 1 < fragments.size() ? lowest_of(fragments[number + 1]) : highest;
  }
};

/// `footer_bytes` is the last sizeof(QueueRunFooter) bytes, `payload_bytes` the whole length; the
/// index fits it when this returns.
///   errors  kSegmentInvalid (offset relative to the payload)
Result<QueueRunFooter> parse_queue_footer(std::span<const std::byte> footer_bytes,
                                          std::uint64_t payload_bytes);
/// `index_bytes` lie right before the footer.
///   errors  kSegmentInvalid
Result<QueueIndex> parse_queue_index(std::span<const std::byte> index_bytes,
                                     const QueueRunFooter& footer, std::uint64_t payload_bytes);

/// The entries of fragment `number`.
///   bytes   of the fragment, at any address
///   out     as many as it has entries
///   errors  kSegmentInvalid: one lies outside of the fragment (offset relative to the payload)
Result<void> decode_queue_fragment(const QueueIndex& index, std::size_t number,
                                   std::span<const std::byte> bytes, std::span<QueueEntry> out);

/// That the bytes between fragments and index, fewer than 8, are zero.
///   errors  kSegmentInvalid (offset relative to the payload)
Result<void> check_queue_padding(const QueueIndex& index, std::span<const std::byte> padding);

/// The rules that decode_queue_fragment() leaves to deep verification: the lowest entry, and the
/// highest one of the run, are there, and there is one way to write them.
///   errors  kSegmentInvalid (offset relative to the payload)
Result<void> check_queue_fragment(const QueueIndex& index, std::size_t number,
                                  std::span<const QueueEntry> entries);

}  // namespace crawlstore::format
