// SPDX-License-Identifier: Apache-2.0
#include "frontier/visit_items.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "format/queue_run.h"
#include "frontier/coming.h"
#include "frontier/item_run_join.h"
#include "frontier/item_walk.h"

namespace crawlstore::frontier {
namespace {

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
  Result<std::string_view> of(const ItemRun& run, std::uint64_t number) {
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
  std::map<const ItemRun*, Block> blocks_;
};

}  // namespace

Result<void> visit_later(const State& state, const VisitEntry& visit) {
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
  std::vector<ItemWalk> walks(state.later().runs().begin(), state.later().runs().end());
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
  CRAWLSTORE_TRY(for_each_of_walks(walks, visit_stored));
  return visit_held(nullptr);
}

Result<void> visit_waiting(const State& state, std::string_view group, const VisitEntry& visit) {
  const auto number = state.groups().find(group);
  if (!number) return {};
  Coming coming(state.groups()[*number].items, state.runs(), *number);
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
  return visit_later(
      state, [&](const FrontierEntry& entry) { return entry.group != group || visit(entry); });
}

Result<void> visit_leases(const State& state, const VisitEntry& visit) {
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

}  // namespace crawlstore::frontier
