// SPDX-License-Identifier: Apache-2.0
#include "frontier/piece.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "format/queue_run.h"

namespace crawlstore::frontier {
namespace {

using format::AgainStep;
using format::ClockStep;
using format::CountsStep;
using format::kRuleActive;
using format::kRuleBlocked;
using format::kRuleBurst;
using format::kRuleFinished;
using format::kRuleHard;
using format::kRuleInFlight;
using format::kRuleParent;
using format::kRulePut;
using format::kRuleSoft;
using format::LeasedStep;
using format::PutStep;
using format::queue_priority;
using format::RuleStep;
using format::StepBytes;
using format::TimesStep;

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

/// Writes what has left the runs of the groups of a piece, which come in ascending order, and what
/// is gone.
class LeftItems {
 public:
  LeftItems(const Piece& piece, const WriteStep& write) : runs_(piece.items.runs), write_(write) {
    for (const WaitingRun& run : runs_) {
      std::size_t place = 0;
      const auto below = [&](std::size_t i) { return run.run->group(i) < piece.first_group; };
      for (std::size_t end = run.run->group_count(); place < end;) {  // a binary search
        const std::size_t middle = place + (end - place) / 2;
        below(middle) ? place = middle + 1 : end = middle;
      }
      places_.push_back(place);
    }
  }
  void write(std::uint32_t group) {
    counts_.clear();
    gone_.clear();
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const WaitingRun& run = runs_[i];
      if (places_[i] == run.run->group_count() || run.run->group(places_[i]) != group) continue;
      const std::size_t place = places_[i]++;
      if (run.left[place] != 0) counts_.push_back({run.run->id().value, run.left[place]});
      note_gone(run, run.waiting_at(place));
    }
    if (!counts_.empty()) write_(format::LeftStep{group, counts_});
    for (const auto& [run, number] : gone_) write_(format::GoneStep{group, run, number});
  }

 private:
  void note_gone(const WaitingRun& run, const format::ItemRange& items) {
    if (run.gone.count(items.begin, items.end) == 0) return;
    for (std::uint64_t number = items.begin; number < items.end; ++number) {
      if (run.gone.has(number)) gone_.emplace_back(run.run->id().value, number);
    }
  }

  std::span<const WaitingRun> runs_;
  const WriteStep& write_;
  std::vector<std::size_t> places_;  // of each run the first that is not below the next group
  std::vector<format::RunCount> counts_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gone_;  // run and number
};

std::optional<std::uint64_t> told_limit(std::uint64_t count_max) {
  return count_max == format::kNoLimit ? std::nullopt : std::optional(count_max);
}

/// The rule of a group that has its own.
RuleStep rule_of(std::uint32_t group, const GroupSetting& setting) {
  const auto& [rule, blocked_until, is_active, parent] = setting;
  RuleStep step{group, kRuleSoft | kRuleHard | kRuleBurst | kRuleInFlight | kRulePut |
                           kRuleFinished | kRuleBlocked | kRuleActive | kRuleParent};
  step.soft_ms = rule.soft_ms;
  step.hard_ms = rule.hard_ms;
  step.burst = rule.burst;
  step.in_flight_max = rule.in_flight_max;
  step.put_max = told_limit(rule.put_max);
  step.finished_max = told_limit(rule.finished_max);
  step.blocked_until = blocked_until;
  step.is_active = is_active;
  step.parent = parent;
  return step;
}

}  // namespace

Result<std::vector<format::GoneStep>> gone_later(const StoredItems& items, std::uint64_t clock) {
  std::vector<format::GoneStep> steps;
  for (const LaterRun& run : items.later) {
    std::vector<std::uint64_t> numbers;
    run.gone().for_each([&numbers](std::uint64_t number) { numbers.push_back(number); });
    for (const std::uint64_t number : numbers) {
      CRAWLSTORE_TRY(const auto item, run.run()->item(number));
      if (item.time > clock) steps.push_back({item.group, run.run()->id().value, number});
    }
  }
  std::ranges::stable_sort(steps, {}, &format::GoneStep::group);
  return steps;
}

Result<void> write_piece(const State& state, const Piece& piece, const WriteStep& write) {
  const auto write_waiting = [&write](std::uint32_t group, const Item& item,
                                      std::uint64_t time) -> Result<void> {
    const double priority = queue_priority(item.order);
    CRAWLSTORE_TRY(const std::string body, item.body.text());
    if (item.attempt == 0) {
      write(PutStep{group, item.id, priority, time, bytes_of(body)});
    } else {
      write(AgainStep{group, item.id, priority, time, item.attempt, bytes_of(body)});
    }
    return {};
  };
  if (state.clock() != 0) write(ClockStep{state.clock()});
  LeftItems left(piece, write);
  for (std::uint32_t group = piece.first_group; group < piece.end_group; ++group) {
    const Group& of = state.groups()[group];
    if (state.groups().has_setting(group)) write(rule_of(group, state.groups().setting(group)));
    if (of.soft_time != 0 || of.hard_time != 0 || of.failure_count != 0) {
      write(TimesStep{group, of.soft_time, of.hard_time, of.failure_count});
    }
    if (of.put_count != 0 || of.finished_count != 0) {
      write(CountsStep{group, of.put_count, of.finished_count});
    }
    left.write(group);
    for (const Item* item : by_id(of.items.all())) {
      if (piece.items.has_waiting && item->attempt == 0) continue;
      CRAWLSTORE_TRY(write_waiting(group, *item, 0));
    }
  }
  const auto is_here = [&](std::uint32_t group) {
    return group >= piece.first_group && group < piece.end_group;
  };
  std::vector<const LaterItem*> later;
  for (const LaterItem& item : state.later().held()) {
    if (is_here(item.group) && !(piece.items.has_later && item.item.attempt == 0)) {
      later.push_back(&item);
    }
  }
  std::ranges::sort(later, {}, [](const LaterItem* item) { return item->item.id; });
  for (const LaterItem* item : later) {
    CRAWLSTORE_TRY(write_waiting(item->group, item->item, item->time));
  }
  for (const format::GoneStep& gone : piece.gone_later) write(gone);
  std::vector<const Lease*> leases;
  for (const auto& [id, lease] : state.leases().all()) {
    if (is_here(lease.group)) leases.push_back(&lease);
  }
  std::ranges::sort(leases, {}, [](const Lease* lease) { return lease->item.id; });
  for (const Lease* lease : leases) {
    CRAWLSTORE_TRY(const std::string body, lease->item.body.text());
    write(LeasedStep{lease->group, lease->item.id, queue_priority(lease->item.order), lease->until,
                     lease->item.attempt, bytes_of(body)});
  }
  return {};
}

}  // namespace crawlstore::frontier
