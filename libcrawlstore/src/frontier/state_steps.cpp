// SPDX-License-Identifier: Apache-2.0
//
// Each function looks whether its step is possible before it changes anything.
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/queue_run.h"
#include "frontier/intervals.h"
#include "frontier/state.h"

namespace crawlstore::frontier {
namespace {

using format::AgainStep;
using format::BackStep;
using format::ClockStep;
using format::CountsStep;
using format::DropStep;
using format::ExtendStep;
using format::FinishStep;
using format::GoneStep;
using format::GroupRule;
using format::GroupStep;
using format::kNoLimit;
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
using format::LeaseStep;
using format::LeftStep;
using format::PutStep;
using format::queue_order;
using format::RemoveStep;
using format::RuleStep;
using format::Step;
using format::StepBytes;
using format::StepsIn;
using format::TimesStep;
using format::UpdateStep;
using format::VisitStep;

constexpr const char* kNotThere = "an item of a run is gone that did not wait there";

auto contradicts(const char* text) {
  return fail(Errc::kSegmentInvalid, text);
}

/// A count of a step, which ends at the highest number here.
std::uint32_t cut(std::uint64_t count) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}
void raise(std::uint32_t& count) {
  count = cut(std::uint64_t{count} + 1);
}

std::string text_of(StepBytes bytes) {
  std::string text(bytes.size(), '\0');
  std::ranges::transform(bytes, text.begin(),
                         [](std::byte byte) { return static_cast<char>(byte); });
  return text;
}

}  // namespace

class State::Steps {
 public:
  Steps(State& state, const OnTaken& taken, StepsIn in) : s_(state), taken_(taken), in_(in) {}

  Result<void> on(const ClockStep& step);
  Result<void> on(const GroupStep& step);
  Result<void> on(const PutStep& step);
  Result<void> on(const LeaseStep& step);
  Result<void> on(const VisitStep& step);
  Result<void> on(const FinishStep& step);
  Result<void> on(const BackStep& step);
  Result<void> on(const ExtendStep& step);
  Result<void> on(const RemoveStep& step);
  Result<void> on(const UpdateStep& step);
  Result<void> on(const RuleStep& step);
  Result<void> on(const DropStep& step);
  Result<void> on(const TimesStep& step);
  Result<void> on(const CountsStep& step);
  Result<void> on(const LeftStep& step);
  Result<void> on(const GoneStep& step);
  Result<void> on(const LeasedStep& step);
  Result<void> on(const AgainStep& step);
  template <class Other>
  Result<void> on(const Other& /*step*/) {
    return fail(Errc::kUnknownFeature, "a frontier has steps of a later version");
  }

 private:
  Result<void> drop_later(std::uint32_t group);
  [[nodiscard]] bool may_have_parent(std::uint32_t group, std::uint32_t parent) const {
    return has(parent) && parent != group && !s_.groups_.setting(parent).parent &&
           s_.groups_.families().find(group) == nullptr;
  }
  [[nodiscard]] bool has(std::uint32_t group) const { return group < s_.groups_.count(); }
  /// The number of a run that has a group; nothing: there is none.
  [[nodiscard]] std::optional<std::size_t> find_run(std::uint32_t group, std::uint64_t id) const {
    const auto& runs = s_.runs_.all();
    const auto run =
        std::ranges::find(runs, RunId{id}, [](const WaitingRun& of) { return of.run->id(); });
    if (run == runs.end() || !run->run->place_of(group)) return std::nullopt;
    return static_cast<std::size_t>(run - runs.begin());
  }
  [[nodiscard]] format::ItemRange waiting_in(std::size_t run, std::uint32_t group) const {
    const WaitingRun& of = s_.runs_.all()[run];
    return of.waiting_at(*of.run->place_of(group));
  }

  State& s_;
  const OnTaken& taken_;
  StepsIn in_;
};

