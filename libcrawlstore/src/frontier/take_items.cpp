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

/// The most items that a visit to a group may take, `count_max` by the call.
std::uint32_t count_of_visit(const State& state, std::uint32_t group, std::uint64_t count_max,
                             std::uint64_t in_flight_max) {
  const auto room = [&state](std::uint32_t of, std::uint64_t up_to) {
    return up_to - std::min(up_to, state.groups().leased_count(of));
  };
  const auto room_by_rule = [&](std::uint32_t of) {
    return room(of, state.groups().setting(of).rule.in_flight_max);
  };
  const auto parent = state.groups().setting(group).parent;
  const std::uint64_t count =
      std::min({count_max, room(group, in_flight_max), room_by_rule(group)});
  return static_cast<std::uint32_t>(parent ? std::min(count, room_by_rule(*parent)) : count);
}

}  // namespace

Result<std::vector<TakenItem>> take_items(State& state, const TakeOptions& options,
                                          std::uint64_t now_ms, StepLog& log) {
  std::vector<TakenItem> taken;
  const auto only = options.group ? state.groups().find(*options.group) : std::nullopt;
  if (options.group && !only) return taken;
  const auto step = [&](const format::Step& made) -> Result<void> {
    CRAWLSTORE_TRY(state.apply(made));
    log.append(made);
    return {};
  };
  const std::uint64_t now = std::max(state.clock(), now_ms);
  state.wake(0);
  const auto due = state.next_due();
  if (options.count == 0 || options.groups_max == 0 || !due || *due > now) return taken;
  if (now > state.clock()) CRAWLSTORE_TRY(step(format::ClockStep{now}));
  const std::uint64_t until =
      options.lease_ms == 0
          ? 0
          : std::min(format::kItemTimeMax, now + std::min(options.lease_ms, format::kItemTimeMax));
  state.wake(std::max(kWakeMax, options.count));
  CRAWLSTORE_TRY(auto group, state.next_group(options.order, only));
  if (!group) return taken;
  CRAWLSTORE_TRY(step(format::LeaseStep{until}));
  std::vector<std::uint32_t> visited;
  const auto note = [&](const Lease& lease) -> Result<void> {
    CRAWLSTORE_TRY(auto body, lease.item.body.text());
    taken.push_back({lease.item.id, std::string(state.groups().key(lease.group)),
                     format::queue_priority(lease.item.order), lease.item.attempt,
                     std::move(body)});
    return {};
  };
  for (std::size_t left = options.groups_max; group && left != 0 && taken.size() < options.count;) {
    const auto more = std::min<std::uint64_t>(options.count - taken.size(), options.per_group);
    CRAWLSTORE_TRY(
        const auto visit,
        state.visit(*group, count_of_visit(state, *group, more, options.in_flight_max), note));
    if (visit.count != 0) log.append(visit);
    if (visit.count != 0) --left;
    visited.push_back(*group);
    if (only) break;
    CRAWLSTORE_TRY(group, state.next_group(options.order));
  }
  for (const std::uint32_t one : visited) state.place(one);
  return taken;
}

}  // namespace crawlstore::frontier
