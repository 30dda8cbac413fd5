// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Forecasts of what a frontier can give until some time. Threads: pure functions.

#include <cstdint>

#include <crawlstore/frontier_view.h>

#include "model/frontier_due.h"

namespace crawlstore::model {

struct FrontierForecast {
  std::uint64_t visitable_group_count = 0;  ///< that may be visited now
  /// Items that wait, or whose time comes by the end, and that visits of one item each can take by
  /// then at most. The visits keep the rules of groups and parents, with leases that end at once.
  std::uint64_t takeable_count = 0;
  std::uint64_t due_item_count = 0;      ///< whose own time comes by the end, or has come
  std::uint64_t ending_lease_count = 0;  ///< leases that end by the end, or have ended
};

/// Returns the forecast.
///   errors  of damage
///   cost    about a microsecond a group, and a pass over leases and items for later
Result<FrontierForecast> forecast(const FrontierView& frontier, const ForecastTime& time);

}  // namespace crawlstore::model
