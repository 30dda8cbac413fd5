// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The segments of a frontier, and what it reads from them.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "container/directory_state.h"
#include "format/frontier_table.h"
#include "frontier/state.h"

namespace crawlstore::frontier {

/// The segments of a frontier in a directory, and its table.
struct FrontierSegments {
  const format::SegmentEntry* frontier = nullptr;
  const format::SegmentEntry* groups = nullptr;  ///< nullptr: there is no run of groups
  const format::SegmentEntry* items = nullptr;   ///< nullptr: there is no run of items
  const format::SegmentEntry* steps = nullptr;   ///< nullptr: nothing was ever done
  format::FrontierTable table;
};

/// Reads the table.
///   payload  of the frontier
///   errors   kSegmentInvalid: a log is not what the table says
Result<FrontierSegments> read_segments(const container::Directory& directory,
                                       const format::SegmentEntry& frontier,
                                       std::span<const std::byte> payload);

/// The payload of a run of this segment, valid until the next call.
using ReadRun = std::function<Result<std::span<const std::byte>>(
    const format::SegmentEntry& segment, const format::RunRef& run)>;

/// Opens a run of items of this segment.
using OpenItems = std::function<Result<ItemRunPtr>(const format::SegmentEntry& segment,
                                                   const format::RunRef& run)>;

/// A state with the sizes of the runs that it was read from.
struct StoredState {
  State state;
  std::vector<ItemRunPtr> items{};         ///< ascending
  std::uint32_t stored_group_count = 0;    ///< in runs of groups
  std::vector<format::RunRef> journals{};  ///< in the order of their steps
  std::uint64_t piece_bytes = 0;
  std::uint64_t journal_bytes = 0;
};

/// Applies all pieces and journals.
///   errors  kSegmentInvalid, with the segment and the place in the file: a step contradicts those
///           before it, or the table; kUnknownFeature: it has what this version does not; of damage
Result<StoredState> read_state(const FrontierSegments& found, const ReadRun& read,
                               const OpenItems& open_items);

}  // namespace crawlstore::frontier
