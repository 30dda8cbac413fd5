// SPDX-License-Identifier: Apache-2.0
#include "model/bucket_bars.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/tools/drum_statistics.h>

#include "drum/memory_store.h"
#include "golden/patch.h"

namespace crawlstore::model {
namespace {

using testing::must;

std::vector<BucketBar> bars_of(const std::vector<double>& merge_shares) {
  std::vector<BucketBar> bars;
  for (const double share : merge_shares)
    bars.push_back({.bucket = bars.size(), .merge_share = share});
  return bars;
}

std::vector<std::uint64_t> numbers(const std::vector<BucketBar>& bars) {
  std::vector<std::uint64_t> found;
  for (const BucketBar& bar : bars) found.push_back(bar.bucket);
  return found;
}

TEST(BucketBars, AreMeasuredByTheThresholdsThatTheFileStates) {
  std::uint64_t due = 0;
  std::uint64_t next = 0;
  for (const std::string& path : testing::golden_paths("valid")) {
    SCOPED_TRACE(path);
    const auto snapshot = must(Snapshot::open(path));
    for (const DrumInfo& info : must(list_drums(snapshot))) {
      const auto view = must(DrumView::open(snapshot, info.name));
      const BucketBars found = bucket_bars(view);
      ASSERT_EQ(found.bars.size(), view.buckets().size());
      for (const BucketBar& bar : found.bars) {
        const auto fill = must(bucket_fill(view, bar.bucket));
        EXPECT_EQ(fill.merge_ratio.has_value(), found.states_merge);
        EXPECT_EQ(fill.split_ratio.has_value(), found.states_split);
        EXPECT_EQ(fill.merge_ratio.value_or(bar.merge_share), bar.merge_share);
        EXPECT_DOUBLE_EQ(fill.split_ratio.value_or(bar.split_share), bar.split_share);
        EXPECT_EQ(bar.key_count, view.buckets()[bar.bucket].key_count);
        due += bar.mark == BucketMark::kMergeDue ? 1 : 0;
        next += bar.mark == BucketMark::kMergeNext ? 1 : 0;
      }
    }
  }
  EXPECT_GT(due, 0U);
  EXPECT_GT(next, 0U);
}

TEST(BucketBars, AreMeasuredByTheLargestWhereTheFileStatesNothing) {
  const auto snapshot = must(Snapshot::open(std::string(CRAWLSTORE_SOURCE_DIR) +
                                            "/tests/golden/valid/thresholds_not_stated.crawl"));
  const auto drums = must(list_drums(snapshot));
  const BucketBars found = bucket_bars(must(DrumView::open(snapshot, drums.front().name)));
  EXPECT_FALSE(found.states_merge);
  double largest = 0;
  for (const BucketBar& bar : found.bars) {
    largest = std::max(largest, bar.merge_share);
    EXPECT_EQ(bar.mark, BucketMark::kNone);
  }
  EXPECT_EQ(largest, 1);
}

TEST(BucketBars, StandFullestFirst) {
  auto bars = bars_of({0.5, 2, 0.5, 0});
  bars[2].split_share = 0.25;
  sort_by_fill(bars);
  EXPECT_EQ(numbers(bars), (std::vector<std::uint64_t>{1, 2, 0, 3}));
}

TEST(BucketColumns, ShareABarWhereThereIsNoRoom) {
  auto bars = bars_of({0.1, 0.9, 0.3, 0.2, 0});
  bars[0].split_share = 3;
  const auto columns = bucket_columns(bars, 3);
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[0].fullest.bucket, 1U);
  EXPECT_EQ(columns[0].split_share, 3);
  EXPECT_EQ(columns[1].fullest.bucket, 2U);
  EXPECT_EQ(columns[2].first, 4U);
  EXPECT_EQ(columns[2].bar_count, 1U);
  EXPECT_EQ(bucket_columns(bars, 100).size(), 5U);
  EXPECT_TRUE(bucket_columns(bars, 0).empty());
  EXPECT_TRUE(bucket_columns({}, 7).empty());
}

}  // namespace
}  // namespace crawlstore::model
