// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <crawlstore/frontier_view.h>

#include "base/inside.h"
#include "container/reader.h"
#include "format/queue_run.h"
#include "frontier/frontier_clock.h"
#include "frontier/item_run_join.h"
#include "frontier/item_walk.h"
#include "frontier/snapshot_state.h"

namespace crawlstore {
namespace {

using frontier::Item;
using frontier::ItemWalk;
using frontier::LaterItem;
using frontier::LaterRun;
using frontier::Lease;
using frontier::State;
using frontier::WaitingRun;

FrontierEntry entry_of(const State& state, std::uint32_t group, const Item& item,
                       std::string_view body) {
  return {.id = item.id,
          .group = state.groups().key(group),
          .priority = format::queue_priority(item.order),
          .attempt = item.attempt,
          .body = body};
}

std::vector<const LaterItem*> later_in_memory(const State& state) {
  std::vector<const LaterItem*> items;
  for (const LaterItem& item : state.later().held()) items.push_back(&item);
  std::ranges::sort(items, {}, [](const LaterItem* later) {
    return std::tuple(later->time, later->group, later->item.order, later->item.id);
  });
  return items;
}

/// Reads bodies of items in runs; of those that lie together a block is unpacked once.
class Bodies {
 public:
  /// Valid until the next call. errors  those of ItemRun::read_block()
  Result<std::string_view> of(const frontier::ItemRun& run, std::uint64_t number) {
    auto& [block, first, content] = blocks_[&run];
    if (number < first || number >= first + content.items.size()) {
      block = run.block_of(number);
      CRAWLSTORE_TRY(run.read_block(block, content));
      first = run.first_item_of(block);
    }
    const auto body = content.body(static_cast<std::size_t>(number - first));
    return std::string_view(static_cast<const char*>(static_cast<const void*>(body.data())),
                            body.size());
  }

 private:
  struct Block {
    std::size_t number = 0;
    std::uint64_t first = 0;
    format::ItemBlock content;
  };
  std::map<const frontier::ItemRun*, Block> blocks_;
};

}  // namespace

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
  const State& state = impl_->state;
  const auto number = state.groups().find(group);
  if (!number) return {};
  frontier::Coming coming(state.groups()[*number].items, state.runs(), *number);
  Bodies bodies;
  for (;;) {
    CRAWLSTORE_TRY(const auto next, coming.next());
    if (!next) break;
    FrontierEntry entry{.id = next->id,
                        .group = group,
                        .priority = format::queue_priority(next->order),
                        .body = {}};
    std::string text;
    if (next->held == nullptr) {
      CRAWLSTORE_TRY(entry.body, bodies.of(*state.runs().all()[next->run].run, next->number));
    } else {
      CRAWLSTORE_TRY(text, next->held->body.text());
      entry.body = text;
      entry.attempt = next->held->attempt;
    }
    if (!visit(entry)) return {};
  }
  if (state.groups()[*number].later_count == 0) return {};
  return for_each_later(
      [&](const FrontierEntry& entry) { return entry.group != group || visit(entry); });
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
  const auto in_memory = later_in_memory(state);
  auto held = in_memory.begin();
  bool goes_on = true;
  /// Visits those in memory that come before an item.
  const auto visit_held = [&](const format::Item* end) -> Result<void> {
    for (; goes_on && held != in_memory.end(); ++held) {
      const LaterItem& later = **held;
      const format::Item item{later.time, later.group, later.item.order, later.item.id};
      if (end != nullptr && *end < item) return {};
      CRAWLSTORE_TRY(const std::string body, later.item.body.text());
      FrontierEntry entry = entry_of(state, later.group, later.item, body);
      entry.not_before_ms = later.time;
      goes_on = visit(entry);
    }
    return {};
  };
  std::vector<frontier::ItemWalk> walks(state.later().runs().begin(), state.later().runs().end());
  const auto visit_stored = [&](const format::Item& item, std::string_view body) -> Result<bool> {
    CRAWLSTORE_TRY(visit_held(&item));
    if (item.group >= state.groups().count()) {
      return fail(Errc::kSegmentInvalid, "a run of items is of groups that are none");
    }
    goes_on = goes_on && visit({.id = item.id,
                                .group = state.groups().key(item.group),
                                .priority = format::queue_priority(item.order),
                                .body = body,
                                .not_before_ms = item.time});
    return goes_on;
  };
  CRAWLSTORE_TRY(frontier::for_each_of_walks(walks, visit_stored));
  return visit_held(nullptr);
}

std::optional<std::uint64_t> FrontierView::next_due_ms() const {
  return impl_->state.next_due();
}

}  // namespace crawlstore