Result<void> State::apply(const Step& step, const OnTaken& taken, StepsIn in) {
  Steps steps(*this, taken, in);
  return std::visit([&steps](const auto& one) { return steps.on(one); }, step);
}

/// Leases end before items come to wait. Groups whose time has come are left asleep.
Result<void> State::Steps::on(const ClockStep& step) {
  if (step.time < s_.clock_) return contradicts("the clock of a frontier goes back");
  CRAWLSTORE_TRY(auto due, s_.later_.read_due(step.time));
  for (const DueItem& item : due.items) {
    if (!has(item.item.group)) return contradicts("a run of items is of groups that are none");
  }
  s_.clock_ = step.time;
  while (auto ended = s_.leases_.take_ended(s_.clock_)) {
    s_.groups_.end_lease(ended->group);
    s_.wait(ended->group, std::move(ended->item), 0);
  }
  const auto come = [this](std::uint32_t group, Item item) {
    --s_.groups_[group].later_count;
    s_.groups_[group].items.put(std::move(item));
    s_.place(group);
  };
  while (auto item = s_.later_.take_due(s_.clock_)) come(item->group, std::move(item->item));
  s_.later_.leave_runs(due);
  for (auto& [item, body] : due.items) {
    come(item.group, {item.order, item.id, 0, std::move(body)});
  }
  s_.schedule_.set_clock(s_.clock_);
  return {};
}

Result<void> State::Steps::on(const GroupStep& step) {
  if (s_.groups_.add(text_of(step.key))) return {};
  return contradicts("two groups of a frontier have one key");
}

Result<void> State::Steps::on(const PutStep& step) {
  if (!has(step.group)) return contradicts("an item of a frontier is of a group that is none");
  if (in_ == StepsIn::kJournal) {
    if (!s_.groups_.takes_put(step.group)) return contradicts("an item is put beyond a limit");
    raise(s_.groups_[step.group].put_count);
  }
  s_.wait(step.group, {queue_order(step.priority), step.id, 0, text_of(step.body)}, step.time);
  return {};
}

Result<void> State::Steps::on(const LeaseStep& step) {
  s_.lease_until_ = step.until;
  return {};
}

Result<void> State::Steps::on(const VisitStep& step) {
  if (!has(step.group)) return contradicts("a frontier visits a group that is none");
  CRAWLSTORE_TRY(s_.visit(step.group, step.count, taken_, &step));
  s_.place(step.group);
  return {};
}

Result<void> State::Steps::on(const FinishStep& step) {
  for (const std::uint64_t id : step.ids) {
    if (auto lease = s_.leases_.take(id)) {
      s_.groups_.end_lease(lease->group);
      s_.groups_[lease->group].failure_count = 0;
      raise(s_.groups_[lease->group].finished_count);
      s_.place(lease->group);
      continue;
    }
    // Its lease has ended: what waits of it is done, too.
    const auto group = s_.leases_.group_of_again(id);
    if (!group) return contradicts("an item is finished that was never taken");
    s_.take_held(*group, id, true);
    s_.groups_[*group].failure_count = 0;
    raise(s_.groups_[*group].finished_count);
    s_.place(*group);
  }
  return {};
}

Result<void> State::Steps::on(const BackStep& step) {
  auto lease = s_.leases_.take(step.id);
  if (!lease) return contradicts("an item is given back that is not leased");
  Group& group = s_.groups_[lease->group];
  s_.groups_.end_lease(lease->group);
  if (step.is_failure) {
    if (group.failure_count < kDoublingsMax) ++group.failure_count;
    s_.groups_.note_change(lease->group);
    const GroupRule& rule = s_.groups_.setting(lease->group).rule;
    group.soft_time =
        std::max(group.soft_time, after(s_.clock_, stretched(rule.soft_ms, group.failure_count)));
    group.hard_time =
        std::max(group.hard_time, after(s_.clock_, stretched(rule.hard_ms, group.failure_count)));
  }
  s_.wait(lease->group, std::move(lease->item), step.time);
  return {};
}

