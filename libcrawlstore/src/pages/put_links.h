// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Puts links of pages into their segments, for supersteps and for forgetting.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "links/link_log.h"
#include "pages/pages_state.h"

namespace crawlstore::pages {

/// The segments of links; those that the table does not name become logs without runs.
links::LinkSegments make_link_segments(container::SegmentWriter& writer, PagesState& state);

/// Finishes a run and puts it behind the others of its segment; a run without rows is dropped.
Result<void> put_run(container::SegmentWriter& writer, SegmentId segment, links::LinksWriter& run);

/// The segment that takes links that went, and a bound of their pages.
struct GoneLinksPlace {
  SegmentId segment;
  std::uint64_t number_max = 0;  ///< no page is higher
};

/// Writes links that went, as pairs of target and source in any order, as one run. Sorts them. Each
/// counts as one of `steps`.
Result<void> put_gone_links(container::SegmentWriter& writer, const GoneLinksPlace& place,
                            std::vector<std::pair<std::uint64_t, std::uint64_t>>& links,
                            container::WorkSteps& steps);

}  // namespace crawlstore::pages
