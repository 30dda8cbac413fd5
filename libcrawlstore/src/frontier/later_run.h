// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontier/gone_items.h"
#include "frontier/item_run.h"

namespace crawlstore::frontier {

/// An item whose time has come, and its body.
struct DueItem {
  format::Item item;
  std::string body;
};

/// A run by time: the items whose time has come have left it, the first ones. After an error
/// nothing has changed. Threads: one at a time.
class LaterRun {
 public:
  /// The items that wait from one on: its number, and its time, which is 0 if there is none.
  struct Rest {
    std::uint64_t next = 0;
    std::uint64_t time = 0;
  };

  /// Nothing has left it.
  ///   errors  those of ItemRun::item()
  static Result<LaterRun> open(ItemRunPtr run);

  [[nodiscard]] const ItemRunPtr& run() const { return run_; }
  [[nodiscard]] const GoneItems& gone() const { return gone_; }
  [[nodiscard]] const Rest& rest() const { return rest_; }
  [[nodiscard]] std::uint64_t waiting_count() const {
    return run_->item_count() - rest_.next - gone_.count(rest_.next, run_->item_count());
  }
  [[nodiscard]] bool has(std::uint64_t number) const {
    return number >= rest_.next && number < run_->item_count() && !gone_.has(number);
  }

  /// Appends the items that wait up to a time.
  ///   returns  what waits behind them
  ///   errors   those of ItemRun::read_block()
  Result<Rest> read_due(std::uint64_t time, std::vector<DueItem>& out) const;
  /// The items before `rest` leave.
  void leave(const Rest& rest) { rest_ = rest; }
  /// Item `number`, which waits, is gone.
  ///   errors  those of ItemRun::item()
  Result<void> end(std::uint64_t number);

 private:
  explicit LaterRun(ItemRunPtr run) : run_(std::move(run)) {}

  ItemRunPtr run_;
  GoneItems gone_;
  Rest rest_;
};

/// Calls of(number, item) with each item that waits; it returns false to end the walk.
///   errors  those of ItemRun::read_items()
///   cost    some nanoseconds an item
template <class Of>
Result<void> for_each_item(const LaterRun& run, const Of& of) {
  std::vector<format::Item> block;
  for (std::uint64_t number = run.rest().next; number < run.run()->item_count();) {
    const std::size_t place = run.run()->block_of(number);
    const std::uint64_t first = run.run()->first_item_of(place);
    CRAWLSTORE_TRY(run.run()->read_items(place, block));
    for (; number < first + block.size(); ++number) {
      if (!run.gone().has(number) && !of(number, block[number - first])) return {};
    }
  }
  return {};
}

}  // namespace crawlstore::frontier
