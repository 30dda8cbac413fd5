// SPDX-License-Identifier: Apache-2.0
//
// Invariants of TileTree: rows_[0] are the tiles, rows_[k + 1] the nodes of level k; unless a
// change waits, each row is as long as kTileFanOut asks for over the one below, and the last has
// one entry.
#include "container/tile_tree.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"
#include "container/run_io.h"
#include "format/layout.h"

namespace crawlstore::container {
namespace {

using format::kTileFanOut;
using format::RunRef;

std::uint64_t parents_of(std::uint64_t count) {
  return (count + kTileFanOut - 1) / kTileFanOut;
}

/// Tiles and nodes of a tree.
std::uint64_t run_count(std::uint64_t tiles) {
  std::uint64_t sum = tiles;
  std::uint64_t row = tiles;
  do {
    row = parents_of(row);
    sum += row;
  } while (row > 1);
  return sum;
}

/// The tiles of a tree of so many runs.
std::uint64_t tiles_of(std::uint64_t runs) {
  std::uint64_t low = 1;
  std::uint64_t high = runs;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (run_count(middle) < runs) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  CRAWLSTORE_ASSERT(run_count(low) == runs);
  return low;
}

/// nullptr, or the rule that a node breaks where it stands.
const char* check_shape(const format::TileNode& node, std::size_t level, bool is_last,
                        bool is_root) {
  if (node.level != level) return "a tile node is of another level than its place asks for";
  if (!is_last && node.children.size() != kTileFanOut) {
    return "a tile node is not full, and not the last of its level";
  }
  if (is_root && level > 0 && node.children.size() < 2) {
    return "the tree of a tiled segment has a level too many";
  }
  return nullptr;
}

}  // namespace

Result<format::TileNode> TileLoader::read_node(SegmentId segment, const RunRef& ref,
                                               std::vector<std::byte>& buffer) {
  if (const char* broken = format::check_tile_node_bytes(ref.payload_bytes)) {
    return fail(Errc::kDirectoryInvalid, broken, ref.offset_bytes, segment);
  }
  if (!read_offsets_.insert(ref.offset_bytes).second) {
    return fail(Errc::kDirectoryInvalid, "two extents overlap", ref.offset_bytes, segment);
  }
  const auto read = read_run(storage_, {uuid_, segment, ref.run_id}, ref, buffer);
  if (!read && read.error().code == Errc::kChunkDamaged) {
    return fail(Errc::kDirectoryDamaged, "the checksum of a tile node does not match",
                ref.offset_bytes, segment);
  }
  if (!read) return tl::unexpected<Error>(read.error());
  auto node = format::parse_tile_node(buffer, ref, high_water_bytes_);
  if (!node) {
    return fail(node.error().code, node.error().text, node.error().offset, segment);
  }
  return node;
}

Result<void> TileLoader::load(format::SegmentEntry& entry) {
  if (entry.storage_class != StorageClass::kTiled) return {};
  std::vector<std::vector<RunRef>> rows{{entry.runs.back()}};  // from the root down
  std::vector<std::byte> buffer;
  const auto read_row = [&](std::size_t& level) -> Result<void> {
    const auto nodes = rows.back();
    auto& children = rows.emplace_back();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      CRAWLSTORE_TRY(auto node, read_node(entry.id, nodes[i], buffer));
      const bool is_root = rows.size() == 2;
      if (is_root) level = node.level;
      if (const char* broken = check_shape(node, level, i + 1 == nodes.size(), is_root)) {
        return fail(Errc::kDirectoryInvalid, broken, nodes[i].offset_bytes, entry.id);
      }
      children.insert(children.end(), node.children.begin(), node.children.end());
    }
    return {};
  };
  std::size_t level = 0;
  Result<void> loaded = read_row(level);
  while (loaded && level-- > 0) loaded = read_row(level);
  TileTree tree;
  tree.rows_.assign(rows.rbegin(), rows.rend());
  tree.store_in(entry);
  if (!loaded) entry.tree_order.clear();
  return loaded;
}

