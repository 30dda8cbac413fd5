// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a run that both states have is of the same bytes in both, so its directory is, too;
// what waits of it in both is left out on both sides, or on neither.
#include "frontier/group_items.h"

#include <algorithm>
#include <tuple>

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
    : of_(of),
      how_(how),
      shared_(of.state.runs().all().size() + of.state.later().runs().size()),
      blocks_(shared_.size()) {
  for (const LaterItem& item : of.state.later().held()) later_.emplace_back(item.group, &item);
  for (const auto& [id, lease] : of.state.leases().all()) leases_.emplace_back(lease.group, &lease);
  std::sort(later_.begin(), later_.end(), kByGroup);
  std::sort(leases_.begin(), leases_.end(), kByGroup);
}

const ItemRun& GroupItems::run_at(std::size_t run) const {
  const auto& by_group = state().runs().all();
  if (run < by_group.size()) return *by_group[run].run;
  return *state().later().runs()[run - by_group.size()].run();
}

void GroupItems::skip_runs_of(const GroupItems& other) {
  other_ = &other;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    for (std::size_t k = 0; k < other.shared_.size(); ++k) {
      if (is_same_run(run_at(i).run()->ref(), other.run_at(k).run()->ref())) shared_[i] = k;
    }
  }
}

Result<void> GroupItems::list_later() {
  const auto& runs = state().later().runs();
  const std::size_t first = state().runs().all().size();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto shared = shared_[first + i];
    const LaterRun* const there =
        shared ? &other_->state().later().runs()[*shared - other_->state().runs().all().size()]
               : nullptr;
    CRAWLSTORE_TRY(for_each_item(runs[i], [&](std::uint64_t number, const format::Item& item) {
      if (there == nullptr || !there->has(number)) {
        stored_later_.push_back({item.group, static_cast<std::uint8_t>(first + i), number});
      }
      return true;
    }));
  }
  std::sort(stored_later_.begin(), stored_later_.end(),
            [](const LaterPlace& a, const LaterPlace& b) {
              return std::tuple(a.group, a.run, a.number) < std::tuple(b.group, b.run, b.number);
            });
  return {};
}

/// Says whether an item of a group that has not left is gone.
bool GroupItems::has_gone(std::uint32_t group) const {
  bool found = false;
  state().runs().for_each_of(group, [&](std::size_t run, const format::ItemRange& items) {
    found = found || state().runs().all()[run].gone.count(items.begin, items.end) != 0;
  });
  return found;
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
  const auto before = [](const LaterPlace& place, std::uint32_t number) {
    return place.group < number;
  };
  auto later = std::lower_bound(stored_later_.begin(), stored_later_.end(), group, before);
  for (; later != stored_later_.end() && later->group == group; ++later) {
    CRAWLSTORE_TRY(add_stored(later->run, later->number, out));
  }
  const bool skips =
      is_same_number && other_ != nullptr && !has_gone(group) && !other_->has_gone(group);
  std::vector<std::pair<std::size_t, format::ItemRange>> ranges;
  state().runs().for_each_of(group, [&](std::size_t run, format::ItemRange items) {
    if (skips && shared_[run]) {
      const WaitingRun& there = other_->state().runs().all()[*shared_[run]];
      items.end = std::min(items.end, there.waiting_at(*there.run->place_of(group)).begin);
    }
    ranges.emplace_back(run, items);
  });
  constexpr std::uint64_t kItemsAStep = 4096;
  for (const auto& [run, items] : ranges) {
    for (std::uint64_t begin = items.begin; begin < items.end; begin += kItemsAStep) {
      const std::uint64_t end = std::min(items.end, begin + kItemsAStep);
      CRAWLSTORE_TRY(add_range(run, {begin, end}, out));
      CRAWLSTORE_TRY(advance(end - begin));
    }
  }
  return {};
}

Result<std::string> GroupItems::body(const DiffItem& item) {
  if (item.held != nullptr) return item.held->text();
  const ItemRun& run = run_at(item.run);
  const std::size_t block = run.block_of(item.number);
  CRAWLSTORE_TRY(const auto* const content, block_at(item.run, block));
  const auto bytes = content->body(item.number - run.first_item_of(block));
  return std::string(static_cast<const char*>(static_cast<const void*>(bytes.data())),
                     bytes.size());
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
                                   std::vector<DiffItem>& out) {
  const GoneItems& gone = state().runs().all()[run].gone;
  for (std::uint64_t number = range.begin; number < range.end; ++number) {
    if (gone.has(number)) continue;
    CRAWLSTORE_TRY(add_stored(run, number, out));
  }
  return {};
}

Result<void> GroupItems::add_stored(std::size_t run, std::uint64_t number,
                                    std::vector<DiffItem>& out) {
  const std::size_t block = run_at(run).block_of(number);
  CRAWLSTORE_TRY(const auto* const content, block_at(run, block));
  const auto place = static_cast<std::size_t>(number - run_at(run).first_item_of(block));
  const format::Item& item = content->items[place];
  const auto body = content->body(place);
  const std::uint64_t hash = hash_of(body.data(), body.size());
  out.push_back({.key = how_.by_body ? hash : item.id,
                 .id = item.id,
                 .order = item.order,
                 .time = item.time <= how_.clock ? 0 : item.time,
                 .body_hash = hash,
                 .number = number,
                 .run = static_cast<std::uint8_t>(run)});
  return {};
}

Result<const format::ItemBlock*> GroupItems::block_at(std::size_t run, std::size_t number) {
  OpenBlock& open = blocks_[run];
  if (open.number != number) {
    open.number.reset();
    CRAWLSTORE_TRY(run_at(run).read_block(number, open.content));
    open.number = number;
  }
  return &open.content;
}

}  // namespace crawlstore::frontier
