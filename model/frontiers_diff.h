// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Changes of frontiers between two states, as tables beside those of DiffView.
/// Ownership: documents own all they hold. Threads: one at a time.

#include <cstdint>
#include <functional>

#include <crawlstore/tools/frontier_diff.h>

#include "model/diff_view.h"

namespace crawlstore::model {

struct FrontiersDiffHow {
  DiffViewOptions view;  ///< `rows_max` of each list
  /// Called with how far the comparison is; false stops with kCancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  std::function<void(bool in_new)> failed;  ///< right before an error of one state: of which
};

/// Adds the tables `frontiers`, `frontier_groups` and `frontier_items` to the document of a
/// DiffView. Where a frontier differs, the first field of the document becomes true.
///   errors  kCancelled; of damage, unless view.gaps takes it: a frontier that one state cannot
///           tell is left out then
///   cost    diff_frontiers()
Result<void> add_frontiers_diff(const Snapshot& older, const Snapshot& newer,
                                const FrontiersDiffHow& how, Document& document);

}  // namespace crawlstore::model
