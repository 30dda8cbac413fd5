// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What supersteps and forgetting both do with runs of links and tiles of records.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "format/record_tile.h"
#include "links/link_log.h"
#include "pages/pages_state.h"

namespace crawlstore::pages {

/// The segments of links; those that the table does not name become logs without runs.
links::LinkSegments make_link_segments(container::SegmentWriter& writer, PagesState& state);

/// Finishes a run and puts it behind the others of its segment; a run without rows is dropped.
Result<void> put_run(container::SegmentWriter& writer, SegmentId segment, links::LinksWriter& run);

/// Where links that went are put.
struct GoneLinksPlace {
  SegmentId segment;
  std::uint64_t number_max = 0;  ///< no page is higher
};

/// Writes links that went, as pairs of target and source in any order, as one run. Sorts them. Each
/// counts as one of `steps`.
Result<void> put_gone_links(container::SegmentWriter& writer, const GoneLinksPlace& place,
                            std::vector<std::pair<std::uint64_t, std::uint64_t>>& links,
                            container::WorkSteps& steps);

/// Takes from a count of the table what was found to go.
///   errors  kSegmentInvalid: there were not so many
Result<void> take_off(std::uint64_t& count, std::uint64_t gone);

/// All records of a tile of the segment; replaces `records`. errors kSegmentInvalid
Result<void> decode_records(std::span<const std::byte> payload, SegmentId segment,
                            std::vector<format::PageRecord>& records);

}  // namespace crawlstore::pages
