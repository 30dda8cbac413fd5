// SPDX-License-Identifier: Apache-2.0
#include "model/space_view.h"

#include <map>

namespace crawlstore::model {
namespace {

// The identity page, the superblock copies and the zeros between them (spec/format.md#layout).
constexpr std::uint64_t kHeadBytes = 81'920;

}  // namespace

std::vector<SpaceShare> space_shares(const StoreInfo& info,
                                     const std::vector<SegmentInfo>& segments) {
  std::map<SegmentKind, SpaceShare> kinds;
  for (const SegmentInfo& segment : segments) {
    SpaceShare& share = kinds[segment.kind];
    share.name = name_of(segment.kind);
    share.kind = static_cast<unsigned>(segment.kind);
    ++share.segment_count;
    share.run_count += segment.runs.size();
    share.record_count += segment.record_count();
    share.payload_bytes += segment.payload_bytes();
    share.allocated_bytes += segment.allocated_bytes();
  }
  std::vector<SpaceShare> shares;
  const auto add = [&shares](const char* name, std::uint64_t bytes) {
    SpaceShare share;
    share.name = name;
    share.allocated_bytes = bytes;
    shares.push_back(share);
  };
  add("superblocks", kHeadBytes);
  for (const auto& [kind, share] : kinds) shares.push_back(share);
  add("directory", info.directory_bytes);
  add("held", info.held_bytes);
  add("free", info.free_bytes);
  return shares;
}

Table space_table(const StoreInfo& info, const std::vector<SegmentInfo>& segments) {
  Table table{"space_shares",
              {{"kind", Unit::kText},
               {"segment_count", Unit::kCount},
               {"run_count", Unit::kCount},
               {"record_count", Unit::kCount},
               {"payload_bytes", Unit::kBytes},
               {"allocated_bytes", Unit::kBytes},
               {"share", Unit::kShare}},
              {}};
  const auto all = static_cast<double>(info.file_bytes);
  for (const SpaceShare& share : space_shares(info, segments)) {
    const bool has_segments = share.kind != 0;
    const auto count = [has_segments](std::uint64_t value) {
      return has_segments ? Cell{value} : Cell{};
    };
    table.rows.push_back({share.name, count(share.segment_count), count(share.run_count),
                          count(share.record_count), count(share.payload_bytes),
                          share.allocated_bytes,
                          all == 0 ? 0.0 : static_cast<double>(share.allocated_bytes) / all});
  }
  return table;
}

}  // namespace crawlstore::model
