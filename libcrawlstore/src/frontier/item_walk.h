// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "frontier/later_run.h"
#include "frontier/waiting_runs.h"

namespace crawlstore::frontier {

/// Walks through the items of a run that wait, with their bodies. The run stays, and does not
/// change meanwhile. Threads: one. Memory: a block.
class ItemWalk {
 public:
  explicit ItemWalk(const WaitingRun& of)
      : run_(*of.run), gone_(of.gone), by_group_(&of), items_(of.waiting_at(0)) {}
  explicit ItemWalk(const LaterRun& of)
      : run_(*of.run()), gone_(of.gone()), items_{of.rest().next, run_.item_count()} {}

  /// Goes to the next item. Returns false behind the last one.
  ///   errors  those of ItemRun::read_block()
  Result<bool> next() {
    while ((items_.begin = gone_.first_there(items_.begin, items_.end)) == items_.end) {
      if (by_group_ == nullptr || ++place_ == run_.group_count()) return false;
      items_ = by_group_->waiting_at(place_);
    }
    const std::uint64_t number = items_.begin++;
    if (!has_block_ || number >= first_ + block_.items.size()) {
      const std::size_t block = run_.block_of(number);
      CRAWLSTORE_TRY(run_.read_block(block, block_));
      first_ = run_.first_item_of(block);
      has_block_ = true;
    }
    at_ = static_cast<std::size_t>(number - first_);
    return true;
  }
  [[nodiscard]] const format::Item& item() const { return block_.items[at_]; }
  [[nodiscard]] std::string_view body() const {
    const auto body = block_.body(at_);
    return {static_cast<const char*>(static_cast<const void*>(body.data())), body.size()};
  }

 private:
  const ItemRun& run_;
  const GoneItems& gone_;
  const WaitingRun* by_group_ = nullptr;
  std::size_t place_ = 0;    // of the group in the directory
  format::ItemRange items_;  // of the group, or of all, that are to come
  format::ItemBlock block_;
  bool has_block_ = false;
  std::uint64_t first_ = 0;  // item of the block
  std::size_t at_ = 0;       // in the block
};

}  // namespace crawlstore::frontier
