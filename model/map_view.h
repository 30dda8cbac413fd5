// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The file from its first byte to its last: what each piece is, as a table, as cells of a map, and
/// as areas. Threads: pure functions.

#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/tools/file_map.h>
#include <crawlstore/tools/verify.h>

#include "model/table.h"

namespace crawlstore::model {

/// The table `extents`: one row a piece of the file, ascending.
Table extents_table(const std::vector<ExtentInfo>& extents);

/// The name of a piece: the kind of the run's segment, else the use.
std::string_view extent_name(const ExtentInfo& extent);

/// A cell of the map: some bytes in a row, and what most of them are.
struct MapCell {
  std::uint64_t offset_bytes = 0;
  std::size_t extent = 0;  ///< index of the extent that has most of the cell
  bool is_mixed = false;   ///< there are others
};

/// The cells from `first_byte` on, each of `cell_bytes`, at most `count_max`.
///   extents  as extents() gives them
///   cost     O(log n + extents touched)
std::vector<MapCell> map_cells(const std::vector<ExtentInfo>& extents, std::uint64_t first_byte,
                               std::uint64_t cell_bytes, std::size_t count_max);

/// The smallest power of two of bytes, at least the unit of 4 KiB, of which `cells` hold the file.
std::uint64_t map_cell_bytes(std::uint64_t file_bytes, std::uint64_t cells);

/// The extent that holds a byte, by binary search; the number of extents when none does.
std::size_t find_extent(const std::vector<ExtentInfo>& extents, std::uint64_t offset);

/// The bytes that findings spoil: of a damaged chunk the whole chunk, of other findings in a run
/// the byte at their offset, of the file's own structures the whole structure. Ascending, each
/// once.
std::vector<Extent> damaged_extents(const std::vector<ExtentInfo>& extents,
                                    const std::vector<Finding>& findings);
/// The bytes of an extent that these have; `damaged` as damaged_extents() gives them.
std::uint64_t damaged_bytes(const std::vector<Extent>& damaged, Extent extent);

/// An area of a treemap that stands for sizes [first, first + count) of a descending list.
struct MapArea {
  double size = 0;
  double shown = 0;  ///< as the map shows it
  std::size_t first = 0;
  std::size_t count = 1;
};

/// One area a size, but all below `least` in one. That one is shown with at least 2 % of the sum,
/// or nobody would see it. Descending as they are shown.
std::vector<MapArea> merge_small_areas(const std::vector<double>& sizes, double least);

/// One rectangle of a treemap, in the units of the whole.
struct MapTile {
  float x = 0;
  float y = 0;
  float width = 0;
  float height = 0;
};

/// Areas in proportion to `sizes`, which descend, close to squares (Bruls, Huizing, van Wijk,
/// "Squarified treemaps", 2000). Zeros get no area.
std::vector<MapTile> squarify(const std::vector<double>& sizes, float width, float height);

}  // namespace crawlstore::model
