// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
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
/// stay, and must not change meanwhile, until leave() is called. Threads: one. Cost: O(log n) an
/// item, and a look into each run that has the group.
class Coming {
 public:
  Coming(const ItemHeap& held, const WaitingRuns& runs, std::uint32_t group)
      : held_(held), runs_(runs), group_(group) {
    runs.for_each_of(group, [this](std::size_t run, const format::ItemRange& items) {
      places_.push_back({run, items.begin, items, std::nullopt});
    });
  }

  /// The next one; nothing: there are no more.
  ///   errors  those of ItemRun::item()
  Result<std::optional<ComingItem>> next() {
    CRAWLSTORE_TRY(look());
    const Item* const held = held_.peek();
    Place* best = nullptr;
    for (Place& place : places_) {
      if (place.first && (best == nullptr || *place.first < *best->first)) best = &place;
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
  /// Reads the first item of each run.
  ///   errors  those of ItemRun::item()
  Result<void> look() {
    for (Place& place : places_) {
      if (place.first) continue;
      const WaitingRun& of = runs_.all()[place.run];
      place.items.begin = of.gone.first_there(place.items.begin, place.items.end);
      if (place.items.begin == place.items.end) continue;
      CRAWLSTORE_TRY(place.first, of.run->item(place.items.begin));
    }
    return {};
  }
  /// The first item in runs, behind look(); nullptr: there is none.
  [[nodiscard]] const format::Item* first_in_runs() const {
    const format::Item* first = nullptr;
    for (const Place& place : places_) {
      if (place.first && (first == nullptr || *place.first < *first)) first = &*place.first;
    }
    return first;
  }
  /// Lets all items of runs leave that next() gave.
  ///   runs  those of the walk, which is over
  void leave(WaitingRuns& runs) const {
    for (const Place& place : places_) {
      if (place.items.begin > place.begin) runs.leave(place.run, group_, place.items.begin);
    }
  }

 private:
  struct Place {
    std::size_t run = 0;
    std::uint64_t begin = 0;            // of the walk
    format::ItemRange items;            // that are to come
    std::optional<format::Item> first;  // of them; nothing: it was not read yet
  };
  static bool is_behind(const Item& held, const Place& place) {
    return held.order != place.first->order ? held.order > place.first->order
                                            : held.id > place.first->id;
  }

  ItemHeap::Walk held_;
  const WaitingRuns& runs_;
  std::uint32_t group_;
  std::vector<Place> places_;
};

}  // namespace crawlstore::frontier
