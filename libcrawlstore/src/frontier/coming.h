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
  std::size_t run = 0;         ///< of WaitingRuns::runs()
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
  /// Looks for the first item of each run behind those that are dead.
  ///   errors  those of ItemRun::item()
  Result<void> look() {
    for (Place& place : places_) {
      const WaitingRun& of = runs_.runs()[place.run];
      while (!place.first && place.items.begin < place.items.end) {
        CRAWLSTORE_TRY(const auto item, of.run->item(place.items.begin));
        const std::uint32_t dead_count = runs_.dead().count(group_, item.id, of.run->id());
        if (dead_count != 0 && std::cmp_less(std::ranges::count(dead_, item.id), dead_count)) {
          dead_.push_back(item.id);
          ++place.items.begin;
        } else {
          place.first = item;
        }
      }
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
  /// Lets all items of runs leave that next() gave, and the dead ones that it passed.
  ///   runs  those of the walk, which is over
  void leave(WaitingRuns& runs) const {
    for (const Place& place : places_) {
      if (place.items.begin > place.begin) {
        runs.leave(place.run, group_, place.items.begin - place.begin);
      }
    }
    for (const std::uint64_t id : dead_) runs.forget(group_, id);
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
  std::vector<std::uint64_t> dead_;  // ids of entries that were passed
};

/// Looks for the entry in a run that counts of an item; nothing: there is none. Cost: about 50
/// nanoseconds an entry of the group.
///   errors  those of ItemRun::item()
inline Result<std::optional<ComingItem>> find_in_runs(const WaitingRuns& runs, std::uint32_t group,
                                                      std::uint64_t id) {
  std::vector<std::pair<std::size_t, format::ItemRange>> places;
  runs.for_each_of(group, [&places](std::size_t run, const format::ItemRange& items) {
    places.emplace_back(run, items);
  });
  for (const auto& [number, items] : places) {
    const ItemRun& run = *runs.runs()[number].run;
    if (runs.dead().count(group, id, run.id()) != 0) continue;
    for (std::uint64_t i = items.begin; i < items.end; ++i) {
      CRAWLSTORE_TRY(const auto item, run.item(i));
      if (item.id == id) return std::optional(ComingItem{item.order, id, nullptr, number, i});
    }
  }
  return std::optional<ComingItem>();
}

}  // namespace crawlstore::frontier
