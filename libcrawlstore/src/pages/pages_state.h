// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an open page database knows of its segments, and how that gets into a commit.

#include <string>
#include <string_view>

#include "container/writer.h"
#include "format/pages_table.h"

namespace crawlstore::pages {

struct PagesState {
  SegmentId id;
  std::string name;
  format::PagesTable table;
};

/// The page database of this segment. errors kChunkDamaged, kSegmentInvalid
Result<PagesState> load_state(container::SegmentWriter& writer, const format::SegmentEntry& entry);

/// That there are as many records as pages. So page_count is at most twice the length of the file,
/// and may say how much memory is taken: each tile has at most 8,192 records, and a unit or more.
/// `records` is the segment that the table names, or nullptr. errors kSegmentInvalid
Result<void> check_page_count(const format::PagesTable& table, const format::SegmentEntry* records);

/// Writes the table anew and puts it into the writer's changes.
Result<void> put_state(container::SegmentWriter& writer, const PagesState& state);

/// Calls `visit` with the id of each segment that the table names, its drum among them.
template <class Visit>
void for_each_segment(const format::PagesTable& table, const Visit& visit) {
  for (const SegmentId id : {table.keys, table.origins, table.records, table.out_links,
                             table.in_links, table.gone_links, table.events, table.fresh_keys}) {
    if (id) visit(id);
  }
}

}  // namespace crawlstore::pages
