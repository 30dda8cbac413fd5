// SPDX-License-Identifier: Apache-2.0
//
// Invariants: extents in the map are disjoint and never touch each other; by_offset_ and by_length_
// hold the same extents; total_bytes_ is the sum of their lengths.
#include "container/free_map.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"

namespace crawlstore::container {

void FreeMap::add(Extent extent) {
  by_offset_.emplace(extent.offset_bytes, extent.length_bytes);
  by_length_.emplace(extent.length_bytes, extent.offset_bytes);
  total_bytes_ += extent.length_bytes;
}

void FreeMap::erase(std::map<std::uint64_t, std::uint64_t>::iterator place) {
  total_bytes_ -= place->second;
  by_length_.erase({place->second, place->first});
  by_offset_.erase(place);
}

void FreeMap::insert(Extent extent) {
  if (extent.length_bytes == 0) return;
  auto next = by_offset_.lower_bound(extent.offset_bytes);
  if (next != by_offset_.end()) {
    CRAWLSTORE_ASSERT(extent.end_bytes() <= next->first);
    if (extent.end_bytes() == next->first) {
      extent.length_bytes += next->second;
      auto merged = next++;
      erase(merged);
    }
  }
  if (next != by_offset_.begin()) {
    auto before = std::prev(next);
    CRAWLSTORE_ASSERT(before->first + before->second <= extent.offset_bytes);
    if (before->first + before->second == extent.offset_bytes) {
      extent = {before->first, before->second + extent.length_bytes};
      erase(before);
    }
  }
  add(extent);
}

std::optional<Extent> FreeMap::take(std::uint64_t length_bytes) {
  const auto fit = by_length_.lower_bound({length_bytes, 0});
  if (fit == by_length_.end()) return std::nullopt;
  const Extent found{fit->second, fit->first};
  erase(by_offset_.find(found.offset_bytes));
  if (found.length_bytes > length_bytes) {
    add({found.offset_bytes + length_bytes, found.length_bytes - length_bytes});
  }
  return Extent{found.offset_bytes, length_bytes};
}

std::optional<Extent> FreeMap::take_below(std::uint64_t length_bytes, std::uint64_t end_bytes) {
  for (const auto& [offset, length] : by_offset_) {
    if (offset + length_bytes > end_bytes) break;
    if (length < length_bytes) continue;
    const Extent wanted{offset, length_bytes};
    take_exact(wanted);
    return wanted;
  }
  return std::nullopt;
}

std::optional<Extent> FreeMap::take_from(std::uint64_t length_bytes, std::uint64_t from_bytes) {
  auto place = by_offset_.upper_bound(from_bytes);
  if (place != by_offset_.begin()) --place;
  for (; place != by_offset_.end(); ++place) {
    const Extent wanted{std::max(place->first, from_bytes), length_bytes};
    if (wanted.end_bytes() > place->first + place->second) continue;
    take_exact(wanted);
    return wanted;
  }
  return std::nullopt;
}

bool FreeMap::take_exact(Extent extent) {
  auto place = by_offset_.upper_bound(extent.offset_bytes);
  if (place == by_offset_.begin()) return false;
  --place;
  const Extent found{place->first, place->second};
  if (found.end_bytes() < extent.end_bytes()) return false;
  erase(place);
  if (found.offset_bytes < extent.offset_bytes) {
    add({found.offset_bytes, extent.offset_bytes - found.offset_bytes});
  }
  if (extent.end_bytes() < found.end_bytes()) {
    add({extent.end_bytes(), found.end_bytes() - extent.end_bytes()});
  }
  return true;
}

void FreeMap::cut(std::uint64_t offset_bytes) {
  while (!by_offset_.empty()) {
    const auto last = std::prev(by_offset_.end());
    const Extent found{last->first, last->second};
    if (found.end_bytes() <= offset_bytes) return;
    erase(last);
    if (found.offset_bytes < offset_bytes) {
      add({found.offset_bytes, offset_bytes - found.offset_bytes});
      return;
    }
  }
}

std::vector<Extent> FreeMap::extents() const {
  std::vector<Extent> all;
  all.reserve(by_offset_.size());
  for (const auto& [offset, length] : by_offset_) all.push_back({offset, length});
  return all;
}

}  // namespace crawlstore::container
