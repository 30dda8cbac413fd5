// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tree over the tiles of a tiled segment, in memory: spec/container.md#tiled-segments.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include <crawlstore/storage.h>

#include "format/directory.h"
#include "format/tile_node.h"

namespace crawlstore::container {

/// Reads the nodes of the tiled segments of one directory.
class TileLoader {
 public:
  /// `storage` and `uuid` outlive it.
  TileLoader(Storage& storage, const Uuid& uuid, std::uint64_t high_water_bytes)
      : storage_(storage), uuid_(uuid), high_water_bytes_(high_water_bytes) {}

  /// Replaces the root in `entry.runs` by all runs, and fills in tree_order; does nothing to other
  /// segments. After an error `entry.runs` has what could be found, ascending.
  ///   cost    one read of 4 KiB a node; no place is read twice by one loader, so that work and
  ///           memory are bounded by the bytes of the file
  ///   errors  kDirectoryDamaged, kDirectoryInvalid, kTruncated, kIo; with the segment
  Result<void> load(format::SegmentEntry& entry);

  /// The tiles that can be reached although nodes are damaged, by index. Where a node is, nothing
  /// is known of the tiles under it, and, if it was the last of its row, of how many there were.
  std::vector<std::optional<format::RunRef>> readable_tiles(const format::SegmentEntry& entry);

 private:
  Result<format::TileNode> read_node(SegmentId segment, const format::RunRef& ref,
                                     std::vector<std::byte>& buffer);

  Storage& storage_;
  const Uuid& uuid_;
  const std::uint64_t high_water_bytes_;
  std::set<std::uint64_t> read_offsets_;
};

/// The place of a run in its tree.
///   row     0: a tile; k + 1: a node of level k
///   index   from 0 in its row
struct TilePlace {
  std::size_t row = 0;
  std::uint64_t index = 0;
  auto operator<=>(const TilePlace&) const = default;
};

/// A tree that is being changed. Holds a copy of all references.
class TileTree {
 public:
  TileTree() = default;
  /// Makes the tree of an entry with its tree_order, loaded or made by store_in().
  explicit TileTree(const format::SegmentEntry& entry);

  [[nodiscard]] std::uint64_t tile_count() const { return rows_.front().size(); }
  [[nodiscard]] const format::RunRef& at(TilePlace place) const {
    return rows_[place.row][place.index];
  }
  /// The number of the first tile at this place or under it.
  [[nodiscard]] static std::uint64_t first_tile(TilePlace place);
  /// The place of entry `position` of tree_order.
  [[nodiscard]] TilePlace place_of(std::uint64_t position) const;

  /// Replaces tile `index`, or appends one when it is tile_count().
  void set_tile(std::uint64_t index, const format::RunRef& ref);
  /// A node is to be written anew.
  void touch(TilePlace node) { changed_.insert(node); }

  /// Writes a node; `place` is its place, `replaced` the reference it had, or nullptr.
  using NodeWriter = std::function<Result<format::RunRef>(
      TilePlace place, const format::TileNode& node, const format::RunRef* replaced)>;

  /// Writes the nodes above what was changed, children before parents. After an error the tree is
  /// good for nothing.
  Result<void> write_nodes(const NodeWriter& write);

  /// Puts all references into the entry: ascending run ids, and the order of the tree.
  void store_in(format::SegmentEntry& entry) const;

 private:
  friend class TileLoader;

  std::vector<std::vector<format::RunRef>> rows_ = std::vector<std::vector<format::RunRef>>(1);
  std::set<TilePlace> changed_;  // nodes
};

/// The reference to tile `index` of a loaded entry, in O(1); the caller has bounded it.
const format::RunRef& tile_ref(const format::SegmentEntry& entry, std::uint64_t index);

/// Tiles of a loaded entry. O(log n).
std::uint64_t tile_count(const format::SegmentEntry& entry);

}  // namespace crawlstore::container
