// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a run that both states have is of the same bytes in both, so its directory is, too;
// what waits of it in both is left out on both sides, or on neither.
#include "frontier/group_items.h"

#include <algorithm>

#include <xxhash.h>

namespace crawlstore::frontier {
namespace {

std::uint64_t hash_of(const void* bytes, std::size_t length) {
  return XXH3_64bits(bytes, length);
}

/// Calls of(item) for those of a group, in a list by group.
template <class Listed, class Of>
Result<void> for_each_of(const Listed& list, std::uint32_t group, const Of& of) {
  const auto before = [](const auto& entry, std::uint32_t number) { return entry.first < number; };
  auto at = std::lower_bound(list.begin(), list.end(), group, before);
  for (; at != list.end() && at->first == group; ++at) CRAWLSTORE_TRY(of(*at->second));
  return {};
}

constexpr auto kByGroup = [](const auto& a, const auto& b) { return a.first < b.first; };

}  // namespace

bool is_same_run(const format::RunRef& a, const format::RunRef& b) {
  return a.run_id == b.run_id && a.payload_bytes == b.payload_bytes && a.checksum == b.checksum;
}

GroupItems::GroupItems(const SnapshotState& of, How how)
    : of_(of), how_(how), shared_(of.state.runs().runs().size()), blocks_(shared_.size()) {
  for (const LaterItem& item : of.state.later().all()) later_.emplace_back(item.group, &item);
  for (const auto& [id, lease] : of.state.leases().all()) leases_.emplace_back(lease.group, &lease);
  std::sort(later_.begin(), later_.end(), kByGroup);
  std::sort(leases_.begin(), leases_.end(), kByGroup);
}

void GroupItems::skip_runs_of(const GroupItems& other) {
  other_ = &other;
  const auto here = state().runs().runs();
  const auto there = other.state().runs().runs();
  for (std::size_t i = 0; i < here.size(); ++i) {
    const auto found = std::ranges::find_if(there, [&](const WaitingRun& run) {
      return is_same_run(run.run->run()->ref(), here[i].run->run()->ref());
    });
    if (found != there.end()) shared_[i] = static_cast<std::size_t>(found - there.begin());
  }
}

Result<void> GroupItems::read(std::uint32_t group, bool is_same_number, const Advance& advance,
                              std::vector<DiffItem>& out) {
  out.clear();
  for (const Item& item : state().groups()[group].items.all()) {
    CRAWLSTORE_TRY(add_held(item, 0, false, out));
  }
  CRAWLSTORE_TRY(for_each_of(later_, group, [&](const LaterItem& later) {
    return add_held(later.item, later.time, false, out);
  }));
  CRAWLSTORE_TRY(for_each_of(leases_, group, [&](const Lease& lease) {
    return add_held(lease.item, lease.until, true, out);
  }));
  auto dead = dead_of(group);
  const bool skips = is_same_number && other_ != nullptr && dead.empty() &&
                     other_->state().runs().dead().count(group) == 0;
  std::vector<std::pair<std::size_t, format::ItemRange>> ranges;
  state().runs().for_each_of(group, [&](std::size_t run, format::ItemRange items) {
    if (skips && shared_[run]) {
      const WaitingRun& there = other_->state().runs().runs()[*shared_[run]];
      items.end = std::min(items.end, there.waiting_at(*there.run->place_of(group)).begin);
    }
    ranges.emplace_back(run, items);
  });
  constexpr std::uint64_t kItemsAStep = 4096;
  for (const auto& [run, items] : ranges) {
    for (std::uint64_t begin = items.begin; begin < items.end; begin += kItemsAStep) {
      const std::uint64_t end = std::min(items.end, begin + kItemsAStep);
      CRAWLSTORE_TRY(add_range(run, {begin, end}, dead, out));
      CRAWLSTORE_TRY(advance(end - begin));
    }
  }
  return {};
}

Result<std::string> GroupItems::body(const DiffItem& item) {
  if (item.held != nullptr) return item.held->text();
  const ItemRun& run = *state().runs().runs()[item.run].run;
  const std::size_t block = run.block_of(item.number);
  CRAWLSTORE_TRY(const auto* const content, block_at(item.run, block));
  const auto bytes = content->body(item.number - run.first_item_of(block));
  return std::string(static_cast<const char*>(static_cast<const void*>(bytes.data())),
                     bytes.size());
}

std::uint64_t GroupItems::count(std::uint32_t group) const {
  const Group& of = state().groups()[group];
  return of.items.size() + of.later_count + of.leased_count + state().runs().count(group);
}

Result<void> GroupItems::add_held(const Item& item, std::uint64_t time, bool is_leased,
                                  std::vector<DiffItem>& out) {
  CRAWLSTORE_TRY(const std::string body, item.body.text());
  const std::uint64_t hash = hash_of(body.data(), body.size());
  const bool has_come = !is_leased && time <= how_.clock;
  out.push_back({.key = how_.by_body ? hash : item.id,
                 .id = item.id,
                 .order = item.order,
                 .time = has_come ? 0 : time,
                 .body_hash = hash,
                 .held = &item.body,
                 .attempt = item.attempt,
                 .is_leased = is_leased});
  return {};
}

Result<void> GroupItems::add_range(std::size_t run, const format::ItemRange& range,
                                   DeadOfGroup& dead, std::vector<DiffItem>& out) {
  const ItemRun& items = *state().runs().runs()[run].run;
  for (std::uint64_t number = range.begin; number < range.end;) {
    const std::size_t block = items.block_of(number);
    CRAWLSTORE_TRY(const auto* const content, block_at(run, block));
    const std::uint64_t first = items.first_item_of(block);
    const std::uint64_t end = std::min(range.end, first + content->items.size());
    for (; number < end; ++number) {
      const format::Item& item = content->items[number - first];
      const auto mark =
          std::lower_bound(dead.begin(), dead.end(), item.id,
                           [](const auto& entry, std::uint64_t id) { return entry.first < id; });
      if (mark != dead.end() && mark->first == item.id && items.id() <= mark->second.run &&
          mark->second.count != 0) {
        --mark->second.count;
        continue;
      }
      const auto body = content->body(number - first);
      const std::uint64_t hash = hash_of(body.data(), body.size());
      out.push_back({.key = how_.by_body ? hash : item.id,
                     .id = item.id,
                     .order = item.order,
                     .body_hash = hash,
                     .number = number,
                     .run = static_cast<std::uint8_t>(run)});
    }
  }
  return {};
}

Result<const format::ItemBlock*> GroupItems::block_at(std::size_t run, std::size_t number) {
  OpenBlock& open = blocks_[run];
  if (open.number != number) {
    open.number.reset();
    CRAWLSTORE_TRY(state().runs().runs()[run].run->read_block(number, open.content));
    open.number = number;
  }
  return &open.content;
}

GroupItems::DeadOfGroup GroupItems::dead_of(std::uint32_t group) const {
  DeadOfGroup dead;
  const auto& all = state().runs().dead().all();
  auto at = all.lower_bound({group, 0});
  for (; at != all.end() && at->first.first == group; ++at) {
    dead.emplace_back(at->first.second, at->second);
  }
  return dead;
}

}  // namespace crawlstore::frontier
