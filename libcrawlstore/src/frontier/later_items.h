// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "frontier/items.h"

namespace crawlstore::frontier {

/// An item that is not to be taken before a time.
struct LaterItem {
  std::uint64_t time = 0;  ///< milliseconds since 1970
  std::uint32_t group = 0;
  Item item;
};

/// Items whose time has not come. Threads: one at a time. Cost: O(log n) to put and to take the
/// first, O(n) to look for an id.
class LaterItems {
 public:
  [[nodiscard]] bool is_empty() const { return items_.empty(); }
  /// The lowest time of all.
  [[nodiscard]] std::uint64_t first_time() const { return items_.front().time; }
  /// In no order.
  [[nodiscard]] const std::vector<LaterItem>& all() const { return items_; }

  void put(LaterItem item) {
    items_.push_back(std::move(item));
    std::push_heap(items_.begin(), items_.end(), is_behind);
  }
  LaterItem take_first() {
    std::pop_heap(items_.begin(), items_.end(), is_behind);
    LaterItem item = std::move(items_.back());
    items_.pop_back();
    return item;
  }
  /// Takes the one of the lowest time of those with this id, and of those the first to leave.
  ///   is_again  only one that was taken before
  std::optional<LaterItem> take(std::uint32_t group, std::uint64_t id, bool is_again) {
    const auto is_before = [](const LaterItem& a, const LaterItem& b) {
      return a.time != b.time ? a.time < b.time : leaves_before(a.item, b.item);
    };
    auto found = items_.end();
    for (auto item = items_.begin(); item != items_.end(); ++item) {
      const bool is_it = item->item.id == id && item->group == group;
      if (!is_it || (is_again && item->item.attempt == 0)) continue;
      if (found == items_.end() || is_before(*item, *found)) found = item;
    }
    if (found == items_.end()) return std::nullopt;
    LaterItem item = std::move(*found);
    *found = std::move(items_.back());
    items_.pop_back();
    std::make_heap(items_.begin(), items_.end(), is_behind);
    return item;
  }
  /// Calls of(LaterItem) with each item of a group, which is gone then.
  template <class Of>
  void drop(std::uint32_t group, const Of& of) {
    std::erase_if(items_, [&](const LaterItem& item) {
      if (item.group != group) return false;
      of(item);
      return true;
    });
    std::make_heap(items_.begin(), items_.end(), is_behind);
  }
  /// Reads all bodies into memory. errors  those of Body::hold()
  Result<void> hold_bodies() {
    for (LaterItem& later : items_) CRAWLSTORE_TRY(later.item.body.hold());
    return {};
  }

 private:
  static bool is_behind(const LaterItem& a, const LaterItem& b) {
    return std::tuple(a.time, a.group, a.item.id) > std::tuple(b.time, b.group, b.item.id);
  }

  std::vector<LaterItem> items_;  // a heap, the lowest time in front
};

}  // namespace crawlstore::frontier
