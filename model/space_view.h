// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The use of the bytes of a file.

#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/snapshot.h>

#include "model/table.h"

namespace crawlstore::model {

/// All bytes of one kind. The shares of a file add up to its length.
struct SpaceShare {
  std::string name;   ///< of a segment kind, or "directory", "superblocks", "held", "free"
  unsigned kind = 0;  ///< number of the segment kind; 0 = none
  std::uint64_t segment_count = 0;
  std::uint64_t run_count = 0;
  std::uint64_t record_count = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t allocated_bytes = 0;
};

/// Superblocks first, then kinds in the order of their numbers, directory, held, free.
std::vector<SpaceShare> space_shares(const StoreInfo& info,
                                     const std::vector<SegmentInfo>& segments);
/// The table `space`: one row a share.
Table space_table(const StoreInfo& info, const std::vector<SegmentInfo>& segments);

}  // namespace crawlstore::model
