// SPDX-License-Identifier: Apache-2.0
// covers: A45
#include "scores/page_rank.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "scores/graphs.h"

namespace crawlstore::testing {
namespace {

using scores::page_rank;
using scores::PageRankOptions;
using scores::PageRankResult;

PageRankResult rank(const Rows& rows, std::uint64_t page_count,
                    const PageRankOptions& options = {}) {
  return must(page_rank(cache_of(rows, page_count), options));
}

double sum_of(const std::vector<double>& scores) {
  double sum = 0;
  for (const double score : scores) sum += score;
  return sum;
}

TEST(PageRank, EqualsThePowerIterationOnRandomGraphs) {
  SeededRandom random;
  for (int round = 0; round < 40; ++round) {
    const std::uint64_t page_count = random.below(400) + 1;
    const Rows rows = random_graph(random, page_count, random.below(8) + 1);
    std::vector<float> weights(page_count);
    for (float& weight : weights) weight = static_cast<float>(random.below(4));
    weights[random.below(page_count)] = 1;
    PageRankOptions options{.damping = static_cast<double>(random.below(98)) / 100};
    options.max_iterations = 10'000;  // a damping of 0.97 needs some hundred
    if (random.below(2) == 0) options.teleport = weights;
    const auto exact = power_iteration<long double>(rows, page_count, 1e-16, options);
    for (const double precision : {1e-6, 1e-9}) {
      options.precision = precision;
      const PageRankResult result = rank(rows, page_count, options);
      ASSERT_TRUE(result.has_converged);
      EXPECT_LT(result.residuals.back(), precision);
      // The loss that is allowed when so many numbers, and each of them, are rounded.
      const double rounding_max =
          precision < 1e-7 ? 1e-15 + static_cast<double>(page_count) * 0x1p-52 : 1e-7;
      EXPECT_LT(distance(numbers_of(result), exact),
                rounding_max + precision * options.damping / (1 - options.damping));
      EXPECT_NEAR(sum_of(numbers_of(result)), 1, precision < 1e-7 ? rounding_max : 1e-6);
    }
  }
}

TEST(PageRank, GivesTheSameBitsWhateverThreadsAndStripes) {
  SeededRandom random;
  const std::uint64_t page_count = 40'000 + random.below(5000);
  const Rows rows = random_graph(random, page_count, 12);
  for (const double precision : {1e-6, 1e-9}) {
    const auto expected = rank(rows, page_count, {.precision = precision});
    for (const unsigned bits : {12U, 13U, 18U}) {
      const auto cache = cache_of(rows, page_count, {.threads = 2, .stripe_bits = bits});
      for (const unsigned threads : {1U, 2U, 3U, 8U}) {
        const auto result = must(page_rank(cache, {.precision = precision, .threads = threads}));
        EXPECT_EQ(result.residuals, expected.residuals);
        EXPECT_EQ(numbers_of(result), numbers_of(expected)) << bits << ' ' << threads;
      }
    }
  }
}

TEST(PageRank, RanksNoPages) {
  const PageRankResult result = rank({}, 0);
  EXPECT_TRUE(result.has_converged);
  EXPECT_TRUE(numbers_of(result).empty());
  EXPECT_TRUE(result.residuals.empty());
}

TEST(PageRank, RanksOnePageAndPagesWithoutLinks) {
  EXPECT_EQ(numbers_of(rank({}, 1)), std::vector<double>{1});
  EXPECT_EQ(numbers_of(rank({{0, {0}}}, 1)), std::vector<double>{1});
  EXPECT_EQ(numbers_of(rank({}, 8)), std::vector<double>(8, 0.125));
}

TEST(PageRank, CountsLinksToThePageItself) {
  // x0 = (1 - d) / 2 + d x0 / 2, and x1 has the rest, for page 1 keeps what it has.
  const auto scores = numbers_of(rank({{0, {0, 1}}, {1, {1}}}, 2, {.precision = 1e-12}));
  EXPECT_NEAR(scores[0], 0.075 / (1 - 0.425), 1e-11);
  EXPECT_NEAR(scores[1], 1 - scores[0], 1e-11);
}

TEST(PageRank, TeleportsAlwaysAtDamping0) {
  const std::vector<float> weights = {1, 0, 3};
  const auto result = rank({{0, {1}}, {1, {2}}}, 3, {.damping = 0, .teleport = weights});
  EXPECT_EQ(numbers_of(result), (std::vector<double>{0.25, 0, 0.75}));
  EXPECT_EQ(result.residuals.size(), 1);
}

TEST(PageRank, TeleportsNeverAtDamping1) {
  // A cycle with a shortcut: the flow through 0 is 2/5.
  const Rows rows = {{0, {1, 2}}, {1, {2}}, {2, {0}}};
  const auto scores = numbers_of(rank(rows, 3, {.damping = 1, .precision = 1e-12}));
  EXPECT_NEAR(scores[0], 0.4, 1e-11);
  EXPECT_NEAR(scores[1], 0.2, 1e-11);
  EXPECT_NEAR(scores[2], 0.4, 1e-11);
}

TEST(PageRank, GoesOnAtPrecision0UntilNothingChanges) {
  SeededRandom random;
  const Rows rows = random_graph(random, 500, 6);
  const auto result = rank(rows, 500, {.precision = 0});
  EXPECT_TRUE(result.has_converged);
  EXPECT_LE(result.residuals.back(), 0x1p-52);
  EXPECT_LT(distance(numbers_of(result), power_iteration<long double>(rows, 500, 1e-16)), 1e-14);
}

TEST(PageRank, SaysWhenIterationsWereTooFew) {
  SeededRandom random;
  const auto result = rank(random_graph(random, 500, 6), 500, {.max_iterations = 3});
  EXPECT_FALSE(result.has_converged);
  EXPECT_EQ(result.residuals.size(), 3);
  EXPECT_NEAR(sum_of(numbers_of(result)), 1, 1e-6);
}

TEST(PageRank, StopsWhenToldTo) {
  SeededRandom random;
  const auto cache = cache_of(random_graph(random, 500, 6), 500);
  PageRankOptions options;
  std::vector<double> seen;
  options.progress = [&](std::uint32_t iteration, double residual) {
    EXPECT_EQ(iteration, seen.size() + 1);
    seen.push_back(residual);
    return iteration < 4;
  };
  EXPECT_EQ(page_rank(cache, options).error().code, Errc::kCancelled);
  const auto plain = must(page_rank(cache, {.max_iterations = 4}));
  EXPECT_EQ(seen, plain.residuals);
  options.progress = [](std::uint32_t, double) -> bool { throw std::runtime_error("no"); };
  EXPECT_THROW((void)page_rank(cache, options), std::runtime_error);
}

TEST(PageRank, NeedsFewerIterationsFromScoresOfBefore) {
  SeededRandom random;
  const std::uint64_t old_count = 20'000;
  Rows rows = random_graph(random, old_count, 12);
  const auto old = numbers_of(rank(rows, old_count));
  // Twice the scores: they are made to sum up to 1.
  std::vector<float> start;
  for (const double score : old) start.push_back(static_cast<float>(2 * score));
  // A hundred pages of 20,000, and some new ones, link to one page each. Even ones link to odd
  // ones: a page that only links to itself keeps 0.85 of an error at each iteration, from any
  // start.
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto& row = rows[2 * random.below(old_count / 2 + 25)];
    row = {2 * random.below(old_count / 2 + 25) + 1};
  }
  const auto cold = rank(rows, old_count + 50);
  const auto warm = rank(rows, old_count + 50, {.start = start});
  EXPECT_LT(warm.residuals.size(), cold.residuals.size());
  EXPECT_LT(distance(numbers_of(warm), numbers_of(cold)), 1e-5);
}

TEST(PageRank, GivesNothingToPagesThatNobodyReaches) {
  const std::vector<float> weights = {1, 0, 0, 0};
  const Rows rows = {{0, {1}}, {1, {0}}, {2, {3, 0}}, {3, {2}}};
  const auto scores = numbers_of(rank(rows, 4, {.teleport = weights}));
  EXPECT_EQ(scores[2], 0);
  EXPECT_EQ(scores[3], 0);
  EXPECT_NEAR(scores[0], 1 / 1.85, 1e-5);
}

TEST(PageRank, RefusesWeightsThatAreNone) {
  const auto cache = cache_of({}, 3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, infinite, -infinite, -1.0F}) {
    const std::vector<float> weights = {1, 1, bad};
    const Error expected{Errc::kInvalidArgument, 0, {}, 2};
    EXPECT_EQ(page_rank(cache, {.teleport = weights}).error(), expected);
    EXPECT_EQ(page_rank(cache, {.start = weights}).error(), expected);
  }
  for (const std::vector<float>& weights :
       {std::vector<float>{0, 0, 0}, std::vector<float>{1, 1, 1, 1}}) {
    EXPECT_EQ(page_rank(cache, {.teleport = weights}).error().code, Errc::kInvalidArgument);
    EXPECT_EQ(page_rank(cache, {.start = weights}).error().code, Errc::kInvalidArgument);
  }
  const std::vector<float> few = {1, 1};
  EXPECT_EQ(page_rank(cache, {.teleport = few}).error().code, Errc::kInvalidArgument);
}

TEST(PageRank, RefusesOptionsOutOfRange) {
  const auto cache = cache_of({}, 3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double damping : {-0.1, 1.1, nan}) {
    EXPECT_EQ(page_rank(cache, {.damping = damping}).error().code, Errc::kInvalidArgument);
  }
  for (const double precision : {-1e-9, nan}) {
    EXPECT_EQ(page_rank(cache, {.precision = precision}).error().code, Errc::kInvalidArgument);
  }
  EXPECT_EQ(page_rank(cache, {.max_iterations = 0}).error().code, Errc::kInvalidArgument);
}

TEST(PageRank, TellsItsMemory) {
  EXPECT_GE(scores::page_rank_memory_bytes(1'000'000), 28'000'000);
  EXPECT_LT(scores::page_rank_memory_bytes(1'000'000), 31'000'000);
  EXPECT_GE(scores::page_rank_memory_bytes(1'000'000, {.precision = 1e-9}), 56'000'000);
}

}  // namespace
}  // namespace crawlstore::testing
