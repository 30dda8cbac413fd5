// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace crawlstore::frontier {

/// An item of a group that is told elsewhere.
struct Item {
  std::uint64_t order = 0;  ///< of its priority: format/queue_run.h
  std::uint64_t id = 0;
  std::uint32_t attempt = 0;  ///< so many times it was taken
  std::string body;
};

/// The order in which items leave their group: those that were taken before, then by order and id.
constexpr bool leaves_before(const Item& a, const Item& b) {
  if ((a.attempt == 0) != (b.attempt == 0)) return a.attempt != 0;
  return a.order != b.order ? a.order < b.order : a.id < b.id;
}

/// The items of a group that may be taken. Threads: one at a time. Cost: O(log n) to put and to
/// take, O(n) to look for an id.
class ItemHeap {
 public:
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool is_empty() const { return items_.empty(); }
  [[nodiscard]] const Item& first() const { return items_.front(); }
  /// In no order.
  [[nodiscard]] const std::vector<Item>& all() const { return items_; }

  void put(Item item) {
    items_.push_back(std::move(item));
    std::push_heap(items_.begin(), items_.end(), leaves_behind);
  }
  Item take_first() {
    std::pop_heap(items_.begin(), items_.end(), leaves_behind);
    Item item = std::move(items_.back());
    items_.pop_back();
    return item;
  }
  std::optional<Item> take(std::uint64_t id) {
    const auto found = std::ranges::find(items_, id, &Item::id);
    if (found == items_.end()) return std::nullopt;
    Item item = std::move(*found);
    *found = std::move(items_.back());
    items_.pop_back();
    std::make_heap(items_.begin(), items_.end(), leaves_behind);
    return item;
  }
  void clear() { items_ = {}; }

  /// The sum of the ids of the first `count`, of which there are so many. Cost: O(count log count).
  [[nodiscard]] std::uint64_t sum_of_ids(std::size_t count) const {
    const auto is_behind = [this](std::size_t a, std::size_t b) {
      return leaves_behind(items_[a], items_[b]);
    };
    std::vector<std::size_t> next(count == 0 ? 0 : 1, 0);  // a heap of places in items_
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::pop_heap(next.begin(), next.end(), is_behind);
      const std::size_t at = next.back();
      next.pop_back();
      sum += items_[at].id;
      for (std::size_t below = 2 * at + 1; below < std::min(2 * at + 3, items_.size()); ++below) {
        next.push_back(below);
        std::push_heap(next.begin(), next.end(), is_behind);
      }
    }
    return sum;
  }

 private:
  static bool leaves_behind(const Item& a, const Item& b) { return leaves_before(b, a); }

  std::vector<Item> items_;  // a heap, the first to leave in front
};

}  // namespace crawlstore::frontier