Result<void> State::Steps::on(const ExtendStep& step) {
  auto lease = s_.leases_.take(step.id);
  if (!lease) return contradicts("a lease is extended that is none");
  if (step.until != 0 && step.until <= s_.clock_) {
    s_.groups_.end_lease(lease->group);
    s_.wait(lease->group, std::move(lease->item), 0);
    return {};
  }
  lease->until = step.until;
  s_.leases_.put(*std::move(lease));
  return {};
}

Result<void> State::Steps::on(const RemoveStep& step) {
  if (!has(step.group)) return contradicts("an item is removed that does not wait");
  if (!s_.take_held(step.group, step.id)) {
    return contradicts("an item is removed that does not wait");
  }
  s_.place(step.group);
  return {};
}

Result<void> State::Steps::on(const UpdateStep& step) {
  if (!has(step.group)) return contradicts("an item is changed that does not wait");
  auto found = s_.take_held(step.group, step.id);
  if (!found) {  // it waited in a run, which it has left
    if (!step.body) return contradicts("an item is changed that does not wait");
    found = LaterItem{0, step.group, {0, step.id, 0, {}}};
  }
  found->item.order = queue_order(step.priority);
  if (step.body) found->item.body = text_of(*step.body);
  s_.wait(step.group, std::move(found->item), step.time);
  return {};
}

Result<void> State::Steps::on(const RuleStep& step) {
  if (!has(step.group)) return contradicts("a rule of a frontier is of a group that is none");
  GroupSetting next = s_.groups_.setting(step.group);
  if ((step.mask & kRuleSoft) != 0) next.rule.soft_ms = step.soft_ms.value_or(0);
  if ((step.mask & kRuleHard) != 0) next.rule.hard_ms = step.hard_ms.value_or(0);
  if ((step.mask & kRuleBurst) != 0) next.rule.burst = step.burst;
  if ((step.mask & kRuleInFlight) != 0) next.rule.in_flight_max = step.in_flight_max;
  if ((step.mask & kRulePut) != 0) next.rule.put_max = step.put_max.value_or(kNoLimit);
  if ((step.mask & kRuleFinished) != 0) {
    next.rule.finished_max = step.finished_max.value_or(kNoLimit);
  }
  if ((step.mask & kRuleBlocked) != 0) next.blocked_until = step.blocked_until;
  if ((step.mask & kRuleActive) != 0) next.is_active = step.is_active;
  if ((step.mask & kRuleParent) != 0) next.parent = step.parent;
  if (next.parent && !may_have_parent(step.group, *next.parent)) {
    return contradicts("a parent of a group is none, or has a parent");
  }
  if (next.rule.hard_ms > next.rule.soft_ms) {
    return contradicts("a hard interval of a frontier is above the soft one");
  }
  s_.groups_.set(step.group, next);
  s_.place(step.group);
  return {};
}

Result<void> State::Steps::on(const DropStep& step) {
  if (!has(step.group)) return contradicts("a frontier drops a group that is none");
  Group& group = s_.groups_[step.group];
  if (group.later_count != 0) CRAWLSTORE_TRY(drop_later(step.group));
  const auto forget = [this](const Item& item) {
    if (item.attempt != 0) s_.leases_.forget_again(item.id);
  };
  std::ranges::for_each(group.items.all(), forget);
  s_.waiting_count_ -= group.items.size() + s_.runs_.leave_all(step.group);
  group.items.clear();
  if (group.later_count != 0) {
    s_.later_.drop(step.group, [&forget](const LaterItem& later) { forget(later.item); });
    s_.waiting_count_ -= std::exchange(group.later_count, 0);
  }
  s_.place(step.group);
  return {};
}

