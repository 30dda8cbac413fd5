// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The plan of the planner, and its reasons.

#include "model/drum_plan.h"
#include "model/table.h"

namespace crawlstore::model {

/// The questions, the plan, and the table `reasons`.
Document plan_view(const DrumForecast& forecast, const DrumPlan& plan);

}  // namespace crawlstore::model
