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
    add_gap_of_all(0);
    return {};
  }
  const WaitingRun& run = items.waiting.front();
  if (run.waiting_count == 0) return {};
  RenewedRun renewed{items.span.run, patient_.writer.new_run_ids(1), {}};
  const format::RunLabel label{segment_, SegmentKind::kFrontierItems, owner_, renewed.id};
  const bool is_by_time = run.run->is_by_time();
  CRAWLSTORE_TRY(auto out,
                 ItemRunWriter::start(patient_.writer, label,
                                      {run.waiting_count, is_by_time ? 0 : run.run->group_count(),
                                       run.run->body_bytes()},
                                      false));
  CRAWLSTORE_TRY(is_by_time ? add_later_blocks(*run.run, out, renewed)
                            : add_blocks(run, out, renewed));
  if (out.item_count() == 0) return {};
  CRAWLSTORE_TRY(const auto ref, out.finish());
  CRAWLSTORE_TRY(auto opened, ItemRun::open(patient_.writer.runs->add(segment_, ref)));
  runs_.push_back(std::move(opened));
  spans_.push_back({renewed.id, items.span.first_step, 0});
  known_.runs.push_back(std::move(renewed));
  return {};
}

/// Items that are lost may be of any group, from a time on.
void ItemRenewal::add_gap_of_all(std::uint64_t time) {
  for (std::uint32_t old = 0; old < numbers_.count(); ++old) {
    if (const auto group = numbers_.find(old)) known_.gaps[*group].push_back({{}, 0, time, {}});
  }
}

namespace {

std::string_view text_of(std::span<const std::byte> body) {
  return {static_cast<const char*>(static_cast<const void*>(body.data())), body.size()};
}

/// Adds an item, unless it is like the one before it.
Result<void> renew(const format::Item& item, std::string_view body, std::uint64_t old,
                   ItemRunWriter& out, RenewedRun& renewed) {
  const std::uint64_t number = out.item_count();
  CRAWLSTORE_TRY(out.add(item, body));
  if (out.item_count() != number) renewed.numbers.add(old, number);
  return {};
}

}  // namespace

/// Writes a run by time anew, with what has left it: the clock says what that is.
Result<void> ItemRenewal::add_later_blocks(const ItemRun& run, ItemRunWriter& out,
                                           RenewedRun& renewed) {
  format::ItemBlock block;
  std::uint64_t time = 0;  // of the last item that was read
  for (std::size_t i = 0; i < run.block_count(); ++i) {
    const auto read = run.read_block(i, block);
    if (!read && category(read.error().code) != ErrorCategory::kDamage) return read;
    if (!read) {
      add_gap_of_all(time);
      continue;
    }
    for (std::size_t k = 0; k < block.items.size(); ++k) {
      format::Item item = block.items[k];
      time = item.time;
      const auto group = numbers_.find(item.group);
      if (!group) continue;
      item.group = *group;
      CRAWLSTORE_TRY(renew(item, text_of(block.body(k)), run.first_item_of(i) + k, out, renewed));
    }
  }
  return {};
}

Result<void> ItemRenewal::add_blocks(const WaitingRun& run, ItemRunWriter& out,
                                     RenewedRun& renewed) {
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
    if (!read) add_gap(run, {begin, end}, renewed.id);
    for (std::uint64_t number = begin; read && number < end; ++number) {
      while (number >= from.items_at(place_).end) {
        ++place_;
        kept_count_ = 0;
      }
      const auto group = numbers_.find(from.group(place_));
      if (!group || number < run.waiting_at(place_).begin) continue;
      format::Item item = block.items[number - begin];
      item.group = *group;
      CRAWLSTORE_TRY(renew(item, text_of(block.body(number - begin)), number, out, renewed));
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
    const std::uint64_t first = std::max(number, waiting.begin);
    const std::uint64_t end = std::min(items.end, waiting.end);
    if (group && first < end) {
      known_.gaps[*group].push_back({id, kept_count_, 0, end - first});
    }
    number = waiting.end;
  }
}

}  // namespace crawlstore::rescue
