// SPDX-License-Identifier: Apache-2.0
//
// Invariant: the schedule has each group that has an item to take, is active and has not its full
// number in flight, at the times of its numbers; but for those that somebody hides. Where it has
// the best item of a group, is_best_known; else it has order 0 and id 0, before all others. Behind
// wake() those in front of it are there by the rules of their parents, too; the others no later.
#include "frontier/state.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/queue_run.h"
#include "frontier/visit_times.h"

namespace crawlstore::frontier {
namespace {

constexpr const char* kNoGroup = "a run of items is of groups that are none";

/// Notes the best item in runs, where a walk has looked for it.
void note_first(const Coming& coming, Group& group) {
  const format::Item* const first = coming.first_in_runs();
  group.is_run_known = first != nullptr;
  if (first == nullptr) return;
  group.run_order = first->order;
  group.run_id = first->id;
}

}  // namespace

std::optional<std::uint64_t> State::next_due() const {
  auto due = schedule_.due();
  const auto earlier = [&due](std::uint64_t time) { due = due ? std::min(*due, time) : time; };
  if (later_.first_time() != 0) earlier(later_.first_time());
  if (leases_.first_end() != 0) earlier(leases_.first_end());
  return due;
}

Result<void> State::add_runs(const std::vector<ItemRunPtr>& runs) {
  if (runs.size() > WaitingRuns::kMax) {
    return fail(Errc::kUnknownFeature, "a frontier has more runs of items than this version reads");
  }
  std::vector<WaitingRun> waiting;
  for (const ItemRunPtr& run : runs) {
    if (run->is_by_time()) {
      CRAWLSTORE_TRY(add_later_run(run));
      continue;
    }
    if (run->group(run->group_count() - 1) >= groups_.count()) {
      return fail(Errc::kSegmentInvalid, kNoGroup);
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

Result<void> State::add_later_run(const ItemRunPtr& run) {
  CRAWLSTORE_TRY(auto later, LaterRun::open(run));
  bool is_known = true;
  CRAWLSTORE_TRY(for_each_item(later, [&](std::uint64_t /*number*/, const format::Item& item) {
    is_known = item.group < groups_.count();
    if (is_known) ++groups_[item.group].later_count;
    return is_known;
  }));
  if (!is_known) return fail(Errc::kSegmentInvalid, kNoGroup);
  waiting_count_ += run->item_count();
  later_.add_run(std::move(later));
  return {};
}

Result<void> State::begin(std::uint64_t clock) {
  std::vector<LaterRun> runs = later_.runs();
  for (LaterRun& run : runs) {
    LaterRun::Rest rest{run.run()->item_count(), 0};
    bool is_known = true;
    CRAWLSTORE_TRY(for_each_item(run, [&](std::uint64_t number, const format::Item& item) {
      is_known = item.group < groups_.count();
      if (item.time > clock) rest = {number, item.time};
      if (item.time > clock || !is_known) return false;
      --groups_[item.group].later_count;
      --waiting_count_;
      return true;
    }));
    if (!is_known) return fail(Errc::kSegmentInvalid, kNoGroup);
    run.leave(rest);
  }
  later_.set_runs(std::move(runs));
  return {};
}

void State::rearrange(StoredItems items) {
  for (std::uint32_t group = 0; items.has_waiting && group < groups_.count(); ++group) {
    Group& of = groups_[group];
    bool is_first = !runs_.has(group);  // of what is in runs
    of.is_run_known = (of.is_run_known || is_first) && !items.is_rewritten;
    of.items.erase_if([&](const Item& item) {
      if (item.attempt != 0) return false;
      if (is_first || std::pair(item.order, item.id) < std::pair(of.run_order, of.run_id)) {
        of.run_order = item.order;
        of.run_id = item.id;
      }
      is_first = false;
      return true;
    });
  }
  waiting_count_ -= items.left_out.size();
  for (const format::Item& item : items.left_out) {
    if (item.time != 0) --groups_[item.group].later_count;
  }
  runs_.set(std::move(items.runs));
  later_.rearrange(std::move(items.later), items.has_later);
  for (std::uint32_t group = 0; items.is_rewritten && group < groups_.count(); ++group) {
    place(group);
  }
}

Result<void> State::hold_bodies() {
  for (std::uint32_t group = 0; group < groups_.count(); ++group) {
    CRAWLSTORE_TRY(groups_[group].items.hold_bodies());
  }
  CRAWLSTORE_TRY(later_.hold_bodies());
  return leases_.hold_bodies();
}

/// A visit to a group makes its parent and others of its children wait: they are found out when
/// they are in front, so that no visit looks at all of them.
void State::wake(std::size_t count_max) {
  for (const std::uint32_t group : groups_.take_opened()) place(group);
  for (std::size_t i = 0; i < count_max; ++i) {
    const auto group = schedule_.wake();
    if (!group) break;
    place(*group);
  }
  if (groups_.families().is_empty()) return;
  for (Schedule::Front front = schedule_.front();;) {
    if (front.ready) place(*front.ready);
    if (front.by_time) place(*front.by_time);
    if (std::exchange(front, schedule_.front()) == schedule_.front()) return;
  }
}

Result<std::optional<std::uint32_t>> State::next_group(TakeOrder order,
                                                       std::optional<std::uint32_t> only) {
  wake(0);
  if (only) {
    place(*only);
    return schedule_.may_visit(*only) ? only : std::nullopt;
  }
  for (;;) {
    const auto group = schedule_.next(order);
    if (!group || order != TakeOrder::kBest || groups_[*group].is_best_known) return group;
    Coming coming(groups_[*group].items, runs_, *group);
    CRAWLSTORE_TRY(coming.look());
    note_first(coming, groups_[*group]);
    place(*group);
  }
}

void State::wait(std::uint32_t group, Item item, std::uint64_t time) {
  if (item.attempt != 0) leases_.put_again(item.id, group);
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

/// Takes an item that waits in memory.
std::optional<LaterItem> State::take_held(std::uint32_t group, std::uint64_t id, bool is_again) {
  std::optional<LaterItem> found;
  if (auto item = groups_[group].items.take(id, is_again)) {
    found = LaterItem{0, group, *std::move(item)};
  } else if (groups_[group].later_count != 0) {
    found = later_.take(group, id, is_again);
    if (found) --groups_[group].later_count;
  }
  if (!found) return found;
  if (found->item.attempt != 0) leases_.forget_again(id);
  --waiting_count_;
  return found;
}

void State::place(std::uint32_t group) {
  Group& of = groups_[group];
  const GroupSetting& setting = groups_.setting(group);
  const bool is_in_runs = runs_.has(group);
  if ((of.items.is_empty() && !is_in_runs) || !groups_.has_room(group, setting)) {
    return schedule_.remove(group);
  }
  if (setting.parent && !groups_.has_room(*setting.parent, groups_.setting(*setting.parent))) {
    groups_.park(*setting.parent, group);
    return schedule_.remove(group);
  }
  const Item* const held = of.items.is_empty() ? nullptr : &of.items.first();
  const bool is_again = held != nullptr && held->attempt != 0;
  of.is_best_known = is_again || !is_in_runs || of.is_run_known;
  Visitable visitable;
  if (of.is_best_known) {
    const bool is_held =
        held != nullptr && (is_again || !is_in_runs ||
                            std::pair(held->order, held->id) < std::pair(of.run_order, of.run_id));
    visitable = is_held ? Visitable{held->order, held->id} : Visitable{of.run_order, of.run_id};
  }
  const VisitTimes times = visit_times(groups_, of, setting);
  visitable.soft_from = times.soft_from;
  visitable.hard_from = times.hard_from;
  schedule_.set(group, visitable);
}

namespace {

/// An item that leaves with a visit. One whose id is leased, or was taken and waits again, came to
/// wait twice: it is gone.
struct VisitedItem {
  ComingItem item;
  bool is_taken = false;
};

/// Walks until so many can be taken, or there are no more.
Result<std::vector<VisitedItem>> items_of_visit(const State& state, Coming& coming,
                                                std::uint32_t count) {
  std::vector<VisitedItem> items;
  std::unordered_set<std::uint64_t, SeededHash> ids;
  while (ids.size() < count) {
    CRAWLSTORE_TRY(const auto item, coming.next());
    if (!item) break;
    const bool was_taken = item->held != nullptr && item->held->attempt != 0;
    const bool is_twice = state.leases().find(item->id) != nullptr ||
                          (!was_taken && state.leases().group_of_again(item->id));
    items.push_back({*item, !is_twice && ids.insert(item->id).second});
  }
  return items;
}

format::VisitStep visit_of(std::uint32_t group, const std::vector<VisitedItem>& items) {
  format::VisitStep visit{group, 0, 0};
  std::uint64_t sum = 0;
  for (const auto& [item, is_taken] : items) {
    if (!is_taken) continue;
    sum += item.id;
    ++visit.count;
  }
  visit.check = static_cast<std::uint16_t>(sum);
  return visit;
}

}  // namespace

Result<format::VisitStep> State::visit(std::uint32_t group, std::uint32_t count_max,
                                       const OnTaken& taken, const format::VisitStep* expected) {
  Group& of = groups_[group];
  std::optional<Coming> coming;
  std::vector<VisitedItem> items;
  format::VisitStep visit{group, count_max, 0};
  do {  // until no item is passed behind the last one that is taken
    coming.emplace(of.items, runs_, group);
    CRAWLSTORE_TRY(items, items_of_visit(*this, *coming, visit.count));
    visit = visit_of(group, items);
  } while (!items.empty() && !items.back().is_taken);
  if (expected != nullptr && visit.count < expected->count) {
    return fail(Errc::kSegmentInvalid, "a visit takes more than waits");
  }
  if (expected != nullptr && visit.check != expected->check) {
    return fail(Errc::kSegmentInvalid, "a visit takes other items than it took");
  }
  schedule_.remove(group);
  if (visit.count == 0) return visit;
  CRAWLSTORE_TRY(coming->look());
  for (const auto& [item, is_taken] : items) {
    Item leased = item.held != nullptr
                      ? of.items.take_first()
                      : Item{item.order, item.id, 0, Body(runs_.all()[item.run].run, item.number)};
    if (!is_taken) continue;
    if (leased.attempt != 0) leases_.forget_again(item.id);
    ++leased.attempt;
    const Lease& lease = leases_.put({group, lease_until_, std::move(leased)});
    if (taken) CRAWLSTORE_TRY(taken(lease));
  }
  coming->leave(runs_);
  note_first(*coming, of);
  groups_.lease(group, visit.count);
  waiting_count_ -= items.size();
  const GroupSetting& setting = groups_.setting(group);
  charge(of, setting.rule, clock_);
  if (setting.parent) {
    charge(groups_[*setting.parent], groups_.setting(*setting.parent).rule, clock_);
  }
  return visit;
}

}  // namespace crawlstore::frontier
