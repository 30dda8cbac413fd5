// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/frontier_items.h>

#include "frontier/state.h"

namespace crawlstore::frontier {

/// An item that waits: in a run, or in memory.
struct FoundItem {
  std::uint32_t group = 0;
  ItemRunPtr run;  ///< nullptr: it is in memory
  std::uint64_t number = 0;
  const Item* held = nullptr;  ///< the item, if it is in memory
  std::uint64_t time = 0;      ///< of `held`
  bool is_again = false;       ///< it was named before: an update has brought it into memory
};

/// Looks for items that wait.
///   returns  one of each of `items`; nothing: it does not wait
///   errors   those of ItemRun::item()
///   cost     a look through all ids that wait of their groups, and of all that wait for a time,
///            some nanoseconds each
Result<std::vector<std::optional<FoundItem>>> find_items(const State& state,
                                                         std::span<const FrontierKey> items);

/// Reads an item that waits, or is leased; nothing: it is neither.
///   errors  those of find_items(), and of ItemRun::body()
Result<std::optional<WaitingItem>> find_item(const State& state, const FrontierKey& item);

format::Step step_of_removal(const FoundItem& found, std::uint64_t id);

/// Makes the steps that give an item other values: one of a run is gone there, and waits in none.
///   errors  those of ItemRun::body(), and of `step`
Result<void> make_update(const FoundItem& found, const FrontierUpdate& to,
                         const std::function<Result<void>(const format::Step&)>& step);

}  // namespace crawlstore::frontier
