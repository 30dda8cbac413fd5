// SPDX-License-Identifier: Apache-2.0
//
// Invariant: each item of the state was in the frontier behind the same step, with equal values.
#include "rescue/frontier_replay.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>

#include "frontier/coming.h"
#include "frontier/intervals.h"

namespace crawlstore::rescue {
namespace {

using frontier::Coming;
using frontier::WaitingRun;

/// Items of a group in a run that have left.
std::uint64_t left_of(const frontier::State& state, std::uint32_t group, RunId id) {
  for (const WaitingRun& run : state.runs().all()) {
    if (run.run->id() != id) continue;
    const auto place = run.run->place_of(group);
    return place ? run.left[*place] : 0;
  }
  return 0;
}

/// Items in gaps; nothing: not known.
std::optional<std::uint64_t> count_of(const std::vector<ItemGap>& gaps) {
  std::uint64_t count = 0;
  for (const ItemGap& gap : gaps) {
    if (!gap.count) return std::nullopt;
    count += *gap.count;
  }
  return count;
}

/// The rest of a gap, while items come.
struct NextGap {
  RunId run;
  std::uint64_t kept_count = 0;
  std::uint64_t seen_count = 0;
};

}  // namespace

Result<void> FrontierReplay::apply(const format::Step& step, format::StepsIn in) {
  in_ = in;
  const auto gone_group = std::exchange(gone_group_, std::nullopt);
  return std::visit(
      [this, gone_group](auto one) -> Result<void> {
        if constexpr (requires { one.group; }) {
          if (one.group >= numbers_.count()) {
            return fail(Errc::kSegmentInvalid, "a step of a frontier is of a group that is none");
          }
          const auto number = numbers_.find(one.group);
          if (!number) return {};
          one.group = *number;
        }
        if constexpr (requires { one.parent; }) {
          if (one.parent) one.parent = numbers_.find(*one.parent);
        }
        if constexpr (std::is_same_v<decltype(one), format::UpdateStep>) {
          if (one.body && gone_group == one.group) return state_.apply(one);  // it was in a run
        }
        if constexpr (std::is_same_v<decltype(one), format::GoneStep>) gone_group_ = one.group;
        return make(one);
      },
      step);
}

/// Passes over a step of which something was not there, if that may be lost.
Result<void> FrontierReplay::unless_lost(const Result<void>& made, bool may_be_lost) const {
  if (!made && may_be_lost && made.error().code == Errc::kSegmentInvalid) return {};
  return made;
}

Result<void> FrontierReplay::make(const format::GroupStep& step) {
  CRAWLSTORE_TRY(state_.apply(step));
  numbers_.add();
  return {};
}

Result<void> FrontierReplay::make(const format::VisitStep& step) {
  if (!doubtful_.contains(step.group)) {
    CRAWLSTORE_TRY(const bool is_open, reaches_gap(step.group, step.count));
    if (!is_open) {
      const auto made = state_.apply(step);
      const bool is_other = !made && made.error().code == Errc::kSegmentInvalid;
      if (!is_other || !known_.has_own_ids) return made;
    }
  }
  return visit_in_doubt(step);
}

/// Whether the next `count` items of a group may be others than those that are known.
Result<bool> FrontierReplay::reaches_gap(std::uint32_t group, std::uint32_t count) const {
  const auto found = known_.gaps.find(group);
  if (found == known_.gaps.end()) return false;
  std::vector<NextGap> gaps;
  for (const ItemGap& gap : found->second) {
    if (gap.time > state_.clock()) continue;
    gaps.push_back({gap.run, gap.kept_count, left_of(state_, group, gap.run)});
  }
  std::uint64_t gone_count = 0;  // which are passed untold
  state_.runs().for_each_of(group, [&](std::size_t run, const format::ItemRange& items) {
    gone_count += state_.runs().all()[run].gone.count(items.begin, items.end);
  });
  const auto is_next = [gone_count](const NextGap& gap) {
    return gap.seen_count + gone_count >= gap.kept_count;
  };
  Coming coming(state_.groups()[group].items, state_.runs(), group);
  std::unordered_set<std::uint64_t> ids;
  while (ids.size() < count) {
    CRAWLSTORE_TRY(const auto next, coming.next());
    if (!next) return true;
    const bool was_taken = next->held != nullptr && next->held->attempt != 0;
    if (!was_taken && std::ranges::any_of(gaps, is_next)) return true;
    if (next->held == nullptr) {
      const WaitingRun& run = state_.runs().all()[next->run];
      const auto items = run.run->items_at(*run.run->place_of(group));
      for (NextGap& gap : gaps) {
        if (gap.run == run.run->id()) gap.seen_count = next->number - items.begin + 1;
      }
    }
    const bool is_twice = state_.leases().find(next->id) != nullptr ||
                          (!was_taken && state_.leases().group_of_again(next->id));
    if (!is_twice) ids.insert(next->id);
  }
  return false;
}

/// Items that a visit may have taken, at most, of those that are known: not all of them if their
/// check is not that of the visit.
Result<std::uint32_t> FrontierReplay::known_count(const format::VisitStep& step) const {
  if (known_.has_own_ids) {  // it may have passed one for each id that is not known
    const std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(
        std::min(most, unknown_count_ > most ? most : step.count + unknown_count_));
  }
  Coming coming(state_.groups()[step.group].items, state_.runs(), step.group);
  std::uint64_t sum = 0;
  std::uint32_t count = 0;
  while (count < step.count) {
    CRAWLSTORE_TRY(const auto next, coming.next());
    if (!next) return count;
    sum += next->id;
    ++count;
  }
  return static_cast<std::uint16_t>(sum) == step.check ? count : count - 1;
}

/// Drops what a visit may have taken; the times are those after a visit.
Result<void> FrontierReplay::visit_in_doubt(const format::VisitStep& step) {
  doubtful_.insert(step.group);
  const frontier::Group& of = state_.groups()[step.group];
  const auto& rule = state_.groups().setting(step.group).rule;
  const std::uint32_t failures = of.failure_count;
  const auto charged = [&](std::uint64_t time, std::uint64_t interval) {
    return frontier::charged(time, state_.clock(), frontier::stretched(interval, failures),
                             rule.burst);
  };
  const format::TimesStep times{step.group, charged(of.soft_time, rule.soft_ms),
                                charged(of.hard_time, rule.hard_ms), failures};
  CRAWLSTORE_TRY(const std::uint32_t count, known_count(step));
  std::vector<std::uint64_t> ids;
  const auto note = [&ids](const frontier::Lease& lease) -> Result<void> {
    ids.push_back(lease.item.id);
    return {};
  };
  if (count != 0) CRAWLSTORE_TRY(state_.visit(step.group, count, note));
  const format::CountsStep counts{step.group, of.put_count, of.finished_count};
  CRAWLSTORE_TRY(state_.apply(format::FinishStep{ids}));
  CRAWLSTORE_TRY(state_.apply(counts));  // nothing says that they were finished
  left_out_[step.group] += ids.size();
  CRAWLSTORE_TRY(state_.apply(times));
  unknown_count_ = unknown_count_ > kAll - step.count ? kAll : unknown_count_ + step.count;
  return {};
}

Result<void> FrontierReplay::make(const format::FinishStep& step) {
  for (const std::uint64_t& id : step.ids) {
    const auto made = state_.apply(format::FinishStep{std::span(&id, 1)});
    CRAWLSTORE_TRY(unless_lost(made, unknown_count_ != 0));
  }
  return {};
}

Result<void> FrontierReplay::make(const format::BackStep& step) {
  return unless_lost(state_.apply(step), unknown_count_ != 0);
}

Result<void> FrontierReplay::make(const format::ExtendStep& step) {
  return unless_lost(state_.apply(step), unknown_count_ != 0);
}

Result<void> FrontierReplay::make(const format::RemoveStep& step) {
  return unless_lost(state_.apply(step), lacks_items(step.group));
}

/// An item that is lost and has other values waits at another place, which nobody knows. Where ids
/// are the caller's, it may be a lost one of the same id: then what is known goes.
Result<void> FrontierReplay::make(const format::UpdateStep& step) {
  const bool has_gaps = known_.gaps.contains(step.group) || doubtful_.contains(step.group);
  if (known_.has_own_ids && has_gaps) {
    doubtful_.insert(step.group);
    const auto removed = state_.apply(format::RemoveStep{step.group, step.id});
    if (removed) ++left_out_[step.group];
    return unless_lost(removed, true);
  }
  format::UpdateStep known = step;
  if (lacks_items(step.group))
    known.body.reset();  // of one that is not there the attempts are lost
  const auto found = state_.apply(known);
  if (!found && lacks_items(step.group)) doubtful_.insert(step.group);
  if (!found || !step.body) return unless_lost(found, lacks_items(step.group));
  return state_.apply(step);
}

/// All that is lost has gone, too, but for what is leased.
Result<void> FrontierReplay::make(const format::DropStep& step) {
  const auto gaps = known_.gaps.find(step.group);
  if (gaps != known_.gaps.end()) {
    if (doubtful_.contains(step.group)) left_out_[step.group] += count_of(gaps->second).value_or(0);
    known_.gaps.erase(gaps);
  }
  return state_.apply(step);
}

Result<void> FrontierReplay::make(const format::LeftStep& /*step*/) {
  return {};
}

/// An item that is lost is gone already.
Result<void> FrontierReplay::make(const format::GoneStep& step) {
  const auto run =
      std::ranges::find(known_.runs, RunId{step.run_id}, [](const auto& of) { return of.old; });
  const auto number = run == known_.runs.end() ? std::nullopt : run->numbers.find(step.number);
  if (!number) return {};
  const auto made = state_.apply(format::GoneStep{step.group, run->id.value, *number});
  return unless_lost(made, lacks_items(step.group));
}

Result<void> FrontierReplay::lower_counts() {
  for (std::uint32_t group = 0; group < state_.groups().count(); ++group) {
    const auto gaps = known_.gaps.find(group);
    if (gaps == known_.gaps.end() && !doubtful_.contains(group)) continue;
    const frontier::Group& of = state_.groups()[group];
    const std::uint64_t least = of.finished_count + of.items.size() + of.later_count +
                                of.leased_count + state_.runs().count(group);
    const auto in_gaps =
        gaps == known_.gaps.end() ? std::optional<std::uint64_t>(0) : count_of(gaps->second);
    std::uint64_t proved = 0;
    if (in_gaps) {
      const std::uint64_t lost = *in_gaps + left_out_[group];
      proved = of.put_count - std::min<std::uint64_t>(of.put_count, lost);
    }
    const std::uint64_t count = std::min<std::uint64_t>(of.put_count, std::max(proved, least));
    CRAWLSTORE_TRY(state_.apply(format::CountsStep{group, count, of.finished_count}));
  }
  return {};
}

}  // namespace crawlstore::rescue
