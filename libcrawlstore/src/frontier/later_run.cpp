// SPDX-License-Identifier: Apache-2.0
#include "frontier/later_run.h"

namespace crawlstore::frontier {

Result<LaterRun> LaterRun::open(ItemRunPtr run) {
  LaterRun opened(std::move(run));
  CRAWLSTORE_TRY(const auto first, opened.run_->item(0));
  opened.rest_.time = first.time;
  return opened;
}

Result<LaterRun::Rest> LaterRun::read_due(std::uint64_t time, std::vector<DueItem>& out) const {
  format::ItemBlock block;
  for (std::uint64_t number = rest_.next; number < run_->item_count();) {
    const std::size_t place = run_->block_of(number);
    const std::uint64_t first = run_->first_item_of(place);
    CRAWLSTORE_TRY(run_->read_block(place, block));
    for (; number < first + block.items.size(); ++number) {
      const format::Item& item = block.items[number - first];
      if (gone_.has(number)) continue;
      if (item.time > time) return Rest{number, item.time};
      const auto body = block.body(number - first);
      const auto* const text = static_cast<const char*>(static_cast<const void*>(body.data()));
      out.push_back({item, std::string(text, body.size())});
    }
  }
  return Rest{run_->item_count(), 0};
}

Result<void> LaterRun::end(std::uint64_t number) {
  if (number == rest_.next) {
    const std::uint64_t next = gone_.first_there(number + 1, run_->item_count());
    Rest rest{next, 0};
    if (next != run_->item_count()) {
      CRAWLSTORE_TRY(const auto item, run_->item(next));
      rest.time = item.time;
    }
    rest_ = rest;
  }
  gone_.add(number);
  return {};
}

}  // namespace crawlstore::frontier
