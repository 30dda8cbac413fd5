// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "frontier/state.h"

namespace crawlstore::frontier {

using WriteStep = std::function<void(const format::Step&)>;

/// Neighbouring groups of a state, which will be rearranged: State::rearrange().
struct Piece {
  std::uint32_t first_group = 0;
  std::uint32_t end_group = 0;
  const StoredItems& items;
  std::span<const format::GoneStep> gone_later;  ///< those of these groups
};

/// Items of runs by time that are gone, by group, but for those that would have left.
///   errors  those of ItemRun::item()
///   cost    a read of each
Result<std::vector<format::GoneStep>> gone_later(const StoredItems& items, std::uint64_t clock);

/// Calls write(Step) with each step of a piece, group by group: spec/frontier.md#step-runs.
///   errors  those of Body::text()
Result<void> write_piece(const State& state, const Piece& piece, const WriteStep& write);

}  // namespace crawlstore::frontier
