// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <crawlstore/frontier_view.h>

#include "base/inside.h"
#include "container/reader.h"
#include "format/queue_run.h"
#include "frontier/snapshot_state.h"

namespace crawlstore {
namespace {

using frontier::Item;
using frontier::LaterItem;
using frontier::Lease;
using frontier::State;

FrontierEntry entry_of(const State& state, std::uint32_t group, const Item& item,
                       std::string_view body) {
  return {.id = item.id,
          .group = state.groups().key(group),
          .priority = format::queue_priority(item.order),
          .attempt = item.attempt,
          .body = body};
}

std::vector<const LaterItem*> later_of(const State& state) {
  std::vector<const LaterItem*> items;
  for (const LaterItem& item : state.later().all()) items.push_back(&item);
  std::ranges::sort(items, [](const LaterItem* a, const LaterItem* b) {
    return std::pair(a->time, a->item.id) < std::pair(b->time, b->item.id);
  });
  return items;
}

}  // namespace

struct FrontierView::Impl : frontier::SnapshotState {};

FrontierView::FrontierView(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<std::vector<FrontierInfo>> FrontierView::list(const Snapshot& snapshot) {
  std::vector<FrontierInfo> frontiers;
  for (const auto* const entry : frontier::list_frontiers(snapshot)) {
    CRAWLSTORE_TRY(auto info, frontier::read_info(snapshot, *entry));
    frontiers.push_back(std::move(info));
  }
  return frontiers;
}

Result<FrontierView> FrontierView::open(const Snapshot& snapshot, std::string_view name) {
  const auto* const entry =
      Inside::of(snapshot).directory().find_named(SegmentKind::kFrontier, name);
  if (entry == nullptr) {
    return fail(Errc::kUnknownName, "the generation has no frontier of this name");
  }
  CRAWLSTORE_TRY(auto state, frontier::read_snapshot_state(snapshot, *entry));
  return FrontierView(std::make_shared<const Impl>(Impl{std::move(state)}));
}

const FrontierInfo& FrontierView::info() const {
  return impl_->info;
}

void FrontierView::for_each_group(const VisitGroup& visit) const {
  for (std::uint32_t number = 0; number < impl_->state.groups().count(); ++number) {
    if (!visit(frontier::group_of(impl_->state, number))) return;
  }
}

std::optional<FrontierGroup> FrontierView::group(std::string_view key) const {
  const auto number = impl_->state.groups().find(key);
  return number ? std::optional(frontier::group_of(impl_->state, *number)) : std::nullopt;
}

Result<void> FrontierView::for_each_waiting(std::string_view group, const VisitEntry& visit) const {
  const State& state = impl_->state;
  const auto number = state.groups().find(group);
  if (!number) return {};
  frontier::Coming coming(state.groups()[*number].items, state.runs(), *number);
  for (;;) {
    CRAWLSTORE_TRY(const auto next, coming.next());
    if (!next) break;
    const bool is_held = next->held != nullptr;
    CRAWLSTORE_TRY(
        const std::string body,
        is_held ? next->held->body.text() : state.runs().runs()[next->run].run->body(next->number));
    if (!visit({.id = next->id,
                .group = group,
                .priority = format::queue_priority(next->order),
                .attempt = is_held ? next->held->attempt : 0,
                .body = body})) {
      return {};
    }
  }
  if (state.groups()[*number].later_count == 0) return {};
  return for_each_later(
      [&](const FrontierEntry& entry) { return entry.group != group || visit(entry); });
}

Result<void> FrontierView::for_each_lease(const VisitEntry& visit) const {
  const State& state = impl_->state;
  std::vector<const Lease*> leases;
  for (const auto& [id, lease] : state.leases().all()) leases.push_back(&lease);
  std::ranges::sort(leases, [](const Lease* a, const Lease* b) {
    const auto rank = [](const Lease* lease) {
      return std::tuple(lease->until == 0, lease->until, lease->item.id);
    };
    return rank(a) < rank(b);
  });
  for (const Lease* const lease : leases) {
    CRAWLSTORE_TRY(const std::string body, lease->item.body.text());
    FrontierEntry entry = entry_of(state, lease->group, lease->item, body);
    entry.until_ms = lease->until;
    if (!visit(entry)) return {};
  }
  return {};
}

Result<void> FrontierView::for_each_later(const VisitEntry& visit) const {
  const State& state = impl_->state;
  for (const LaterItem* const later : later_of(state)) {
    CRAWLSTORE_TRY(const std::string body, later->item.body.text());
    FrontierEntry entry = entry_of(state, later->group, later->item, body);
    entry.not_before_ms = later->time;
    if (!visit(entry)) return {};
  }
  return {};
}

std::optional<std::uint64_t> FrontierView::next_due_ms() const {
  return impl_->state.next_due();
}

}  // namespace crawlstore
