// SPDX-License-Identifier: Apache-2.0
//
// Invariant: the schedule has each group that has an item to take, is active and has not its full
// number in flight, at the times of its numbers; but for those that somebody hides.
#include "frontier/state.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/queue_run.h"
#include "frontier/intervals.h"

namespace crawlstore::frontier {
namespace {

using format::AgainStep;
using format::ClockStep;
using format::kRuleActive;
using format::kRuleBlocked;
using format::kRuleBurst;
using format::kRuleHard;
using format::kRuleInFlight;
using format::kRuleSoft;
using format::LeasedStep;
using format::PutStep;
using format::queue_priority;
using format::RuleStep;
using format::StepBytes;
using format::TimesStep;
using format::VisitStep;

StepBytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// Pointers to items in the order of their ids: equal states are told alike, and in fewer bytes.
std::vector<const Item*> by_id(const std::vector<Item>& items) {
  std::vector<const Item*> sorted;
  sorted.reserve(items.size());
  for (const Item& item : items) sorted.push_back(&item);
  std::ranges::sort(sorted, {}, [](const Item* item) { return item->id; });
  return sorted;
}

}  // namespace

Result<void> State::add_group(std::string_view key) {
  if (!groups_.add(key)) {
    return fail(Errc::kSegmentInvalid, "two groups of a frontier have one key");
  }
  return {};
}

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

VisitStep State::visit_of(std::uint32_t group, std::uint32_t count_max) const {
  const Group& of = groups_[group];
  const std::uint32_t in_flight_max = groups_.setting(group).rule.in_flight_max;
  const std::uint32_t more = in_flight_max - std::min(in_flight_max, of.leased_count);
  const std::uint64_t count = std::min<std::uint64_t>({count_max, more, of.items.size()});
  const std::uint64_t sum = of.items.sum_of_ids(count);
  return {group, static_cast<std::uint32_t>(count), static_cast<std::uint16_t>(sum)};
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

void State::place(std::uint32_t group) {
  const Group& of = groups_[group];
  const GroupSetting& setting = groups_.setting(group);
  if (of.items.is_empty() || !setting.is_active || of.leased_count >= setting.rule.in_flight_max) {
    return schedule_.remove(group);
  }
  const auto from = [&](std::uint64_t next, std::uint64_t interval) {
    const auto ms = stretched(interval, of.failure_count);
    return std::max(setting.blocked_until, with_burst(next, ms, setting.rule.burst));
  };
  const Item& best = of.items.first();
  schedule_.set(group, {best.order, best.id, from(of.soft_time, setting.rule.soft_ms),
                        from(of.hard_time, setting.rule.hard_ms)});
}

void State::write_piece(std::uint32_t first_group, std::uint32_t end_group,
                        const Write& write) const {
  const auto write_waiting = [&write](std::uint32_t group, const Item& item, std::uint64_t time) {
    const double priority = queue_priority(item.order);
    if (item.attempt == 0) {
      write(PutStep{group, item.id, priority, time, bytes_of(item.body)});
    } else {
      write(AgainStep{group, item.id, priority, time, item.attempt, bytes_of(item.body)});
    }
  };
  if (clock_ != 0) write(ClockStep{clock_});
  for (std::uint32_t group = first_group; group < end_group; ++group) {
    const Group& of = groups_[group];
    if (groups_.has_setting(group)) {
      const auto& [rule, blocked_until, is_active] = groups_.setting(group);
      RuleStep step{
          group, kRuleSoft | kRuleHard | kRuleBurst | kRuleInFlight | kRuleBlocked | kRuleActive};
      step.soft_ms = rule.soft_ms;
      step.hard_ms = rule.hard_ms;
      step.burst = rule.burst;
      step.in_flight_max = rule.in_flight_max;
      step.blocked_until = blocked_until;
      step.is_active = is_active;
      write(step);
    }
    if (of.soft_time != 0 || of.hard_time != 0 || of.failure_count != 0) {
      write(TimesStep{group, of.soft_time, of.hard_time, of.failure_count});
    }
    for (const Item* item : by_id(of.items.all())) write_waiting(group, *item, 0);
  }
  const auto is_here = [&](std::uint32_t group) {
    return group >= first_group && group < end_group;
  };
  std::vector<const LaterItem*> later;
  for (const LaterItem& item : later_.all()) {
    if (is_here(item.group)) later.push_back(&item);
  }
  std::ranges::sort(later, {}, [](const LaterItem* item) { return item->item.id; });
  for (const LaterItem* item : later) write_waiting(item->group, item->item, item->time);
  std::vector<const Lease*> leases;
  for (const auto& [id, lease] : leases_.all()) {
    if (is_here(lease.group)) leases.push_back(&lease);
  }
  std::ranges::sort(leases, {}, [](const Lease* lease) { return lease->item.id; });
  for (const Lease* lease : leases) {
    write(LeasedStep{lease->group, lease->item.id, queue_priority(lease->item.order), lease->until,
                     lease->item.attempt, bytes_of(lease->item.body)});
  }
}

}  // namespace crawlstore::frontier
