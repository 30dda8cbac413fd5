// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Frontiers of a generation, read as a whole.

#include <cstdint>
#include <string_view>
#include <vector>

#include <crawlstore/frontier_view.h>

#include "format/directory.h"
#include "frontier/state.h"

namespace crawlstore::frontier {

/// A frontier of a generation.
struct SnapshotState {
  Snapshot snapshot;  ///< its runs must stay
  FrontierInfo info;
  State state;
};

/// The entries of all frontiers, by name. They live as long as the snapshot.
std::vector<const format::SegmentEntry*> list_frontiers(const Snapshot& snapshot);

/// Reads the table of a frontier. errors  of damage
Result<FrontierInfo> read_info(const Snapshot& snapshot, const format::SegmentEntry& entry);

/// Reads all of a frontier but the items in runs.
///   errors  of damage; kUnknownFeature
Result<SnapshotState> read_snapshot_state(const Snapshot& snapshot,
                                          const format::SegmentEntry& entry);

/// A group as readers see it.
FrontierGroup group_of(const State& state, std::uint32_t number);

}  // namespace crawlstore::frontier
