// SPDX-License-Identifier: Apache-2.0
#include "model/map_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/snapshot.h>

#include "golden/patch.h"
#include "support/seeded.h"

namespace crawlstore::model {
namespace {

using testing::SeededRandom;
using Extents = std::vector<ExtentInfo>;

/// Pieces of random lengths that together are a file.
Extents random_extents(SeededRandom& random, std::uint64_t unit) {
  Extents all;
  std::uint64_t at = 0;
  for (std::uint64_t i = 1 + random.below(60); i > 0; --i) {
    ExtentInfo info;
    info.extent = {at, unit * (1 + (random.next() & 0xffffU) % (1 + random.below(200)))};
    at = info.extent.end_bytes();
    all.push_back(info);
  }
  return all;
}

/// The bytes that an extent has of a cell.
std::uint64_t share(const ExtentInfo& info, std::uint64_t offset, std::uint64_t cell_bytes) {
  const std::uint64_t begin = std::max(offset, info.extent.offset_bytes);
  const std::uint64_t end = std::min(offset + cell_bytes, info.extent.end_bytes());
  return end > begin ? end - begin : 0;
}

void expect_cell(const Extents& extents, const MapCell& cell, std::uint64_t cell_bytes) {
  ASSERT_LT(cell.extent, extents.size());
  std::uint64_t most = 0;
  int count = 0;
  for (const ExtentInfo& info : extents) {
    const std::uint64_t bytes = share(info, cell.offset_bytes, cell_bytes);
    most = std::max(most, bytes);
    count += bytes > 0 ? 1 : 0;
  }
  EXPECT_EQ(share(extents[cell.extent], cell.offset_bytes, cell_bytes), most);
  EXPECT_EQ(cell.is_mixed, count > 1) << cell.offset_bytes;
}

TEST(MapCells, CoverTheFileOnce) {
  SeededRandom random;
  for (int i = 0; i < 500; ++i) {
    const Extents extents = random_extents(random, random.one_in(2) ? 4096 : 1);
    const std::uint64_t file_bytes = extents.back().extent.end_bytes();
    const std::uint64_t cell_bytes = 1 + random.below(file_bytes * 2);
    if (file_bytes / cell_bytes > 5000) continue;
    const auto cells = map_cells(extents, 0, cell_bytes, ~std::size_t{0});
    ASSERT_EQ(cells.size(), (file_bytes + cell_bytes - 1) / cell_bytes);
    for (std::size_t j = 0; j < cells.size(); ++j) {
      EXPECT_EQ(cells[j].offset_bytes, j * cell_bytes);
      expect_cell(extents, cells[j], cell_bytes);
    }
  }
}

TEST(MapCells, ShowAWindowOfTheWhole) {
  SeededRandom random;
  for (int i = 0; i < 500; ++i) {
    const Extents extents = random_extents(random, 4096);
    const std::uint64_t file_bytes = extents.back().extent.end_bytes();
    const std::uint64_t cell_bytes = std::uint64_t{4096} << random.below(8);
    const std::uint64_t first = random.below(file_bytes + cell_bytes);
    const std::size_t count_max = random.below(20);
    const auto cells = map_cells(extents, first, cell_bytes, count_max);
    const std::uint64_t left = first < file_bytes ? file_bytes - first : 0;
    ASSERT_EQ(cells.size(),
              std::min<std::uint64_t>(count_max, (left + cell_bytes - 1) / cell_bytes));
    for (std::size_t j = 0; j < cells.size(); ++j) {
      EXPECT_EQ(cells[j].offset_bytes, first + j * cell_bytes);
      expect_cell(extents, cells[j], cell_bytes);
    }
  }
}

TEST(MapCells, AreNoneOfNothing) {
  EXPECT_TRUE(map_cells({}, 0, 4096, 10).empty());
}

TEST(MapCellBytes, AreTheLeastPowerOfTwoThatHoldsTheFile) {
  SeededRandom random;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t file_bytes = random.number() >> 2;
    const std::uint64_t cells = 1 + random.number() % 1'000'000;
    const std::uint64_t bytes = map_cell_bytes(file_bytes, cells);
    const auto holds = [&](std::uint64_t cell_bytes) {
      return (file_bytes + cell_bytes - 1) / cell_bytes <= cells;
    };
    EXPECT_EQ(bytes & (bytes - 1), 0U);
    EXPECT_GE(bytes, 4096U);
    EXPECT_TRUE(holds(bytes)) << file_bytes << " in " << cells;
    EXPECT_TRUE(bytes == 4096 || !holds(bytes / 2)) << file_bytes << " in " << cells;
  }
  EXPECT_EQ(map_cell_bytes(0, 100), 4096U);
  EXPECT_GE(map_cell_bytes(~std::uint64_t{0}, 1), std::uint64_t{1} << 62U);
  EXPECT_GE(map_cell_bytes(1'000'000, 0), 4096U);
}

TEST(FindExtent, FindsTheOneThatHoldsAByte) {
  SeededRandom random;
  for (int i = 0; i < 200; ++i) {
    const Extents extents = random_extents(random, 4096);
    for (std::size_t j = 0; j < extents.size(); ++j) {
      EXPECT_EQ(find_extent(extents, extents[j].extent.offset_bytes), j);
      EXPECT_EQ(find_extent(extents, extents[j].extent.end_bytes() - 1), j);
    }
    EXPECT_EQ(find_extent(extents, extents.back().extent.end_bytes()), extents.size());
    EXPECT_EQ(find_extent(extents, ~std::uint64_t{0}), extents.size());
  }
  EXPECT_EQ(find_extent({}, 0), 0U);
}

TEST(ExtentsTable, HasARowAPieceOfEveryGolden) {
  for (const std::string& path : testing::golden_paths("valid")) {
    const auto all = extents(*Snapshot::open(path));
    ASSERT_TRUE(all) << path;
    const Table table = extents_table(*all);
    EXPECT_EQ(table.name, "extents");
    ASSERT_EQ(table.rows.size(), all->size());
    for (std::size_t i = 0; i < all->size(); ++i) {
      ASSERT_EQ(table.rows[i].size(), table.columns.size());
      EXPECT_EQ(table.rows[i][0], Cell{(*all)[i].extent.offset_bytes});
      EXPECT_EQ(table.rows[i][1], Cell{(*all)[i].extent.length_bytes});
      EXPECT_EQ(table.rows[i][2], Cell{std::string(extent_name((*all)[i]))});
    }
    EXPECT_EQ(extent_name(all->front()), "identity");
  }
}

TEST(ExtentName, IsTheKindOfARunOrTheUse) {
  ExtentInfo info;
  info.use = ExtentUse::kRun;
  info.kind = SegmentKind::kDrumKeyLog;
  EXPECT_EQ(extent_name(info), name_of(SegmentKind::kDrumKeyLog));
  info.use = ExtentUse::kHeld;
  EXPECT_EQ(extent_name(info), "held");
}

double area(const MapTile& tile) {
  return static_cast<double>(tile.width) * static_cast<double>(tile.height);
}

/// Whether they share more than what rounding explains.
bool overlap(const MapTile& a, const MapTile& b, float rounding) {
  return std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x) > rounding &&
         std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y) > rounding;
}

