// SPDX-License-Identifier: Apache-2.0
#include "model/map_view.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "model/format_sizes.h"

namespace crawlstore::model {
namespace {

Cell number_or_none(std::uint64_t value) {
  return value == 0 ? Cell{} : Cell{value};
}

/// The worst ratio of sides in a row of areas along a side of that length.
double worst_ratio(double sum, double least, double most, double side) {
  const double squared = side * side;
  return std::max(squared * most / (sum * sum), sum * sum / (squared * least));
}

/// The area that no tile covers yet. In doubles: thousands of rows taken off a float leave a side
/// below zero.
struct Rest {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// Places areas [first, last) as one row along the shorter side of what is left.
void place_row(const std::vector<double>& areas, std::size_t first, std::size_t last,
               std::vector<MapTile>& tiles, Rest& left) {
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += areas[i];
  const bool is_upright = left.width >= left.height;
  const double side = is_upright ? left.height : left.width;
  double& depth = is_upright ? left.width : left.height;
  const double thickness = side > 0 ? std::min(sum / side, depth) : 0;
  double along = is_upright ? left.y : left.x;
  for (std::size_t i = first; i < last; ++i) {
    const double length = areas[i] / sum * side;
    const Rest tile = is_upright ? Rest{left.x, along, thickness, length}
                                 : Rest{along, left.y, length, thickness};
    tiles[i] = {static_cast<float>(tile.x), static_cast<float>(tile.y),
                static_cast<float>(tile.width), static_cast<float>(tile.height)};
    along += length;
  }
  (is_upright ? left.x : left.y) += thickness;
  depth -= thickness;
}

}  // namespace

std::string_view extent_name(const ExtentInfo& extent) {
  return extent.use == ExtentUse::kRun ? name_of(extent.kind) : name_of(extent.use);
}

Table extents_table(const std::vector<ExtentInfo>& extents) {
  Table table{"extents",
              {{"offset_bytes", Unit::kOffset},
               {"length_bytes", Unit::kBytes},
               {"kind", Unit::kText},
               {"segment", Unit::kId},
               {"run_id", Unit::kId},
               {"born", Unit::kId},
               {"retired", Unit::kId}},
              {}};
  for (const ExtentInfo& extent : extents) {
    table.rows.push_back({extent.extent.offset_bytes, extent.extent.length_bytes,
                          std::string(extent_name(extent)), number_or_none(extent.segment.value),
                          number_or_none(extent.run.value), number_or_none(extent.born.value),
                          number_or_none(extent.retired.value)});
  }
  return table;
}

std::size_t find_extent(const std::vector<ExtentInfo>& extents, std::uint64_t offset) {
  const auto after = std::ranges::upper_bound(
      extents, offset, {}, [](const ExtentInfo& extent) { return extent.extent.offset_bytes; });
  if (after == extents.begin() || offset >= (after - 1)->extent.end_bytes()) return extents.size();
  return static_cast<std::size_t>(after - extents.begin()) - 1;
}

std::uint64_t map_cell_bytes(std::uint64_t file_bytes, std::uint64_t cells) {
  if (cells == 0) return kUnitBytes;
  const std::uint64_t least = file_bytes / cells + (file_bytes % cells == 0 ? 0 : 1);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;
  return std::bit_ceil(std::clamp(least, kUnitBytes, kMost));
}

std::vector<MapCell> map_cells(const std::vector<ExtentInfo>& extents, std::uint64_t first_byte,
                               std::uint64_t cell_bytes, std::size_t count_max) {
  std::vector<MapCell> cells;
  std::size_t at = find_extent(extents, first_byte);
  for (std::uint64_t offset = first_byte; at < extents.size() && cells.size() < count_max;
       offset += cell_bytes) {
    MapCell cell{offset, at, false};
    std::uint64_t most = 0;
    const std::uint64_t end = offset + cell_bytes;
    for (;; ++at) {
      const Extent& extent = extents[at].extent;
      const std::uint64_t share =
          std::min(end, extent.end_bytes()) - std::max(offset, extent.offset_bytes);
      if (share > most) {
        most = share;
        cell.extent = at;
      }
      if (extent.end_bytes() > end) break;
      if (at + 1 == extents.size() || extent.end_bytes() == end) {
        ++at;
        break;
      }
      cell.is_mixed = true;
    }
    cells.push_back(cell);
  }
  return cells;
}

std::vector<Extent> damaged_extents(const std::vector<ExtentInfo>& extents,
                                    const std::vector<Finding>& findings) {
  std::vector<Extent> damaged;
  for (const Finding& finding : findings) {
    const std::uint64_t offset = finding.error.offset;
    const std::size_t at = find_extent(extents, offset);
    if (at == extents.size()) continue;
    const Extent whole = extents[at].extent;
    const std::uint64_t rest = whole.end_bytes() - offset;
    if (extents[at].use != ExtentUse::kRun) {
      damaged.push_back(whole);
    } else if (finding.error.code == Errc::kChunkDamaged) {
      damaged.push_back({offset, std::min(rest, kChunkBytes)});
    } else {
      damaged.push_back({offset, 1});
    }
  }
  std::ranges::sort(damaged, {}, &Extent::offset_bytes);
  std::vector<Extent> apart;
  for (const Extent& extent : damaged) {
    if (apart.empty() || apart.back().end_bytes() < extent.offset_bytes) {
      apart.push_back(extent);
      continue;
    }
    Extent& last = apart.back();
    last.length_bytes = std::max(last.end_bytes(), extent.end_bytes()) - last.offset_bytes;
  }
  return apart;
}

std::uint64_t damaged_bytes(const std::vector<Extent>& damaged, Extent extent) {
  std::uint64_t sum = 0;
  auto at = std::ranges::upper_bound(damaged, extent.offset_bytes, {}, &Extent::end_bytes);
  for (; at != damaged.end() && at->offset_bytes < extent.end_bytes(); ++at) {
    sum += std::min(at->end_bytes(), extent.end_bytes()) -
           std::max(at->offset_bytes, extent.offset_bytes);
  }
  return sum;
}

std::vector<MapArea> merge_small_areas(const std::vector<double>& sizes, double least) {
  std::vector<MapArea> areas;
  for (std::size_t i = 0; i < sizes.size() && sizes[i] >= least; ++i)
    areas.push_back({sizes[i], sizes[i], i});
  const std::size_t first = areas.size();
  MapArea small{0, 0, first, sizes.size() - first};
  for (std::size_t i = first; i < sizes.size(); ++i) small.size += sizes[i];
  if (small.count == 0) return areas;
  constexpr double kLeastShare = 0.02;
  double sum = small.size;
  for (const MapArea& area : areas) sum += area.size;
  small.shown = std::max(small.size, kLeastShare * sum);
  const auto place =
      std::ranges::upper_bound(areas, small.shown, std::greater<>{}, &MapArea::shown);
  areas.insert(place, small);
  return areas;
}

std::vector<MapTile> squarify(const std::vector<double>& sizes, float width, float height) {
  std::vector<MapTile> tiles(sizes.size());
  double sum = 0;
  for (const double size : sizes) sum += size;
  if (sum <= 0 || width <= 0 || height <= 0) return tiles;
  std::vector<double> areas;
  for (const double size : sizes) {
    const double area = size / sum * static_cast<double>(width) * static_cast<double>(height);
    if (area > 0) areas.push_back(area);
  }
  Rest left{0, 0, static_cast<double>(width), static_cast<double>(height)};
  for (std::size_t first = 0; first < areas.size();) {
    const double side = std::min(left.width, left.height);
    double row = areas[first];
    double worst = worst_ratio(row, areas[first], areas[first], side);
    std::size_t last = first + 1;
    for (; last < areas.size(); ++last) {
      const double longer = row + areas[last];
      const double next = worst_ratio(longer, areas[last], areas[first], side);
      if (next > worst) break;
      row = longer;
      worst = next;
    }
    place_row(areas, first, last, tiles, left);
    first = last;
  }
  return tiles;
}

}  // namespace crawlstore::model
