// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "frontier/items.h"
#include "frontier/later_run.h"

namespace crawlstore::frontier {

/// An item that is not to be taken before a time.
struct LaterItem {
  std::uint64_t time = 0;  ///< milliseconds since 1970
  std::uint32_t group = 0;
  Item item;
};

/// Items whose time has not come: in memory, or in runs. Threads: one at a time. Cost: O(log n) to
/// put and to take the first, O(n) to look for an id.
class LaterItems {
 public:
  /// The lowest time of all; 0: there is none.
  [[nodiscard]] std::uint64_t first_time() const {
    std::uint64_t first = items_.empty() ? 0 : items_.front().time;
    for (const LaterRun& run : runs_) {
      if (first == 0 || (run.rest().time != 0 && run.rest().time < first)) first = run.rest().time;
    }
    return first;
  }
  /// Those in memory, in no order.
  [[nodiscard]] const std::vector<LaterItem>& held() const { return items_; }
  [[nodiscard]] const std::vector<LaterRun>& runs() const { return runs_; }
  /// About the bytes of what has come out of runs since the last checkpoint.
  [[nodiscard]] std::uint64_t due_bytes() const { return due_bytes_; }

  /// Items that come out of runs at a time.
  struct Due {
    std::vector<DueItem> items{};
    std::vector<LaterRun::Rest> rests{};
  };
  ///   errors  those of LaterRun::read_due()
  [[nodiscard]] Result<Due> read_due(std::uint64_t time) const {
    Due due;
    for (const LaterRun& run : runs_) {
      LaterRun::Rest rest = run.rest();
      if (rest.time != 0 && rest.time <= time) {
        CRAWLSTORE_TRY(rest, run.read_due(time, due.items));
      }
      due.rests.push_back(rest);
    }
    return due;
  }
  /// Items that were read leave the runs.
  void leave_runs(const Due& due) {
    for (std::size_t i = 0; i < runs_.size(); ++i) runs_[i].leave(due.rests[i]);
    for (const DueItem& item : due.items) due_bytes_ += kItemBytes + item.body.size();
  }
  /// Takes the first one in memory, if its time is no later.
  std::optional<LaterItem> take_due(std::uint64_t time) {
    if (items_.empty() || items_.front().time > time) return std::nullopt;
    return take_first();
  }

  void add_run(LaterRun run) { runs_.push_back(std::move(run)); }
  /// Puts these runs in the place of all others.
  void set_runs(std::vector<LaterRun> runs) { runs_ = std::move(runs); }
  /// The same at a checkpoint.
  ///   has_new  they have what was in memory, and was never taken
  void rearrange(std::vector<LaterRun> runs, bool has_new) {
    runs_ = std::move(runs);
    due_bytes_ = 0;
    if (!has_new) return;
    std::erase_if(items_, [](const LaterItem& item) { return item.item.attempt == 0; });
    std::make_heap(items_.begin(), items_.end(), is_behind);
  }
  /// nullptr: there is none.
  [[nodiscard]] LaterRun* find_run(RunId id) {
    const auto run =
        std::ranges::find(runs_, id, [](const LaterRun& of) { return of.run()->id(); });
    return run == runs_.end() ? nullptr : &*run;
  }

  void put(LaterItem item) {
    items_.push_back(std::move(item));
    std::push_heap(items_.begin(), items_.end(), is_behind);
  }
  /// Takes of those in memory with this id the one of the lowest time, and of those the first to
  /// leave.
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
  /// Calls of(LaterItem) with each item of a group in memory, which is gone then.
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
  /// About the bytes of an item in memory, besides its body.
  static constexpr std::uint64_t kItemBytes = 64;

  LaterItem take_first() {
    std::pop_heap(items_.begin(), items_.end(), is_behind);
    LaterItem item = std::move(items_.back());
    items_.pop_back();
    return item;
  }
  static bool is_behind(const LaterItem& a, const LaterItem& b) {
    return std::tuple(a.time, a.group, a.item.id) > std::tuple(b.time, b.group, b.item.id);
  }

  std::vector<LaterItem> items_;  // a heap, the lowest time in front
  std::vector<LaterRun> runs_;
  std::uint64_t due_bytes_ = 0;
};

}  // namespace crawlstore::frontier