void expect_treemap(const std::vector<double>& sizes, float width, float height) {
  const auto tiles = squarify(sizes, width, height);
  ASSERT_EQ(tiles.size(), sizes.size());
  const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  const double whole = static_cast<double>(width) * static_cast<double>(height);
  const float rounding = 1e-4F * std::max(width, height);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const MapTile& tile = tiles[i];
    ASSERT_TRUE(std::isfinite(tile.x) && std::isfinite(tile.y) && std::isfinite(tile.width) &&
                std::isfinite(tile.height));
    EXPECT_GE(tile.width, 0.0F);
    EXPECT_GE(tile.height, 0.0F);
    EXPECT_NEAR(area(tile), sizes[i] / sum * whole, 1e-3 * whole);
    EXPECT_GE(tile.x, 0.0F);
    EXPECT_GE(tile.y, 0.0F);
    EXPECT_LE(tile.x + tile.width, width + rounding);
    EXPECT_LE(tile.y + tile.height, height + rounding);
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(tile, tiles[j], rounding));
  }
}

TEST(Squarify, GivesAreasInProportionThatDoNotOverlap) {
  SeededRandom random;
  for (int i = 0; i < 300; ++i) {
    std::vector<double> sizes(1 + random.below(60));
    for (double& size : sizes) size = static_cast<double>(random.number());
    std::ranges::sort(sizes, std::greater<>());
    if (sizes.front() == 0) continue;
    expect_treemap(sizes, 1.0F + static_cast<float>(random.below(3000)),
                   1.0F + static_cast<float>(random.below(2000)));
  }
}

