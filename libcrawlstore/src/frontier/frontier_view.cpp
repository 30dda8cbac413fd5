// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <crawlstore/frontier_view.h>

#include "base/inside.h"
#include "container/reader.h"
#include "frontier/frontier_clock.h"
#include "frontier/item_walk.h"
#include "frontier/snapshot_state.h"
#include "frontier/visit_items.h"

namespace crawlstore {

using frontier::Item;
using frontier::ItemWalk;
using frontier::LaterItem;
using frontier::LaterRun;
using frontier::State;
using frontier::WaitingRun;

std::uint64_t FrontierInfo::time_at_ms(std::int64_t wall_us) const {
  return frontier::time_at(clock_ms, commit_time_us, wall_us);
}

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
  return frontier::visit_waiting(impl_->state, group, visit);
}

Result<void> FrontierView::for_each_key(
    const std::function<void(const FrontierKey& item)>& visit) const {
  const State& state = impl_->state;
  const auto tell = [&](std::uint32_t group, std::uint64_t id) {
    visit({state.groups().key(group), id});
  };
  for (const auto& [id, lease] : state.leases().all()) tell(lease.group, id);
  for (std::uint32_t group = 0; group < state.groups().count(); ++group) {
    for (const Item& item : state.groups()[group].items.all()) tell(group, item.id);
  }
  for (const LaterItem& later : state.later().held()) tell(later.group, later.item.id);
  const auto walk = [&](ItemWalk items) -> Result<void> {
    for (;;) {
      CRAWLSTORE_TRY(const bool is_there, items.next());
      if (!is_there) return {};
      if (items.item().group >= state.groups().count()) {
        return fail(Errc::kSegmentInvalid, "a run of items is of groups that are none");
      }
      tell(items.item().group, items.item().id);
    }
  };
  for (const WaitingRun& run : state.runs().all()) CRAWLSTORE_TRY(walk(ItemWalk(run)));
  for (const LaterRun& run : state.later().runs()) CRAWLSTORE_TRY(walk(ItemWalk(run)));
  return {};
}

Result<void> FrontierView::for_each_lease(const VisitEntry& visit) const {
  return frontier::visit_leases(impl_->state, visit);
}

Result<void> FrontierView::for_each_later(const VisitEntry& visit) const {
  return frontier::visit_later(impl_->state, visit);
}

std::optional<std::uint64_t> FrontierView::next_due_ms() const {
  return impl_->state.next_due();
}

}  // namespace crawlstore
