// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "frontier/body.h"

namespace crawlstore::frontier {

/// An item of a group that is told elsewhere.
struct Item {
  std::uint64_t order = 0;  ///< of its priority: format/queue_run.h
  std::uint64_t id = 0;
  std::uint32_t attempt = 0;  ///< so many times it was taken
  Body body;
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
  /// Takes the first to leave of those with this id.
  ///   is_again  only one that was taken before
  std::optional<Item> take(std::uint64_t id, bool is_again) {
    auto found = items_.end();
    for (auto item = items_.begin(); item != items_.end(); ++item) {
      if (item->id != id || (is_again && item->attempt == 0)) continue;
      if (found == items_.end() || leaves_before(*item, *found)) found = item;
    }
    if (found == items_.end()) return std::nullopt;
    Item item = std::move(*found);
    *found = std::move(items_.back());
    items_.pop_back();
    std::make_heap(items_.begin(), items_.end(), leaves_behind);
    return item;
  }
  void clear() { items_ = {}; }
  /// Those for which has_gone() says so go.
  template <class HasGone>
  void erase_if(const HasGone& has_gone) {
    if (std::erase_if(items_, has_gone) != 0) std::ranges::make_heap(items_, leaves_behind);
  }
  /// Reads all bodies into memory. errors  those of Body::hold()
  Result<void> hold_bodies() {
    for (Item& item : items_) CRAWLSTORE_TRY(item.body.hold());
    return {};
  }

  /// Walks through the items in the order in which they leave, while none comes or goes. Cost:
  /// O(log n) an item.
  class Walk {
   public:
    explicit Walk(const ItemHeap& heap) : items_(heap.items_), next_(items_.empty() ? 0 : 1, 0) {}
    /// nullptr: there are no more
    [[nodiscard]] const Item* peek() const {
      return next_.empty() ? nullptr : &items_[next_.front()];
    }
    void advance() {
      const auto is_behind = [this](std::size_t a, std::size_t b) {
        return leaves_behind(items_[a], items_[b]);
      };
      std::ranges::pop_heap(next_, is_behind);
      const std::size_t at = next_.back();
      next_.pop_back();
      for (std::size_t below = 2 * at + 1; below < std::min(2 * at + 3, items_.size()); ++below) {
        next_.push_back(below);
        std::ranges::push_heap(next_, is_behind);
      }
    }

   private:
    const std::vector<Item>& items_;
    std::vector<std::size_t> next_;  // a heap of places in items_
  };

 private:
  static bool leaves_behind(const Item& a, const Item& b) { return leaves_before(b, a); }

  std::vector<Item> items_;  // a heap, the first to leave in front
};

}  // namespace crawlstore::frontier
