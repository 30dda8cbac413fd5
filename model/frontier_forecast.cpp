// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_forecast.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/frontier_look.h"

namespace crawlstore::model {
namespace {

/// Items of groups that wait by the end although they do not wait in the file.
using ComingItems = std::unordered_map<std::string, std::uint64_t>;

/// Counts leases that have ended and items whose time comes.
Result<ComingItems> coming_items(const FrontierView& frontier, const ForecastTime& time) {
  ComingItems coming;
  CRAWLSTORE_TRY(frontier.for_each_later([&](const FrontierEntry& entry) {
    if (entry.not_before_ms > time.end_ms) return false;
    ++coming[std::string(entry.group)];
    return true;
  }));
  CRAWLSTORE_TRY(frontier.for_each_lease([&](const FrontierEntry& entry) {
    const std::uint64_t until_ms = entry.until_ms.value_or(0);
    if (until_ms > time.now_ms) return false;
    if (until_ms != 0) ++coming[std::string(entry.group)];
    return true;
  }));
  return coming;
}

/// Items of a parent and its children, whose visits are all visits of the parent.
struct Family {
  const ParentState* parent = nullptr;
  std::uint64_t takeable_count = 0;
};
using Families = std::unordered_map<std::string_view, Family>;

Families families_of(const FrontierLook& look) {
  Families families;
  for (const GroupState& state : look.groups) {
    if (state.parent) families[state.parent->group.key].parent = state.parent.get();
  }
  return families;
}

class Forecaster {
 public:
  Forecaster(const FrontierLook& look, const ComingItems& coming, const ForecastTime& time)
      : look_(look), coming_(coming), time_(time), families_(families_of(look)) {}

  FrontierForecast forecast() {
    for (const GroupState& state : look_.groups) add(state);
    for (const auto& [key, family] : families_) {
      found_.takeable_count += std::min(
          family.takeable_count, visit_count_max(*family.parent, look_.info.default_rule, time_));
    }
    return found_;
  }

 private:
  void add(const GroupState& state) {
    std::uint64_t item_count = state.group.waiting_count;
    if (!coming_.empty()) {
      const auto found = coming_.find(state.group.key);
      if (found != coming_.end()) item_count += found->second;
    }
    const FrontierRule& default_rule = look_.info.default_rule;
    const auto due = due_ms(state, default_rule);
    if (item_count == 0 || !due || *due > time_.end_ms) return;
    found_.visitable_group_count += *due <= time_.now_ms ? 1U : 0U;
    const ForecastTime from{.now_ms = std::max(*due, time_.now_ms), .end_ms = time_.end_ms};
    const std::uint64_t count = std::min(item_count, visit_count_max(state, default_rule, from));
    const auto family =
        families_.empty() ? families_.end()
                          : families_.find(state.parent ? std::string_view(state.parent->group.key)
                                                        : std::string_view(state.group.key));
    (family == families_.end() ? found_.takeable_count : family->second.takeable_count) += count;
  }

  const FrontierLook& look_;
  const ComingItems& coming_;
  const ForecastTime& time_;
  Families families_;
  FrontierForecast found_;
};

/// Counts those of ascending times that lie at the end or before it.
std::uint64_t count_until(const std::vector<std::uint64_t>& times, std::uint64_t end_ms) {
  return static_cast<std::uint64_t>(std::ranges::upper_bound(times, end_ms) - times.begin());
}

}  // namespace

Result<FrontierForecast> forecast(const FrontierView& frontier, const ForecastTime& time) {
  CRAWLSTORE_TRY(auto look, read_look(frontier));
  for (GroupState& state : look.groups) {
    // An item comes back when its lease ends, but one that is taken until then is done by then.
    if (state.first_return_ms && *state.first_return_ms > time.now_ms)
      state.first_return_ms.reset();
  }
  CRAWLSTORE_TRY(const auto coming, coming_items(frontier, time));
  FrontierForecast found = Forecaster(look, coming, time).forecast();
  found.due_item_count = count_until(look.later_ms, time.end_ms);
  found.ending_lease_count = count_until(look.lease_ends_ms, time.end_ms);
  return found;
}

}  // namespace crawlstore::model
