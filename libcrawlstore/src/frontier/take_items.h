// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <crawlstore/frontier_items.h>

#include "frontier/state.h"

namespace crawlstore::frontier {

/// Makes a step in the state, and keeps it.
using MakeStep = std::function<Result<void>(const format::Step&, const State::Taken&)>;

/// Makes the steps of Frontier::take(): its clock, and a visit to each group.
///   errors  of damage: some of the steps are made then
Result<std::vector<TakenItem>> take_items(State& state, const TakeOptions& options,
                                          std::uint64_t now_ms, const MakeStep& step);

}  // namespace crawlstore::frontier
