// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "frontier/items.h"
#include "frontier/waiting_runs.h"

namespace crawlstore::frontier {

/// An item that may be taken: one in memory, or one in a run.
struct ComingItem {
  std::uint64_t order = 0;
  std::uint64_t id = 0;
  const Item* held = nullptr;  ///< nullptr: it is in a run
  std::size_t run = 0;         ///< of WaitingRuns::all()
  std::uint64_t number = 0;    ///< in this run
};

/// Walks through the items of a group that may be taken, in the order in which they leave. They
/// stay, and must not change meanwhile. Threads: one. Cost: O(log n) an item, and a look into each
/// run that has the group.
class Coming {
 public:
  Coming(const ItemHeap& held, const WaitingRuns& runs, std::uint32_t group)
      : held_(held), runs_(runs) {
    runs.for_each_of(group, [this](std::size_t run, const format::ItemRange& items) {
      places_.push_back({run, items, std::nullopt});
    });
  }

  /// The next one; nothing: there are no more.
  ///   errors  those of ItemRun::item()
  Result<std::optional<ComingItem>> next() {
    const Item* const held = held_.peek();
    Place* best = nullptr;
    for (Place& place : places_) {
      if (place.items.begin == place.items.end) continue;
      if (!place.first) {
        CRAWLSTORE_TRY(place.first, runs_.all()[place.run].run->item(place.items.begin));
      }
      if (best == nullptr || *place.first < *best->first) best = &place;
    }
    if (best != nullptr && (held == nullptr || (held->attempt == 0 && is_behind(*held, *best)))) {
      const ComingItem item{best->first->order, best->first->id, nullptr, best->run,
                            best->items.begin++};
      best->first.reset();
      return std::optional(item);
    }
    if (held == nullptr) return std::optional<ComingItem>();
    held_.advance();
    return std::optional(ComingItem{held->order, held->id, held});
  }

 private:
  struct Place {
    std::size_t run = 0;
    format::ItemRange items;            // that are to come
    std::optional<format::Item> first;  // of them; nothing: it was not read yet
  };
  static bool is_behind(const Item& held, const Place& place) {
    return held.order != place.first->order ? held.order > place.first->order
                                            : held.id > place.first->id;
  }

  ItemHeap::Walk held_;
  const WaitingRuns& runs_;
  std::vector<Place> places_;
};

}  // namespace crawlstore::frontier
