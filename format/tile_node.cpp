// SPDX-License-Identifier: Apache-2.0
#include "format/tile_node.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"
#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::format {
namespace {

/// nullptr, or the text that names the broken rule.
using Broken = const char*;

Broken check_header(const TileNodeHeader& header, std::size_t payload_bytes) {
  if (header.magic != kTileNodeMagic) return "the magic number of a tile node is wrong";
  if (!is_zero(std::as_bytes(std::span(header.reserved)))) {
    return "reserved bytes of a tile node are not zero";
  }
  if (header.level > kTileLevelMax) return "the level of a tile node is out of range";
  if (header.child_count == 0 || header.child_count > kTileFanOut ||
      payload_bytes != tile_node_bytes(header.child_count)) {
    return "the child count of a tile node does not fit its length";
  }
  return nullptr;
}

RunRef load_child(std::span<const std::byte> payload, std::size_t i) {
  const auto child =
      load_struct<TileChild>(payload.data() + sizeof(TileNodeHeader) + i * sizeof(TileChild));
  return {child.offset_bytes,  {child.born},       {child.run_id},
          child.payload_bytes, child.record_count, child.checksum};
}

Broken check_child(const RunRef& child, std::uint16_t level, const RunRef& self,
                   const ParseLimits& limits) {
  if (child.run_id == RunId{} || child.run_id >= self.run_id) {
    return "a tile node does not have a greater run id than its children";
  }
  if (level > 0) {
    if (const Broken broken = check_tile_node_bytes(child.payload_bytes)) return broken;
  }
  return check_run_ref(child, limits);
}

}  // namespace

std::uint64_t TileNode::record_count() const {
  return std::accumulate(
      children.begin(), children.end(), std::uint64_t{0},
      [](std::uint64_t sum, const RunRef& child) { return sum + child.record_count; });
}

std::uint64_t tile_node_bytes(std::uint64_t child_count) {
  return sizeof(TileNodeHeader) + child_count * sizeof(TileChild);
}

void encode_tile_node(const TileNode& node, std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!node.children.empty() && node.children.size() <= kTileFanOut);
  CRAWLSTORE_ASSERT(node.level <= kTileLevelMax);
  const std::size_t begin = out.size();
  out.resize(begin + tile_node_bytes(node.children.size()));
  std::byte* place = out.data() + begin;
  store_struct(place, TileNodeHeader{kTileNodeMagic,
                                     node.record_count(),
                                     node.level,
                                     static_cast<std::uint16_t>(node.children.size()),
                                     {}});
  place += sizeof(TileNodeHeader);
  for (const RunRef& child : node.children) {
    store_struct(place, TileChild{child.offset_bytes, child.born.value, child.run_id.value,
                                  child.payload_bytes, child.record_count, child.checksum});
    place += sizeof(TileChild);
  }
}

const char* check_tile_node_bytes(std::uint64_t payload_bytes) {
  const bool fits = payload_bytes >= tile_node_bytes(1) &&
                    payload_bytes <= tile_node_bytes(kTileFanOut) &&
                    (payload_bytes - sizeof(TileNodeHeader)) % sizeof(TileChild) == 0;
  return fits ? nullptr : "the length of a tile node is out of range";
}

Result<TileNode> parse_tile_node(std::span<const std::byte> payload, const RunRef& self,
                                 std::uint64_t high_water_bytes) {
  const auto invalid = [&self](Broken text) {
    return fail(Errc::kDirectoryInvalid, text, self.offset_bytes);
  };
  if (const Broken broken = check_tile_node_bytes(payload.size())) return invalid(broken);
  const auto header = load_struct<TileNodeHeader>(payload.data());
  if (const Broken broken = check_header(header, payload.size())) return invalid(broken);
  const ParseLimits limits{self.born, high_water_bytes, self.offset_bytes};
  TileNode node;
  node.level = header.level;
  node.children.reserve(header.child_count);
  std::uint64_t record_count = 0;
  for (std::size_t i = 0; i < header.child_count; ++i) {
    const RunRef child = load_child(payload, i);
    if (const Broken broken = check_child(child, header.level, self, limits)) {
      return invalid(broken);
    }
    if (__builtin_add_overflow(record_count, child.record_count, &record_count)) {
      return invalid("the children of a tile node have too many records");
    }
    node.children.push_back(child);
  }
  if (record_count != header.record_count || record_count != self.record_count) {
    return invalid("the record count of a tile node is not the sum of its children");
  }
  return node;
}

}  // namespace crawlstore::format
