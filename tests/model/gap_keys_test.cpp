// SPDX-License-Identifier: Apache-2.0
#include "model/gap_keys.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/drum_cursor.h>
#include <crawlstore/tools/drum_statistics.h>

#include "drum/memory_store.h"
#include "model/key_text.h"
#include "support/seeded.h"

namespace crawlstore::model {
namespace {

using testing::must;

bool go_on(std::uint64_t /*done*/, std::uint64_t /*total*/) {
  return true;
}

/// A DRUM of 4 buckets with these keys.
class GapKeys : public ::testing::Test {
 protected:
  DrumView view_of(const std::vector<std::uint64_t>& keys) {
    DrumOptions options;
    options.bucket_count = 4;
    auto drum = must(Drum<std::uint64_t>::open(*store_, "keys", options));
    NullDispatcher nobody;
    for (const std::uint64_t key : keys) must(drum.check_update(key));
    must(drum.merge(nobody));
    must(store_->commit());
    return testing::drum_view(*store_, "keys");
  }
  testing::MemoryStore store_;
};

TEST_F(GapKeys, AreThoseThatTheHistogramCounts) {
  testing::SeededRandom random;
  std::vector<std::uint64_t> keys;
  for (int i = 0; i < 3000; ++i) keys.push_back(random.next());
  const DrumView view = view_of(keys);
  std::uint64_t first_row = 0;
  for (std::uint64_t bucket = 0; bucket < 4; ++bucket) {
    GapOptions options;
    options.bucket = bucket;
    const auto histogram = must(gap_histogram(view, options));
    const GapRange range{45, 52};
    const Table table = must(gap_keys(view, bucket, range, go_on));
    const auto begin = histogram.counts.begin();
    EXPECT_EQ(table.rows.size(), std::accumulate(begin + 45, begin + 53, std::uint64_t{0}));
    for (const auto& cells : table.rows) {
      const auto at = must(keys_at(view, std::get<std::uint64_t>(cells[0]) - 1, 2));
      EXPECT_EQ(cells[1], Cell(format_key(at[1].key, false)));
      EXPECT_EQ(cells[2], Cell(at[1].key.head - at[0].key.head));
      EXPECT_GT(std::get<std::uint64_t>(cells[0]), first_row) << "the first key has no gap";
    }
    EXPECT_EQ(must(gap_keys(view, bucket, {}, go_on)).rows.size() + 1,
              view.buckets()[bucket].key_count);
    first_row += view.buckets()[bucket].key_count;
  }
}

TEST_F(GapKeys, EndAtTheirMost) {
  std::vector<std::uint64_t> keys(kGapKeysMax + 500);
  std::iota(keys.begin(), keys.end(), 7);
  const DrumView view = view_of(keys);
  const Table table = must(gap_keys(view, 0, {0, 0}, go_on));
  EXPECT_EQ(table.rows.size(), kGapKeysMax);
  EXPECT_TRUE(must(gap_keys(view, 0, {1, 63}, go_on)).rows.empty());
}

TEST_F(GapKeys, StopWhenToldToAndKnowTheirBuckets) {
  std::vector<std::uint64_t> keys(5000);
  std::iota(keys.begin(), keys.end(), 0);
  const DrumView view = view_of(keys);
  const auto stop = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_EQ(gap_keys(view, 0, {1, 63}, stop).error().code, Errc::kCancelled);
  EXPECT_TRUE(must(gap_keys(view, 3, {}, go_on)).rows.empty()) << "an empty bucket";
  EXPECT_EQ(gap_keys(view, 4, {}, go_on).error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace crawlstore::model
