// SPDX-License-Identifier: Apache-2.0
#pragma once

/// States of pages, and what a frontier of these pages holds of each.
/// Ownership: values. Threads: as the views.

#include <crawlstore/frontier_view.h>
#include <crawlstore/page_view.h>

#include "model/table.h"

namespace crawlstore::model {

/// Returns the table `states`, a row a state: its pages, and those of them that wait, that wait for
/// their time, that are leased, and that the frontier does not hold.
///   errors  of damage
///   cost    a pass over the runs of items and the records; a byte a page
Result<Table> scheduled_states(const PageView& pages, const FrontierView& frontier);

}  // namespace crawlstore::model
