// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Visits of items in the orders in which a reader wants them.

#include <string_view>

#include <crawlstore/frontier_items.h>

#include "frontier/state.h"

namespace crawlstore::frontier {

/// Items of a group that wait, the first to leave first, and those that are not due at last.
///   errors  of damage, here and below: bodies are read when it is their turn
Result<void> visit_waiting(const State& state, std::string_view group, const VisitEntry& visit);

/// Items that are leased, those whose lease ends first in front.
Result<void> visit_leases(const State& state, const VisitEntry& visit);

/// Items whose time has not come, those of the lowest time in front.
Result<void> visit_later(const State& state, const VisitEntry& visit);

}  // namespace crawlstore::frontier
