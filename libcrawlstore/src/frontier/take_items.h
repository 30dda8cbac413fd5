// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <crawlstore/frontier_items.h>

#include "frontier/state.h"
#include "frontier/step_log.h"

namespace crawlstore::frontier {

/// Makes the steps of Frontier::take(): its clock, and a visit to each group.
///   log     gets the steps
///   errors  of damage: some of the steps are made then
Result<std::vector<TakenItem>> take_items(State& state, const TakeOptions& options,
                                          std::uint64_t now_ms, StepLog& log);

}  // namespace crawlstore::frontier
