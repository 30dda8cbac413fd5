// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a directory that was opened has disjoint extents at and behind kDataStart. Nothing
// else is taken for granted: the file may be shorter than what the list of a generation names.
#include <algorithm>

#include <crawlstore/tools/file_map.h>

#include "base/inside.h"
#include "container/reader.h"
#include "format/layout.h"

namespace crawlstore {
namespace {

ExtentInfo piece(Extent extent, ExtentUse use, Generation born = {}) {
  ExtentInfo info;
  info.extent = extent;
  info.use = use;
  info.born = born;
  return info;
}

/// Adds the pieces at the beginning, which are the same in every file.
void add_head(std::vector<ExtentInfo>& map) {
  map.push_back(piece({0, sizeof(format::Identity)}, ExtentUse::kIdentity));
  for (const auto& place : format::kSuperblockPlaces) {
    const std::uint64_t end = map.back().extent.end_bytes();
    map.push_back(piece({end, place.offset_bytes - end}, ExtentUse::kZeros));
    map.push_back(piece({place.offset_bytes, format::kSuperblockBytes}, ExtentUse::kSuperblock));
    map.back().slot = static_cast<std::uint8_t>(place.slot);
    map.back().copy = static_cast<std::uint8_t>(place.copy);
  }
  const std::uint64_t end = map.back().extent.end_bytes();
  map.push_back(piece({end, format::kDataStart - end}, ExtentUse::kZeros));
}

/// Returns the extents that the directory names, in its order.
std::vector<ExtentInfo> named_by(const container::Directory& directory) {
  std::vector<ExtentInfo> named;
  named.push_back(piece(directory.root_extent, ExtentUse::kRoot, directory.generation()));
  for (const auto& table : directory.tables) {
    named.push_back(piece(table->ref.extent(), ExtentUse::kTable, table->ref.born));
  }
  for (const auto& table : directory.held_tables) {
    named.push_back(piece(table->ref.extent(), ExtentUse::kHeldTable, table->ref.born));
  }
  directory.for_each_segment([&named](const format::SegmentEntry& entry) {
    for (const auto& run : entry.runs) {
      ExtentInfo info = piece(run.extent(), ExtentUse::kRun, run.born);
      info.segment = entry.id;
      info.run = run.run_id;
      info.kind = entry.kind;
      named.push_back(info);
    }
  });
  directory.for_each_held([&named](const format::HeldExtent& held) {
    named.push_back(piece(held.extent, ExtentUse::kHeld, held.born));
    named.back().retired = held.retired;
  });
  return named;
}

/// [begin, end), which nothing names, cut at the high water mark.
void add_unnamed(std::vector<ExtentInfo>& map, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t high_water) {
  const std::uint64_t middle = std::clamp(high_water, begin, end);
  if (begin < middle) map.push_back(piece({begin, middle - begin}, ExtentUse::kFree));
  if (middle < end) map.push_back(piece({middle, end - middle}, ExtentUse::kBehind));
}

/// Only what lies before the end of the file.
void cut(std::vector<ExtentInfo>& map, std::uint64_t file_bytes) {
  while (!map.empty() && map.back().extent.offset_bytes >= file_bytes) map.pop_back();
  if (map.empty()) return;
  Extent& last = map.back().extent;
  last.length_bytes = std::min(last.length_bytes, file_bytes - last.offset_bytes);
}

}  // namespace

Result<std::vector<ExtentInfo>> extents(const Snapshot& snapshot) {
  auto& reader = Inside::of(snapshot);
  CRAWLSTORE_TRY(reader.storage()->check_process());
  CRAWLSTORE_TRY(const auto file_bytes, reader.storage()->size());
  const container::Directory& directory = reader.directory();
  auto named = named_by(directory);
  std::sort(named.begin(), named.end(),
            [](const ExtentInfo& a, const ExtentInfo& b) { return a.extent < b.extent; });
  std::vector<ExtentInfo> map;
  map.reserve(2 * named.size() + 16);
  add_head(map);
  const std::uint64_t high_water = directory.superblock.high_water_bytes;
  for (const ExtentInfo& info : named) {
    add_unnamed(map, map.back().extent.end_bytes(), info.extent.offset_bytes, high_water);
    map.push_back(info);
  }
  const std::uint64_t end = map.back().extent.end_bytes();
  if (end < file_bytes) add_unnamed(map, end, file_bytes, high_water);
  cut(map, file_bytes);
  return map;
}

std::string_view name_of(ExtentUse use) {
  switch (use) {
    case ExtentUse::kIdentity:
      return "identity";
    case ExtentUse::kSuperblock:
      return "superblock";
    case ExtentUse::kZeros:
      return "zeros";
    case ExtentUse::kRoot:
      return "root";
    case ExtentUse::kTable:
      return "table";
    case ExtentUse::kHeldTable:
      return "held_table";
    case ExtentUse::kRun:
      return "run";
    case ExtentUse::kHeld:
      return "held";
    case ExtentUse::kFree:
      return "free";
    case ExtentUse::kBehind:
      return "behind";
  }
  return "unknown";
}

}  // namespace crawlstore