TEST(Squarify, ManagesExtremes) {
  expect_treemap({1}, 100, 50);
  expect_treemap({1e18, 1, 1, 1}, 1280, 800);
  expect_treemap({1e300, 1e-300}, 1280, 800);
  expect_treemap(std::vector<double>(3000, 1.0), 640, 400);
  expect_treemap({3, 2, 1, 0, 0}, 10, 1000);
  for (const MapTile& tile : squarify({0, 0}, 10, 10)) EXPECT_EQ(area(tile), 0.0);
  EXPECT_TRUE(squarify({}, 10, 10).empty());
  for (const MapTile& tile : squarify({2, 1}, 0, 10)) EXPECT_EQ(area(tile), 0.0);
}

TEST(Squarify, IsCloseToSquares) {
  // The example of the paper: 6 x 4 and 6 6 4 3 2 2 1.
  const auto tiles = squarify({6, 6, 4, 3, 2, 2, 1}, 6, 4);
  for (const MapTile& tile : tiles) {
    EXPECT_LE(std::max(tile.width / tile.height, tile.height / tile.width), 2.8F);
  }
  EXPECT_NEAR(tiles[0].width, 3.0, 1e-5);
  EXPECT_NEAR(tiles[0].height, 2.0, 1e-5);
}

Finding finding_at(std::uint64_t offset, Errc code) {
  Finding finding;
  finding.error.code = code;
  finding.error.offset = offset;
  return finding;
}

ExtentInfo piece(std::uint64_t offset, std::uint64_t length, ExtentUse use) {
  ExtentInfo info;
  info.extent = {offset, length};
  info.use = use;
  return info;
}

TEST(Damage, IsWholeChunksWithinTheirRun) {
  const Extents extents{piece(0, 4096, ExtentUse::kSuperblock),
                        piece(4096, 200'000, ExtentUse::kRun),
                        piece(204'096, 4096, ExtentUse::kFree)};
  constexpr std::uint64_t kChunk = 65536;
  const auto damaged = damaged_extents(
      extents, {finding_at(4096 + 3 * kChunk, Errc::kChunkDamaged),  // the last, cut by the run
                finding_at(4096, Errc::kChunkDamaged), finding_at(4096, Errc::kChunkDamaged),
                finding_at(4096 + kChunk + 8, Errc::kSegmentInvalid),
                finding_at(40, Errc::kSuperblockDamaged), finding_at(Error::kNoOffset, Errc::kIo),
                finding_at(1 << 30, Errc::kIo)});
  const std::vector<Extent> expected{
      {0, 4096 + kChunk}, {4096 + kChunk + 8, 1}, {4096 + 3 * kChunk, 200'000 - 3 * kChunk}};
  EXPECT_EQ(damaged, expected);
  EXPECT_EQ(damaged_bytes(damaged, extents[0].extent), 4096U);
  EXPECT_EQ(damaged_bytes(damaged, extents[1].extent), kChunk + 1 + 200'000 - 3 * kChunk);
  EXPECT_EQ(damaged_bytes(damaged, extents[2].extent), 0U);
  EXPECT_EQ(damaged_bytes(damaged, {4096 + kChunk - 1, 4096}), 2U);
  EXPECT_EQ(damaged_bytes({}, extents[0].extent), 0U);
}

TEST(SmallAreas, AreOneInItsPlace) {
  const std::vector<double> sizes{100, 50, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  const auto areas = merge_small_areas(sizes, 5);
  ASSERT_EQ(areas.size(), 3U);
  EXPECT_EQ(areas[1].count, 16U) << "between the larger and the smaller one";
  EXPECT_EQ(areas[1].first, 2U);
  EXPECT_EQ(areas[1].size, 64);
  EXPECT_EQ(areas[2].size, 50);
  EXPECT_EQ(areas[2].first, 1U);
  EXPECT_EQ(merge_small_areas(sizes, 4).size(), sizes.size()) << "none is below";
  ASSERT_EQ(merge_small_areas(sizes, 101).size(), 1U);
  EXPECT_EQ(merge_small_areas(sizes, 101)[0].size, 214);
  EXPECT_TRUE(merge_small_areas({}, 1).empty());
  const auto hidden = merge_small_areas({1e9, 3, 2}, 5);
  ASSERT_EQ(hidden.size(), 2U);
  EXPECT_EQ(hidden[1].size, 5);
  EXPECT_NEAR(hidden[1].shown, 0.02 * 1e9, 1) << "to be seen";
}

}  // namespace
}  // namespace crawlstore::model
