// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The differences of score arrays between two states, as a table beside those of PagesDiffView.
/// Ownership: the document owns all it holds. Threads: as Snapshot.

#include <functional>
#include <vector>

#include <crawlstore/tools/pages_diff.h>

#include "model/diff_gaps.h"
#include "model/host_rows.h"
#include "model/table.h"

namespace crawlstore::model {

struct ScoresDiffOptions {
  /// Called with how far the array is that is compared.
  PagesProgress progress;
  /// Right before an error of one of the states: of which.
  std::function<void(bool in_new)> failed;
  /// Goes past damage: an array of which something cannot be read is left out, and added there.
  DiffGaps* gaps = nullptr;
};

/// Adds the table `scores` to the document of a DiffView: one row an array of either state, by
/// database and name, and makes its field `differs` true where one differs. Compared are the values
/// alone, not how an array came about. A score that an array does not have counts as 0. A score
/// that one alone has, and that is not 0, was added or is gone; only one that both have has
/// changed. Pages, hosts and domains are known as diff_pages() knew the pages: by index, or by URL
/// and name.
///   databases  what diff_pages() found
///   errors  kCancelled; of damage
///   cost    one pass over both arrays, as they are mapped, and a bit of memory for each value of
///           the newer one; by URL a URL and a look-up each, and the names of the newer state's
///           hosts or domains in memory
Result<void> add_scores_diff(const Snapshot& older, const Snapshot& newer,
                             const std::vector<PagesDiff>& databases,
                             const ScoresDiffOptions& options, Document& document);

}  // namespace crawlstore::model
