// SPDX-License-Identifier: Apache-2.0
#include "frontier/take_items.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "format/queue_run.h"

namespace crawlstore::frontier {
namespace {

/// Groups whose time has come that a call of take() looks for: a bound on how long it may last.
constexpr std::size_t kWakeMax = std::size_t{1} << 16;

/// The visit to a group that takes its first items, at most `count_max` and as many as its rule
/// lets be in flight.
Result<format::VisitStep> visit_of(const State& state, std::uint32_t group,
                                   std::uint32_t count_max) {
  const Group& of = state.groups()[group];
  const std::uint32_t in_flight_max = state.groups().setting(group).rule.in_flight_max;
  const std::uint32_t more = in_flight_max - std::min(in_flight_max, of.leased_count);
  format::VisitStep visit{group, 0, 0};
  std::uint64_t sum = 0;
  Coming coming(of.items, state.runs(), group);
  CRAWLSTORE_TRY(const auto items, items_of_visit(state, coming, std::min(count_max, more)));
  for (const auto& [item, is_taken] : items) {
    if (!is_taken) continue;
    sum += item.id;
    ++visit.count;
  }
  visit.check = static_cast<std::uint16_t>(sum);
  return visit;
}

}  // namespace

Result<std::vector<TakenItem>> take_items(State& state, const TakeOptions& options,
                                          std::uint64_t now_ms, const MakeStep& step) {
  std::vector<TakenItem> taken;
  const std::uint64_t now = std::max(state.clock(), now_ms);
  const auto due = state.next_due();
  if (options.count == 0 || !due || *due > now) return taken;
  if (now > state.clock()) CRAWLSTORE_TRY(step(format::ClockStep{now}, {}));
  const std::uint64_t until =
      options.lease_ms == 0
          ? 0
          : std::min(format::kItemTimeMax, now + std::min(options.lease_ms, format::kItemTimeMax));
  state.wake(std::max(kWakeMax, options.count));
  CRAWLSTORE_TRY(auto group, state.next_group());
  if (!group) return taken;
  CRAWLSTORE_TRY(step(format::LeaseStep{until}, {}));
  std::vector<std::uint32_t> visited;
  const auto note = [&](const Lease& lease) -> Result<void> {
    CRAWLSTORE_TRY(auto body, lease.item.body.text());
    taken.push_back({lease.item.id, std::string(state.groups().key(lease.group)),
                     format::queue_priority(lease.item.order), lease.item.attempt,
                     std::move(body)});
    return {};
  };
  while (group && taken.size() < options.count) {
    const auto more = std::min<std::uint64_t>(options.count - taken.size(), options.per_group);
    CRAWLSTORE_TRY(const auto visit, visit_of(state, *group, static_cast<std::uint32_t>(more)));
    if (visit.count != 0) CRAWLSTORE_TRY(step(visit, note));
    state.hide(*group);
    visited.push_back(*group);
    CRAWLSTORE_TRY(group, state.next_group());
  }
  for (const std::uint32_t one : visited) state.place(one);
  return taken;
}

}  // namespace crawlstore::frontier
