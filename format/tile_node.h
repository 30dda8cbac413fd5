// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The nodes of the tree over the tiles of a tiled segment: spec/container.md#tiled-segments.
/// Parsing copies. Pure functions; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "format/directory.h"

namespace crawlstore::format {

/// A node of level 0 refers to tiles, one of level k to nodes of level k - 1.
struct TileNode {
  std::uint16_t level = 0;
  std::vector<RunRef> children;  ///< 1 to kTileFanOut, in the order of their tiles
  friend bool operator==(const TileNode&, const TileNode&) = default;

  /// The sum over the children; what a reference to this node says.
  [[nodiscard]] std::uint64_t record_count() const;
};

/// Length of the payload of a node.
std::uint64_t tile_node_bytes(std::uint64_t child_count);

/// Appends the payload.
void encode_tile_node(const TileNode& node, std::vector<std::byte>& out);

/// nullptr, or why no node has a payload of this length. To be asked before it is read.
const char* check_tile_node_bytes(std::uint64_t payload_bytes);

/// Checks everything that one node alone can show: structure, level, counts, and each reference as
/// in a table of the directory; that children are older than the node, and of a length that their
/// level allows.
///   self    how the node was referred to
///   errors  kDirectoryInvalid at the node
Result<TileNode> parse_tile_node(std::span<const std::byte> payload, const RunRef& self,
                                 std::uint64_t high_water_bytes);

}  // namespace crawlstore::format
