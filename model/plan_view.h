// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the planner says, and why.

#include "model/drum_plan.h"
#include "model/table.h"

namespace crawlstore::model {

/// What was asked, the plan, and the table `reasons`.
Document plan_view(const DrumForecast& forecast, const DrumPlan& plan);

}  // namespace crawlstore::model
