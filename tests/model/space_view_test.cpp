// SPDX-License-Identifier: Apache-2.0
#include "model/space_view.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum_view.h>
#include <crawlstore/tools/file_map.h>

#include "golden/patch.h"

namespace crawlstore::model {
namespace {

TEST(SpaceShares, AddUpToTheLengthOfEveryGolden) {
  for (const std::string& path : testing::golden_paths("valid")) {
    const auto snapshot = Snapshot::open(path);
    ASSERT_TRUE(snapshot) << path;
    const StoreInfo info = *snapshot->info();
    std::uint64_t sum = 0;
    for (const SpaceShare& share : space_shares(info, snapshot->segments())) {
      sum += share.allocated_bytes;
      EXPECT_LE(share.payload_bytes, share.allocated_bytes) << path << " " << share.name;
    }
    EXPECT_EQ(sum, info.file_bytes) << path;
  }
}

TEST(SpaceShares, StandInTheirOrder) {
  for (const std::string& path : testing::golden_paths("valid")) {
    const auto snapshot = Snapshot::open(path);
    const auto shares = space_shares(*snapshot->info(), snapshot->segments());
    ASSERT_GE(shares.size(), 4U);
    EXPECT_EQ(shares.front().name, "superblocks");
    EXPECT_EQ(shares[shares.size() - 3].name, "directory");
    EXPECT_EQ(shares[shares.size() - 2].name, "held");
    EXPECT_EQ(shares.back().name, "free");
    EXPECT_TRUE(
        std::is_sorted(shares.begin() + 1, shares.end() - 3,
                       [](const SpaceShare& a, const SpaceShare& b) { return a.kind < b.kind; }));
    for (const SpaceShare& share : shares) {
      if (share.kind == 0) continue;
      EXPECT_EQ(share.name, name_of(static_cast<SegmentKind>(share.kind)));
    }
  }
}

// The map of the file is made by other code, byte by byte.
TEST(SpaceShares, AgreeWithTheMapOfTheFile) {
  for (const std::string& path : testing::golden_paths("valid")) {
    const auto snapshot = Snapshot::open(path);
    std::map<unsigned, std::uint64_t> bytes_of_kind;
    std::map<unsigned, std::uint64_t> runs_of_kind;
    const auto pieces = *extents(*snapshot);
    for (const ExtentInfo& info : pieces) {
      if (info.use != ExtentUse::kRun) continue;
      bytes_of_kind[static_cast<unsigned>(info.kind)] += info.extent.length_bytes;
      ++runs_of_kind[static_cast<unsigned>(info.kind)];
    }
    std::uint64_t records = 0;
    for (const SpaceShare& share : space_shares(*snapshot->info(), snapshot->segments())) {
      if (share.kind == 0) continue;
      EXPECT_EQ(share.allocated_bytes, bytes_of_kind[share.kind]) << path << " " << share.name;
      EXPECT_EQ(share.run_count, runs_of_kind[share.kind]) << path << " " << share.name;
      if (share.kind == static_cast<unsigned>(SegmentKind::kDrumPartition)) {
        records = share.record_count;
      }
    }
    std::uint64_t keys = 0;
    const auto drums = *list_drums(*snapshot);
    for (const DrumInfo& drum : drums) keys += drum.key_count;
    EXPECT_EQ(records, keys) << path;
  }
}

TEST(SpaceTable, HasARowAShare) {
  const auto snapshot = Snapshot::open(testing::golden_paths("valid").front());
  const auto info = *snapshot->info();
  const Table table = space_table(info, snapshot->segments());
  const auto shares = space_shares(info, snapshot->segments());
  EXPECT_EQ(table.name, "space_shares");
  ASSERT_EQ(table.rows.size(), shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    ASSERT_EQ(table.rows[i].size(), table.columns.size());
    EXPECT_EQ(table.rows[i][0], Cell{shares[i].name});
  }
  // If a file could not be opened, nothing is known, and nothing divided by.
  EXPECT_EQ(space_table(StoreInfo{}, {}).rows.size(), 4U);
}

}  // namespace
}  // namespace crawlstore::model