std::vector<std::optional<RunRef>> TileLoader::readable_tiles(const format::SegmentEntry& entry) {
  std::vector<std::optional<RunRef>> row{entry.runs.back()};
  std::vector<std::byte> buffer;
  std::optional<std::size_t> level;  // of the row, known when a node of it was read
  do {
    std::vector<std::optional<RunRef>> below;
    std::optional<std::size_t> found_level;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i]) {
        below.resize(below.size() + format::kTileFanOut);
        continue;
      }
      const auto node = read_node(entry.id, *row[i], buffer);
      const bool fits = node && (!level || node->level == *level) &&
                        (i + 1 == row.size() || node->children.size() == format::kTileFanOut);
      if (!fits) {
        below.resize(below.size() + format::kTileFanOut);
        continue;
      }
      found_level = node->level;
      below.insert(below.end(), node->children.begin(), node->children.end());
    }
    if (!found_level && !level) return {};  // the root
    // Each tile has a unit of the file.
    if (below.size() > high_water_bytes_ / format::kUnitBytes) return {};
    level = level ? *level : *found_level;
    row = std::move(below);
  } while ((*level)-- > 0);
  return row;
}

TileTree::TileTree(const format::SegmentEntry& entry) {
  CRAWLSTORE_ASSERT(entry.tree_order.size() == entry.runs.size() && !entry.runs.empty());
  std::uint64_t row = tiles_of(entry.runs.size());
  auto position = entry.tree_order.begin();
  rows_.clear();
  do {
    if (!rows_.empty()) row = parents_of(row);
    auto& refs = rows_.emplace_back();
    refs.reserve(row);
    for (std::uint64_t i = 0; i < row; ++i) refs.push_back(entry.runs[*position++]);
  } while (row > 1 || rows_.size() == 1);
}

std::uint64_t TileTree::first_tile(TilePlace place) {
  std::uint64_t first = place.index;
  for (std::size_t row = 0; row < place.row; ++row) first *= format::kTileFanOut;
  return first;
}

TilePlace TileTree::place_of(std::uint64_t position) const {
  TilePlace place{0, position};
  while (place.index >= rows_[place.row].size()) place.index -= rows_[place.row++].size();
  return place;
}

void TileTree::set_tile(std::uint64_t index, const RunRef& ref) {
  auto& tiles = rows_.front();
  CRAWLSTORE_ASSERT(index <= tiles.size());
  if (index == tiles.size()) {
    tiles.push_back(ref);
  } else {
    tiles[index] = ref;
  }
  touch({1, index / kTileFanOut});
}

Result<void> TileTree::write_nodes(const NodeWriter& write) {
  while (!changed_.empty()) {
    const TilePlace place = *changed_.begin();  // the lowest row first
    changed_.erase(changed_.begin());
    const auto& children = rows_[place.row - 1];
    const std::uint64_t begin = place.index * kTileFanOut;
    const std::uint64_t end = std::min<std::uint64_t>(begin + kTileFanOut, children.size());
    const format::TileNode node{static_cast<std::uint16_t>(place.row - 1),
                                {children.begin() + static_cast<std::ptrdiff_t>(begin),
                                 children.begin() + static_cast<std::ptrdiff_t>(end)}};
    if (rows_.size() == place.row) rows_.emplace_back();
    auto& row = rows_[place.row];
    const bool is_new = place.index == row.size();
    CRAWLSTORE_ASSERT(place.index <= row.size());
    CRAWLSTORE_TRY(const auto written, write(place, node, is_new ? nullptr : &row[place.index]));
    if (is_new) {
      row.push_back(written);
    } else {
      row[place.index] = written;
    }
    const bool is_root =
        rows_.size() == place.row + 1 && parents_of(rows_[place.row - 1].size()) == 1;
    if (!is_root) touch({place.row + 1, place.index / kTileFanOut});
  }
  return {};
}

void TileTree::store_in(format::SegmentEntry& entry) const {
  std::vector<RunRef> refs;
  for (const auto& row : rows_) refs.insert(refs.end(), row.begin(), row.end());
  std::vector<std::uint32_t> ascending(refs.size());
  std::iota(ascending.begin(), ascending.end(), 0U);
  std::sort(ascending.begin(), ascending.end(),
            [&refs](std::uint32_t a, std::uint32_t b) { return refs[a].run_id < refs[b].run_id; });
  entry.runs.resize(refs.size());
  entry.tree_order.resize(refs.size());
  for (std::uint32_t i = 0; i < ascending.size(); ++i) {
    entry.runs[i] = refs[ascending[i]];
    entry.tree_order[ascending[i]] = i;
  }
}

const RunRef& tile_ref(const format::SegmentEntry& entry, std::uint64_t index) {
  return entry.runs[entry.tree_order[index]];
}

std::uint64_t tile_count(const format::SegmentEntry& entry) {
  return tiles_of(entry.runs.size());
}

}  // namespace crawlstore::container
