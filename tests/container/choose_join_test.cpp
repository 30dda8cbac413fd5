// SPDX-License-Identifier: Apache-2.0
#include "container/choose_join.h"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace crawlstore::testing {
namespace {

using container::choose_join;
using container::choose_join_to_few;

using Sizes = std::vector<std::uint64_t>;

/// The first run chosen of all; a run larger than `size_max` may not join.
std::size_t first_of(const Sizes& sizes, std::size_t begin = 0, std::uint64_t size_max = 1'000) {
  return choose_join(
      begin, sizes.size(), [&](std::size_t i) { return sizes[i]; },
      [&](std::size_t i) { return sizes[i] <= size_max; });
}

TEST(ChooseJoin, JoinsTheNewestTwoWhateverTheirSizes) {
  EXPECT_EQ(first_of({500, 100, 1}), 1U);
  EXPECT_EQ(first_of({500, 1, 100}), 1U);
}

TEST(ChooseJoin, JoinsWhatIsNoLargerThanAllBehindIt) {
  EXPECT_EQ(first_of({9, 4, 2, 1, 1}), 1U);
  EXPECT_EQ(first_of({8, 4, 2, 1, 1}), 0U);
  EXPECT_EQ(first_of({1, 9, 4, 1, 1}), 3U);
}

TEST(ChooseJoin, LeavesWhatIsFixedOrRefused) {
  EXPECT_EQ(first_of({1, 1, 1, 1}, 2), 2U);
  EXPECT_EQ(first_of({1, 1, 2'000, 1}), 3U);
  EXPECT_EQ(first_of({1, 1, 2'000}), 3U);
}

TEST(ChooseJoin, ChoosesNoneOfNone) {
  EXPECT_EQ(first_of({}), 0U);
  EXPECT_EQ(first_of({1, 1}, 2), 2U);
}

/// A log that is joined at each 32 runs.
TEST(ChooseJoin, WritesAnEntrySeldom) {
  constexpr std::uint64_t kSteps = 100'000;
  Sizes sizes;
  std::uint64_t written = 0;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    sizes.push_back(1);
    if (sizes.size() < 32) continue;
    const auto first = static_cast<std::ptrdiff_t>(first_of(sizes, 0, kSteps));
    const std::uint64_t joined =
        std::accumulate(sizes.begin() + first, sizes.end(), std::uint64_t{0});
    written += joined;
    sizes.erase(sizes.begin() + first, sizes.end());
    sizes.push_back(joined);
  }
  EXPECT_LE(written, kSteps * static_cast<std::uint64_t>(std::log2(kSteps)));
}

/// Runs of one size, joined as choose_join_to_few() says: how often an entry is rewritten in the
/// mean.
double rewrites(std::size_t steps, std::size_t kept_max) {
  std::vector<std::uint64_t> sizes;
  std::uint64_t rewritten = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    sizes.push_back(1'000);
    if (sizes.size() <= kept_max + 1) continue;
    const std::size_t first = choose_join_to_few(sizes, kept_max);
    EXPECT_LE(first, kept_max);
    const auto begin = sizes.begin() + static_cast<long>(first);
    const std::uint64_t joined = std::accumulate(begin, sizes.end(), std::uint64_t{0});
    rewritten += joined;
    sizes.erase(begin, sizes.end());
    sizes.push_back(joined);
  }
  return static_cast<double>(rewritten) / (1'000.0 * static_cast<double>(steps));
}

TEST(ChooseJoin, RewritesAnEntryAsSeldomAsItsBoundSays) {
  for (const std::size_t steps : {10U, 100U, 1'000U, 10'000U, 100'000U}) {
    for (const std::size_t kept_max : {7U, 8U}) {
      const auto total = static_cast<double>(steps);
      const double ratio = std::max(2.0, std::pow(total, 1.0 / static_cast<double>(kept_max)));
      const double mean = rewrites(steps, kept_max);
      EXPECT_LE(mean, std::log(total) / std::log1p(1 / ratio)) << steps;
      RecordProperty("rewrites_" + std::to_string(steps) + "_" + std::to_string(kept_max),
                     std::to_string(mean));
    }
  }
}

TEST(ChooseJoin, LeavesALargeBaseAlone) {
  std::vector<std::uint64_t> sizes{1'000'000'000};
  for (int i = 0; i < 9; ++i) sizes.push_back(1'000);
  EXPECT_EQ(choose_join_to_few(sizes, 8), 1u);
  EXPECT_EQ(choose_join_to_few(std::vector<std::uint64_t>(10, 7), 8), 0u);
}

}  // namespace
}  // namespace crawlstore::testing
