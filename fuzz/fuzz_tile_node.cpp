// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parser or makes it read outside it;
//   - children of an accepted node are aligned, inside the data, born in time, with smaller run
//   ids;
//   - the records of the children add up to what the reference says;
//   - encoding an accepted node again gives the same bytes: there is one payload for one content.
//
// Input: 8 bytes (the record count of the reference), then the payload. The node was born in 10 and
// has the run id 1,000; the high water mark is 1 TiB.

#include <cstdint>
#include <span>
#include <vector>

#include "format/endian.h"
#include "format/layout.h"
#include "format/tile_node.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;

constexpr std::uint64_t kHighWater = std::uint64_t{1} << 40;

void check_child(const RunRef& child, std::uint16_t level) {
  const Extent extent = child.extent();
  require(extent.offset_bytes % kUnitBytes == 0 && extent.length_bytes % kUnitBytes == 0);
  require(extent.offset_bytes >= kDataStart && extent.end_bytes() <= kHighWater);
  require(child.born.value >= 1 && child.born.value <= 10);
  require(child.run_id.value >= 1 && child.run_id.value < 1000);
  require(level == 0 || extent.length_bytes == kUnitBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> payload(bytes.begin() + 8, bytes.end());
  const auto record_count = load<std::uint64_t>(bytes.data());
  const RunRef self{kDataStart, {10}, {1000}, payload.size(), record_count, 0};
  const auto node = parse_tile_node(payload, self, kHighWater);
  if (!node) return 0;
  require(node->level <= kTileLevelMax && node->record_count() == record_count);
  require(!node->children.empty() && node->children.size() <= kTileFanOut);
  for (const RunRef& child : node->children) check_child(child, node->level);
  std::vector<std::byte> again;
  encode_tile_node(*node, again);
  require(again == payload);
  return 0;
}