/// The items of a group that wait in runs by time are gone.
Result<void> State::Steps::drop_later(std::uint32_t group) {
  std::vector<LaterRun> runs = s_.later_.runs();
  std::uint32_t count = 0;
  for (LaterRun& run : runs) {
    std::vector<std::uint64_t> numbers;
    CRAWLSTORE_TRY(for_each_item(run, [&](std::uint64_t number, const format::Item& item) {
      if (item.group == group) numbers.push_back(number);
      return true;
    }));
    for (const std::uint64_t number : numbers) CRAWLSTORE_TRY(run.end(number));
    count += static_cast<std::uint32_t>(numbers.size());
  }
  s_.later_.set_runs(std::move(runs));
  s_.groups_[group].later_count -= count;
  s_.waiting_count_ -= count;
  return {};
}

Result<void> State::Steps::on(const TimesStep& step) {
  if (!has(step.group)) return contradicts("times of a frontier are of a group that is none");
  Group& group = s_.groups_[step.group];
  group.soft_time = step.soft_time;
  group.hard_time = step.hard_time;
  group.failure_count = step.failures;
  s_.place(step.group);
  return {};
}

Result<void> State::Steps::on(const CountsStep& step) {
  if (!has(step.group)) return contradicts("counts of a frontier are of a group that is none");
  s_.groups_[step.group].put_count = cut(step.put_count);
  s_.groups_[step.group].finished_count = cut(step.finished_count);
  return {};
}

Result<void> State::Steps::on(const LeftStep& step) {
  for (const auto& [id, count] : step.runs) {
    const auto run = find_run(step.group, id);
    const auto waiting = run ? waiting_in(*run, step.group) : format::ItemRange{};
    if (count > waiting.end - waiting.begin) {
      return contradicts("more items of a group have left a run than it has");
    }
    s_.waiting_count_ -= s_.runs_.leave(*run, step.group, waiting.begin + count);
    s_.groups_[step.group].is_run_known = false;
  }
  s_.place(step.group);
  return {};
}

Result<void> State::Steps::on(const GoneStep& step) {
  if (!has(step.group)) return contradicts(kNotThere);
  if (LaterRun* const later = s_.later_.find_run(RunId{step.run_id})) {
    if (!later->has(step.number)) return contradicts(kNotThere);
    CRAWLSTORE_TRY(const auto item, later->run()->item(step.number));
    if (item.group != step.group) return contradicts(kNotThere);
    CRAWLSTORE_TRY(later->end(step.number));
    --s_.groups_[step.group].later_count;
    --s_.waiting_count_;
    return {};
  }
  const auto run = find_run(step.group, step.run_id);
  const auto waiting = run ? waiting_in(*run, step.group) : format::ItemRange{};
  if (step.number < waiting.begin || step.number >= waiting.end ||
      s_.runs_.all()[*run].gone.has(step.number)) {
    return contradicts(kNotThere);
  }
  s_.runs_.end(*run, step.group, step.number);
  --s_.waiting_count_;
  s_.groups_[step.group].is_run_known = false;
  s_.place(step.group);
  return {};
}

Result<void> State::Steps::on(const LeasedStep& step) {
  if (!has(step.group)) return contradicts("a lease of a frontier is of a group that is none");
  if (s_.leases_.find(step.id) != nullptr || s_.leases_.group_of_again(step.id)) {
    return contradicts("an item of a frontier is leased twice");
  }
  s_.leases_.put({step.group,
                  step.until,
                  {queue_order(step.priority), step.id, step.attempt, text_of(step.body)}});
  s_.next_id_ = std::max(s_.next_id_, step.id + 1);
  s_.groups_.lease(step.group, 1);
  s_.place(step.group);
  return {};
}

Result<void> State::Steps::on(const AgainStep& step) {
  if (!has(step.group)) return contradicts("an item of a frontier is of a group that is none");
  if (s_.leases_.group_of_again(step.id) || s_.leases_.find(step.id) != nullptr)
    return contradicts("an item of a frontier waits twice");
  s_.wait(step.group, {queue_order(step.priority), step.id, step.attempt, text_of(step.body)},
          step.time);
  return {};
}

}  // namespace crawlstore::frontier
