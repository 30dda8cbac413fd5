// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no piece crashes the parsers or makes them read outside it;
//   - what is accepted keeps its meaning when it is encoded and parsed again;
//   - what is accepted takes no more memory than a small multiple of the piece;
//   - every extent is aligned, inside the data, born and retired in time, ids ascend;
//   - the extents that a root names are disjoint.
//
// Input: one byte (0: root, 1: table, 2: held table; modulo 3), then the piece. The generation is
// 10, for roots also 1; the high water mark is 1 TiB.

#include <cstdint>
#include <span>
#include <vector>

#include "container/kind.h"
#include "format/directory.h"
#include "format/layout.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;

constexpr std::uint64_t kHighWater = std::uint64_t{1} << 40;

void check_extent(Extent extent, Generation born, Generation generation) {
  require(extent.offset_bytes % kUnitBytes == 0 && extent.length_bytes % kUnitBytes == 0);
  require(extent.offset_bytes >= kDataStart && extent.length_bytes != 0);
  require(extent.length_bytes <= kHighWater && extent.end_bytes() <= kHighWater);
  require(born.value >= 1 && born <= generation);
}

void check_root(std::span<const std::byte> bytes) {
  for (const std::uint64_t generation : {std::uint64_t{1}, std::uint64_t{10}}) {
    const ParseLimits limits{{generation}, kHighWater, 0};
    const auto root = parse_root(bytes, limits);
    if (!root) continue;
    std::vector<Extent> extents;
    for (const auto& ref : root->tables) {
      check_extent(ref.extent(), ref.born, root->generation);
      extents.push_back(ref.extent());
    }
    for (const auto& ref : root->held_tables) extents.push_back(ref.extent());
    for (const auto& held : root->held) {
      check_extent(held.extent, held.born, root->generation);
      require(held.born < held.retired && held.retired <= root->generation);
      extents.push_back(held.extent);
    }
    require(extents.size() * 32 <= bytes.size() && check_disjoint(extents).has_value());
    const auto again = parse_root(encode_root(*root), limits);
    require(again.has_value() && again->tables == root->tables && again->held == root->held &&
            again->held_tables == root->held_tables && again->taken_back == root->taken_back &&
            root->taken_back < root->generation);
  }
}

void check_table(std::span<const std::byte> bytes) {
  const ParseLimits limits{{10}, kHighWater, 0, container::all_kinds().rules()};
  const auto segments = parse_table(bytes, limits);
  if (!segments) return;
  std::size_t copied_bytes = 0;
  SegmentId previous;
  for (const auto& segment : *segments) {
    require(previous < segment.id);
    previous = segment.id;
    copied_bytes += segment.name.size() + segment.runs.size() * 48;
    for (const auto& run : segment.runs) check_extent(run.extent(), run.born, limits.generation);
  }
  require(copied_bytes <= bytes.size() && segments->size() <= kTableSegmentsMax);
  const auto again = encode_table(*segments);
  if (again.size() <= kTableBytesMax) require(parse_table(again, limits) == segments);
}

void check_held_table(std::span<const std::byte> bytes) {
  const ParseLimits limits{{10}, kHighWater, 0};
  const auto entries = parse_held_table(bytes, limits);
  if (!entries) return;
  for (const auto& held : *entries) check_extent(held.extent, held.born, limits.generation);
  require(entries->size() * 32 <= bytes.size());
  require(parse_held_table(encode_held_table(*entries), limits) == entries);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] % 3 == 0) check_root(bytes);
  if (data[0] % 3 == 1) check_table(bytes);
  if (data[0] % 3 == 2) check_held_table(bytes);
  return 0;
}
