// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The state of an open page database: its name, its counts and its segments. The functions load it
/// and put it into a commit.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/page_key.h>
#include <crawlstore/shard.h>

#include "container/writer.h"
#include "format/pages_table.h"
#include "format/record_tile.h"

namespace crawlstore::pages {

struct PagesState {
  SegmentId id;
  std::string name;
  format::PagesTable table;
  Shard shard{};  ///< that the store is

  /// Whether the page of a URL is of another shard.
  [[nodiscard]] bool is_elsewhere(std::string_view url) const {
    return !shard.is_alone() && table.has_urls && !shard.has(url_host(url));
  }
};

/// The page database of this segment. errors kChunkDamaged, kSegmentInvalid
Result<PagesState> load_state(container::SegmentWriter& writer, const format::SegmentEntry& entry);

/// That there are as many records as pages. So page_count is at most twice the length of the file,
/// and may say how much memory is taken: each tile has at most 8,192 records, and a unit or more.
/// `records` is the segment that the table names, or nullptr. errors kSegmentInvalid
Result<void> check_page_count(const format::PagesTable& table, const format::SegmentEntry* records);

/// Writes the table anew and puts it into the writer's changes.
Result<void> put_state(container::SegmentWriter& writer, const PagesState& state);

/// Takes from a count of the table what was found to go.
///   errors  kSegmentInvalid: there were not so many
Result<void> subtract_gone(std::uint64_t& count, std::uint64_t gone);

/// All records of a tile of the segment; replaces `records`. errors kSegmentInvalid
Result<void> decode_records(std::span<const std::byte> payload, SegmentId segment,
                            std::vector<format::PageRecord>& records);

}  // namespace crawlstore::pages
