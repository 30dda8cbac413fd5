// SPDX-License-Identifier: Apache-2.0
#include "queue/sort_entries.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace crawlstore::queue {

namespace {

/// Entries above which cells do not pay, as they are not in the processor's cache.
constexpr std::size_t kSpreadMax = 8192;
/// Entries below which cells do not pay.
constexpr std::size_t kSpreadMin = 24;

void sort_by_insertion(std::span<Entry> entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const Entry entry = entries[i];
    std::size_t at = i;
    for (; at > 0 && entry < entries[at - 1]; --at) entries[at] = entries[at - 1];
    entries[at] = entry;
  }
}

bool are_of_one_order(std::span<const Entry> entries) {
  return std::ranges::all_of(
      entries, [&](const Entry& entry) { return entry.order == entries.front().order; });
}

/// Each entry goes to the cell that its number has in proportion; neighbours are in one cell, or in
/// two that lie side by side.
///   number  the order, or the page of entries that are of one order
template <std::uint64_t Entry::*number>
void spread(std::span<Entry> entries, std::vector<Entry>& room) {
  if (room.size() < kSpreadMax) room.resize(kSpreadMax);
  std::array<std::uint16_t, kSpreadMax> cells;
  std::array<std::uint16_t, kSpreadMax + 1> ends;
  std::fill_n(ends.begin(), entries.size() + 1, std::uint16_t{0});
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t highest = 0;
  for (const Entry& entry : entries) {
    lowest = std::min(lowest, entry.*number);
    highest = std::max(highest, entry.*number);
  }
  const double scale = static_cast<double>(entries.size() - 1) /
                       std::max(1.0, static_cast<double>(highest - lowest));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    // Rounding goes one way for all, so that a lower order has no higher cell.
    const double cell = static_cast<double>(entries[i].*number - lowest) * scale;
    cells[i] = static_cast<std::uint16_t>(
        std::min<std::size_t>(static_cast<std::size_t>(cell), entries.size() - 1));
    ++ends[cells[i] + 1U];
  }
  std::uint16_t crowd = 0;
  for (std::size_t cell = 1; cell <= entries.size(); ++cell) {
    crowd = std::max(crowd, ends[cell]);
    ends[cell] = static_cast<std::uint16_t>(ends[cell] + ends[cell - 1]);
  }
  for (std::size_t i = 0; i < entries.size(); ++i) room[ends[cells[i]]++] = entries[i];
  std::copy_n(room.begin(), entries.size(), entries.begin());
  if (crowd <= kSpreadMin) return sort_by_insertion(entries);
  std::size_t begin = 0;
  for (std::size_t cell = 0; cell < entries.size(); ++cell) {
    const std::span<Entry> some = entries.subspan(begin, ends[cell] - begin);
    begin = ends[cell];
    if (some.size() <= kSpreadMin) {
      sort_by_insertion(some);
      continue;
    }
    if constexpr (number == &Entry::order) {
      if (are_of_one_order(some)) {
        spread<&Entry::page>(some, room);
        continue;
      }
    }
    std::ranges::sort(some);
  }
}

}  // namespace

void sort_entries(std::span<Entry> entries, std::vector<Entry>& room) {
  if (entries.size() <= kSpreadMin) {
    sort_by_insertion(entries);
  } else if (entries.size() <= kSpreadMax) {
    spread<&Entry::order>(entries, room);
  } else {
    std::ranges::sort(entries);
  }
}

}  // namespace crawlstore::queue
