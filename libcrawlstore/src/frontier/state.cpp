// SPDX-License-Identifier: Apache-2.0
//
// Invariant: the schedule has each group that has an item to take, is active and has not its full
// number in flight, at the times of its numbers; but for those that somebody hides. Where it has
// the best item of a group, is_best_known; else it has order 0 and id 0, before all others.
#include "frontier/state.h"

#include <algorithm>
#include <span>
#include <string>
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
  runs_.set(std::move(waiting));
  for (std::uint32_t group = 0; group < groups_.count(); ++group) {
    if (runs_.has(group)) place(group);
  }
  return {};
}

void State::rearrange(std::vector<WaitingRun> runs, bool stores_items) {
  if (stores_items) {
    for (std::uint32_t group = 0; group < groups_.count(); ++group) {
      groups_[group].items.erase_if([](const Item& item) { return item.attempt == 0; });
    }
  }
  runs_.set(std::move(runs));
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
    place(*group, best);
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

std::optional<LaterItem> State::take_waiting(std::uint32_t group, std::uint64_t id) {
  std::optional<LaterItem> found;
  if (auto item = groups_[group].items.take(id)) {
    found = LaterItem{0, group, *std::move(item)};
  } else if (groups_[group].later_count != 0) {
    found = later_.take(group, id);
    if (found) --groups_[group].later_count;
  }
  if (!found) return std::nullopt;
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
  visitable.soft_from = from(of.soft_time, setting.rule.soft_ms);
  visitable.hard_from = from(of.hard_time, setting.rule.hard_ms);
  schedule_.set(group, visitable);
}

}  // namespace crawlstore::frontier
