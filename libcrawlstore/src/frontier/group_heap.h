// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace crawlstore::frontier {

/// Groups in the order of a key each, the lowest first, and of the same key that of the lowest
/// number. A group is there once, and may leave from anywhere. Threads: one at a time. Cost: each
/// call O(log n). Memory: 4 bytes for each group up to the highest, and 16 + 8 bytes an entry.
template <class Key>
class GroupHeap {
 public:
  [[nodiscard]] bool is_empty() const { return heap_.empty(); }
  [[nodiscard]] std::uint32_t first() const { return heap_.front().second; }
  [[nodiscard]] const Key& first_key() const { return heap_.front().first; }

  /// The key of a group; nullptr: it is not there.
  [[nodiscard]] const Key* find(std::uint32_t group) const {
    if (group >= places_.size() || places_[group] == 0) return nullptr;
    return &heap_[places_[group] - std::size_t{1}].first;
  }

  /// Puts the group at this key, wherever it was.
  void set(std::uint32_t group, const Key& key) {
    if (group >= places_.size()) places_.resize(group + std::size_t{1}, 0);
    if (places_[group] == 0) {
      heap_.emplace_back(key, group);
      places_[group] = static_cast<std::uint32_t>(heap_.size());
    }
    const std::size_t at = places_[group] - std::size_t{1};
    heap_[at].first = key;
    sink(rise(at));
  }
  /// Takes the group out; nothing if it is not there.
  void remove(std::uint32_t group) {
    if (group >= places_.size() || places_[group] == 0) return;
    const std::size_t at = places_[group] - std::size_t{1};
    places_[group] = 0;
    const auto last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    put(at, last);
    sink(rise(at));
  }

 private:
  using Entry = std::pair<Key, std::uint32_t>;

  void put(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    places_[entry.second] = static_cast<std::uint32_t>(at + 1);
  }
  std::size_t rise(std::size_t at) {
    const Entry entry = heap_[at];
    while (at > 0 && entry < heap_[(at - 1) / 2]) {
      put(at, heap_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    put(at, entry);
    return at;
  }
  void sink(std::size_t at) {
    const Entry entry = heap_[at];
    for (std::size_t below = 2 * at + 1; below < heap_.size(); below = 2 * at + 1) {
      if (below + 1 < heap_.size() && heap_[below + 1] < heap_[below]) ++below;
      if (!(heap_[below] < entry)) break;
      put(at, heap_[below]);
      at = below;
    }
    put(at, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> places_;  // of each group its place in heap_ and 1; 0: it is not there
};

}  // namespace crawlstore::frontier
