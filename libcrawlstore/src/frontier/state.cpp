// SPDX-License-Identifier: Apache-2.0
//
// Invariant: the schedule has each group that has an item to take, is active and has not its full
// number in flight, at the times of its numbers; but for those that somebody hides. Where it has
// the best item of a group, is_best_known; else it has order 0 and id 0, before all others.
#include "frontier/state.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/queue_run.h"
#include "frontier/intervals.h"

namespace crawlstore::frontier {
namespace {}  // namespace

std::optional<std::uint32_t> State::group_of_again(std::uint64_t id) const {
  const auto found = again_.find(id);
  return found == again_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint64_t> State::next_due() const {
  auto due = schedule_.due();
  const auto earlier = [&due](std::uint64_t time) { due = due ? std::min(*due, time) : time; };
  if (!later_.is_empty()) earlier(later_.first_time());
  if (leases_.first_end() != 0) earlier(leases_.first_end());
  return due;
}

Result<void> State::add_runs(const std::vector<ItemRunPtr>& runs) {
  if (runs.size() > WaitingRuns::kMax) {
    return fail(Errc::kUnknownFeature, "a frontier has more runs of items than this version reads");
  }
  std::vector<WaitingRun> waiting;
  for (const ItemRunPtr& run : runs) {
    if (run->group(run->group_count() - 1) >= groups_.count()) {
      return fail(Errc::kSegmentInvalid, "a run of items is of groups that are none");
    }
    waiting_count_ += run->item_count();
    waiting.emplace_back(run);
  }
  runs_.set({std::move(waiting), {}});
  for (std::uint32_t group = 0; group < groups_.count(); ++group) {
    if (runs_.has(group)) place(group);
  }
  return {};
}

void State::rearrange(ItemsInRuns items, bool stores_items, std::uint64_t left_out_count) {
  waiting_count_ -= left_out_count;
  if (stores_items) {
    for (std::uint32_t group = 0; group < groups_.count(); ++group) {
      groups_[group].items.erase_if([](const Item& item) { return item.attempt == 0; });
    }
  }
  runs_.set(std::move(items));
}

Result<void> State::hold_bodies() {
  for (std::uint32_t group = 0; group < groups_.count(); ++group) {
    CRAWLSTORE_TRY(groups_[group].items.hold_bodies());
  }
  CRAWLSTORE_TRY(later_.hold_bodies());
  return leases_.hold_bodies();
}

void State::wake(std::size_t count_max) {
  for (std::size_t i = 0; i < count_max; ++i) {
    const auto group = schedule_.wake();
    if (!group) return;
    place(*group);
  }
}

Result<std::optional<std::uint32_t>> State::next_group() {
  for (;;) {
    const auto group = schedule_.next();
    if (!group || groups_[*group].is_best_known) return group;
    CRAWLSTORE_TRY(const auto best, Coming(groups_[*group].items, runs_, *group).next());
    if (!best) {  // a file may tell so many dead entries that none is left
      schedule_.remove(*group);
    } else {
      place(*group, best);
    }
  }
}

void State::wait(std::uint32_t group, Item item, std::uint64_t time) {
  if (item.attempt != 0) again_.insert_or_assign(item.id, group);
  next_id_ = std::max(next_id_, item.id + 1);
  ++waiting_count_;
  if (time > clock_) {
    ++groups_[group].later_count;
    later_.put({time, group, std::move(item)});
  } else {
    groups_[group].items.put(std::move(item));
  }
  place(group);
}

Result<std::optional<LaterItem>> State::take_waiting(std::uint32_t group, std::uint64_t id) {
  std::optional<LaterItem> found;
  if (auto item = groups_[group].items.take(id)) {
    found = LaterItem{0, group, *std::move(item)};
  } else if (groups_[group].later_count != 0) {
    found = later_.take(group, id);
    if (found) --groups_[group].later_count;
  }
  if (!found) {
    CRAWLSTORE_TRY(const auto entry, find_in_runs(runs_, group, id));
    if (!entry) return found;
    const ItemRunPtr run = runs_.runs()[entry->run].run;
    runs_.end(group, id, {run->id(), 1});
    // No run begins with a dead entry of a group: then whoever has entries has items that wait.
    Coming coming(groups_[group].items, runs_, group);
    CRAWLSTORE_TRY(coming.look());
    coming.leave(runs_);
    found = LaterItem{0, group, {entry->order, id, 0, Body(run, entry->number)}};
  }
  again_.erase(id);
  --waiting_count_;
  return found;
}

void State::place(std::uint32_t group, const std::optional<ComingItem>& best) {
  Group& of = groups_[group];
  const GroupSetting& setting = groups_.setting(group);
  const bool is_in_runs = runs_.has(group);
  if ((of.items.is_empty() && !is_in_runs) || !setting.is_active ||
      of.leased_count >= setting.rule.in_flight_max) {
    return schedule_.remove(group);
  }
  of.is_best_known = best || !is_in_runs;
  Visitable visitable;
  if (best) {
    visitable = {best->order, best->id};
  } else if (!is_in_runs) {
    visitable = {of.items.first().order, of.items.first().id};
  }
  const auto from = [&](std::uint64_t next, std::uint64_t interval) {
    const auto ms = stretched(interval, of.failure_count);
    return std::max(setting.blocked_until, with_burst(next, ms, setting.rule.burst));
  };
  visitable.hard_from = from(of.hard_time, setting.rule.hard_ms);
  visitable.soft_from = std::max(visitable.hard_from, from(of.soft_time, setting.rule.soft_ms));
  schedule_.set(group, visitable);
}

Result<bool> is_waiting(const State& state, std::uint32_t group, std::uint64_t id) {
  const auto is_it = [&](const Item& item) { return item.id == id; };
  if (std::ranges::any_of(state.groups()[group].items.all(), is_it)) return true;
  const auto is_later = [&](const LaterItem& later) {
    return later.group == group && is_it(later.item);
  };
  if (state.groups()[group].later_count != 0 &&
      std::ranges::any_of(state.later().all(), is_later)) {
    return true;
  }
  CRAWLSTORE_TRY(const auto entry, find_in_runs(state.runs(), group, id));
  return entry.has_value();
}

Result<std::vector<VisitedItem>> items_of_visit(const State& state, Coming& coming,
                                                std::uint32_t count) {
  std::vector<VisitedItem> items;
  std::unordered_set<std::uint64_t, SeededHash> ids;
  while (ids.size() < count) {
    CRAWLSTORE_TRY(const auto item, coming.next());
    if (!item) break;
    const bool was_taken = item->held != nullptr && item->held->attempt != 0;
    const bool is_twice =
        state.leases().find(item->id) != nullptr || (!was_taken && state.group_of_again(item->id));
    items.push_back({*item, !is_twice && ids.insert(item->id).second});
  }
  return items;
}

}  // namespace crawlstore::frontier
