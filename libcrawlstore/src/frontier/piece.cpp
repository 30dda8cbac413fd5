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

std::uint32_t group_of(const format::GoneStep& gone) {
  return gone.group;
}
template <class Held>
std::uint32_t group_of(const Held* held) {
  return held->group;
}
/// Takes those of `group` from the front of `rest`, which ascends by group.
template <class T>
std::span<T> take_group(std::span<T>& rest, std::uint32_t group) {
  const auto end = std::ranges::find_if(rest, [&](const T& of) { return group_of(of) != group; });
  const auto count = static_cast<std::size_t>(end - rest.begin());
  const std::span<T> taken = rest.first(count);
  rest = rest.subspan(count);
  return taken;
}

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

/// Items of a piece that lie in no group's table, by group and id.
struct Scattered {
  std::vector<const LaterItem*> later;
  std::vector<const Lease*> leases;
};

Scattered scattered_of(const State& state, const Piece& piece) {
  const auto is_here = [&piece](std::uint32_t group) {
    return group >= piece.first_group && group < piece.end_group;
  };
  const auto by_group_and_id = [](const auto* of) { return std::pair(of->group, of->item.id); };
  Scattered found;
  for (const LaterItem& item : state.later().held()) {
    const bool is_in_run = piece.items.has_later && item.item.attempt == 0;
    if (is_here(item.group) && !is_in_run) found.later.push_back(&item);
  }
  for (const auto& [id, lease] : state.leases().all()) {
    if (is_here(lease.group)) found.leases.push_back(&lease);
  }
  std::ranges::sort(found.later, {}, by_group_and_id);
  std::ranges::sort(found.leases, {}, by_group_and_id);
  return found;
}

/// Writes the groups of a piece, one after another.
class GroupWriter {
 public:
  GroupWriter(const State& state, const Piece& piece, const WriteStep& write)
      : state_(state), piece_(piece), write_(write), left_(piece, write) {}

  Result<void> write_all() {
    for (std::uint32_t group = piece_.first_group; group < piece_.end_group; ++group) {
      write_numbers(group);
      left_.write(group);
      CRAWLSTORE_TRY(write_items(group));
    }
    return {};
  }

 private:
  void write_numbers(std::uint32_t group) {
    const Group& of = state_.groups()[group];
    if (state_.groups().has_setting(group)) write_(rule_of(group, state_.groups().setting(group)));
    if (of.soft_time != 0 || of.hard_time != 0 || of.failure_count != 0) {
      write_(TimesStep{group, of.soft_time, of.hard_time, of.failure_count});
    }
    if (of.put_count != 0 || of.finished_count != 0) {
      write_(CountsStep{group, of.put_count, of.finished_count});
    }
  }
  Result<void> write_items(std::uint32_t group) {
    for (const Item* item : by_id(state_.groups()[group].items.all())) {
      if (piece_.items.has_waiting && item->attempt == 0) continue;
      CRAWLSTORE_TRY(write_waiting(group, *item, 0));
    }
    for (const LaterItem* item : take_group(later_, group)) {
      CRAWLSTORE_TRY(write_waiting(group, item->item, item->time));
    }
    for (const format::GoneStep& gone : take_group(gone_later_, group)) write_(gone);
    for (const Lease* lease : take_group(leases_, group)) CRAWLSTORE_TRY(write_lease(*lease));
    return {};
  }
  Result<void> write_waiting(std::uint32_t group, const Item& item, std::uint64_t time) {
    const double priority = queue_priority(item.order);
    CRAWLSTORE_TRY(const std::string body, item.body.text());
    if (item.attempt == 0) {
      write_(PutStep{group, item.id, priority, time, bytes_of(body)});
    } else {
      write_(AgainStep{group, item.id, priority, time, item.attempt, bytes_of(body)});
    }
    return {};
  }
  Result<void> write_lease(const Lease& lease) {
    CRAWLSTORE_TRY(const std::string body, lease.item.body.text());
    write_(LeasedStep{lease.group, lease.item.id, queue_priority(lease.item.order), lease.until,
                      lease.item.attempt, bytes_of(body)});
    return {};
  }

  const State& state_;
  const Piece& piece_;
  const WriteStep& write_;
  LeftItems left_;
  const Scattered scattered_ = scattered_of(state_, piece_);
  // Those of the next groups:
  std::span<const LaterItem* const> later_ = scattered_.later;
  std::span<const format::GoneStep> gone_later_ = piece_.gone_later;
  std::span<const Lease* const> leases_ = scattered_.leases;
};

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
  if (state.clock() != 0) write(ClockStep{state.clock()});
  return GroupWriter(state, piece, write).write_all();
}

}  // namespace crawlstore::frontier
