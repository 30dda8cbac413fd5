// SPDX-License-Identifier: Apache-2.0
#include "rescue/renewed_items.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace crawlstore::rescue {

using frontier::ItemRun;
using frontier::ItemRunWriter;
using frontier::WaitingRun;

Result<void> ItemRenewal::add(const DamagedItems& items) {
  CRAWLSTORE_TRY(patient_.advance(items.ref.extent().length_bytes));
  if (items.waiting.empty()) {
    for (std::uint32_t old = 0; old < numbers_.count(); ++old) {
      if (const auto group = numbers_.find(old)) known_.gaps[*group].push_back({});
    }
    return {};
  }
  const WaitingRun& run = items.waiting.front();
  if (run.waiting_count == 0) return {};
  const RunId id = patient_.writer.new_run_ids(1);
  const format::RunLabel label{segment_, SegmentKind::kFrontierItems, owner_, id};
  CRAWLSTORE_TRY(auto out,
                 ItemRunWriter::start(
                     patient_.writer, label,
                     {run.waiting_count, run.run->group_count(), run.run->body_bytes()}, false));
  CRAWLSTORE_TRY(add_blocks(run, out, id));
  if (out.item_count() == 0) return {};
  CRAWLSTORE_TRY(const auto ref, out.finish());
  CRAWLSTORE_TRY(auto renewed, ItemRun::open(patient_.writer.runs->add(segment_, ref)));
  runs_.push_back(std::move(renewed));
  spans_.push_back({id, items.span.first_step, 0});
  known_.runs.push_back({items.span.run, id});
  return {};
}

Result<void> ItemRenewal::add_blocks(const WaitingRun& run, ItemRunWriter& out, RunId id) {
  const ItemRun& from = *run.run;
  place_ = 0;
  kept_count_ = 0;
  format::ItemBlock block;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; begin < from.item_count(); ++i) {
    const std::uint64_t end =
        i + 1 < from.block_count() ? from.first_item_of(i + 1) : from.item_count();
    const auto read = from.read_block(i, block);
    if (!read && category(read.error().code) != ErrorCategory::kDamage) return read;
    if (!read) add_gap(run, {begin, end}, id);
    for (std::uint64_t number = begin; read && number < end; ++number) {
      while (number >= from.items_at(place_).end) {
        ++place_;
        kept_count_ = 0;
      }
      const auto group = numbers_.find(from.group(place_));
      if (!group || number < run.waiting_at(place_).begin) continue;
      format::Item item = block.items[number - begin];
      item.group = *group;
      const auto body = block.body(number - begin);
      CRAWLSTORE_TRY(out.add(
          item, {static_cast<const char*>(static_cast<const void*>(body.data())), body.size()}));
      ++kept_count_;
    }
    begin = end;
  }
  return {};
}

/// Notes where items that wait cannot be read.
void ItemRenewal::add_gap(const WaitingRun& run, format::ItemRange items, RunId id) {
  for (std::uint64_t number = items.begin; number < items.end;) {
    while (number >= run.run->items_at(place_).end) {
      ++place_;
      kept_count_ = 0;
    }
    const auto waiting = run.waiting_at(place_);
    const auto group = numbers_.find(run.run->group(place_));
    if (group && std::max(number, waiting.begin) < std::min(items.end, waiting.end)) {
      known_.gaps[*group].push_back({id, kept_count_});
    }
    number = waiting.end;
  }
}

}  // namespace crawlstore::rescue
