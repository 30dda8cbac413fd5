// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small values of two states. Ownership: values. Threads: as snapshots.

#include <functional>

#include <crawlstore/values.h>

#include "model/diff_gaps.h"
#include "model/table.h"

namespace crawlstore::model {

/// Adds the table `small_values`, a row for each that came, went or has other bytes, to the
/// document of a DiffView, and makes its field `is_different` true where there is one.
///   failed  called with which state it is of right before an error
///   gaps    nullptr: damage is an error; else the state is left out, and named there
///   errors  of damage
Result<void> add_values_diff(const Snapshot& older, const Snapshot& newer,
                             const std::function<void(bool in_new)>& failed, DiffGaps* gaps,
                             Document& document);

}  // namespace crawlstore::model
