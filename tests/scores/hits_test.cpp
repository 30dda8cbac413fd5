// SPDX-License-Identifier: Apache-2.0
// covers: A49
#include "scores/hits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include <gtest/gtest.h>

#include "scores/graphs.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using scores::hits;
using scores::HitsResult;
using scores::HitsSolverOptions;

struct Caches {
  scores::LinkCache out;
  scores::LinkCache in;
};

Caches caches_of(const Rows& rows, std::uint64_t page_count,
                 const scores::LinkCacheOptions& options = {}) {
  return {cache_of(rows, page_count, options), cache_of(turned(rows), page_count, options)};
}

HitsResult rank(const Rows& rows, std::uint64_t page_count, const HitsSolverOptions& options = {}) {
  const Caches caches = caches_of(rows, page_count);
  return must(hits(caches.out, caches.in, options));
}

struct Exact {
  std::vector<long double> authorities;
  std::vector<long double> hubs;
};

/// Scales to a sum of 1.
void scale(std::vector<long double>& scores) {
  long double sum = 0;
  for (const long double score : scores) sum += score;
  for (long double& score : scores) score /= sum;
}

/// The power iteration on a full matrix; nothing where so many steps do not suffice, as two
/// communities are almost equally strong.
std::optional<Exact> dense_hits(const Rows& rows, std::size_t n, std::span<const float> weights) {
  constexpr int kSteps = 1000;
  std::vector<std::vector<long double>> matrix(n, std::vector<long double>(n, 0));
  for (const auto& [page, row] : rows) {
    for (const std::uint64_t link : row) matrix[page][link] = 1;
  }
  Exact exact{{}, std::vector<long double>(n, 1)};
  long double change = 1;
  for (int step = 0; step < kSteps; ++step) {
    exact.authorities.assign(n, 0);
    std::vector<long double> hubs(n, 0);
    for (std::size_t i = 0; i < n * n; ++i) {
      exact.authorities[i % n] += matrix[i / n][i % n] * exact.hubs[i / n];
    }
    scale(exact.authorities);
    for (std::size_t i = 0; i < n * n; ++i) {
      const auto weight = weights.empty() ? 1 : static_cast<long double>(weights[i % n]);
      hubs[i / n] += matrix[i / n][i % n] * weight * exact.authorities[i % n];
    }
    scale(hubs);
    change = 0;
    for (std::size_t page = 0; page < n; ++page) change += std::abs(hubs[page] - exact.hubs[page]);
    exact.hubs.swap(hubs);
  }
  if (change > 1e-16L) return std::nullopt;
  return exact;
}

TEST(Hits, EqualsThePowerIterationOnRandomGraphs) {
  SeededRandom random;
  int compared = 0;
  for (int round = 0; compared < 30; ++round) {
    ASSERT_LT(round, 300) << "most graphs have one strongest community";
    const std::uint64_t page_count = random.below(30) + 2;
    Rows rows = random_graph(random, page_count, random.below(8) + 1);
    rows[0] = {1};
    std::vector<float> weights(page_count);
    for (float& weight : weights) weight = static_cast<float>(random.below(4));
    weights[1] = 2;
    HitsSolverOptions options{.max_iterations = 10'000};
    if (random.below(2) == 0) options.target_weights = weights;
    const auto exact = dense_hits(rows, page_count, options.target_weights);
    if (!exact) continue;
    ++compared;
    for (const double precision : {1e-6, 1e-9, 0.0}) {
      options.precision = precision;
      const HitsResult result = rank(rows, page_count, options);
      ASSERT_TRUE(result.has_converged);
      EXPECT_LE(result.residuals.back(), std::max(precision, scores::kHitsPrecisionMin));
      // If 1000 steps suffice, a step leaves at most 0.964 of an error.
      const double error_max = 1e-13 + 60 * precision;
      EXPECT_LT(distance(numbers_of(result.authorities), exact->authorities), error_max);
      EXPECT_LT(distance(numbers_of(result.hubs), exact->hubs), error_max);
    }
  }
}

TEST(Hits, GivesTheSameBitsWhateverThreadsAndStripes) {
  SeededRandom random;
  const std::uint64_t page_count = 40'000 + random.below(5000);
  const Rows rows = random_graph(random, page_count, 12);
  for (const double precision : {1e-6, 1e-9}) {
    const auto expected = rank(rows, page_count, {.precision = precision});
    for (const unsigned bits : {12U, 18U}) {
      const auto caches = caches_of(rows, page_count, {.threads = 2, .stripe_bits = bits});
      for (const unsigned threads : {1U, 2U, 8U}) {
        const HitsSolverOptions options{.precision = precision, .threads = threads};
        const auto result = must(hits(caches.out, caches.in, options));
        EXPECT_EQ(result.residuals, expected.residuals);
        EXPECT_EQ(numbers_of(result.hubs), numbers_of(expected.hubs)) << bits << ' ' << threads;
        EXPECT_EQ(numbers_of(result.authorities), numbers_of(expected.authorities));
      }
    }
  }
}

TEST(Hits, GivesTheSameBitsInAFile) {
  SeededRandom random;
  const std::uint64_t page_count = 9000 + random.below(5000);
  const Rows rows = random_graph(random, page_count, 12);
  const std::vector<float> weights(page_count, 3);
  const TemporaryFolder folder;
  const auto caches =
      caches_of(rows, page_count, {.threads = 2, .stripe_bits = 12, .folder = folder.path()});
  for (const double precision : {1e-6, 1e-9}) {
    HitsSolverOptions options{.precision = precision, .target_weights = weights};
    const auto expected = rank(rows, page_count, options);
    for (const unsigned threads : {1U, 2U, 8U}) {
      options.threads = threads;
      options.folder = folder.path();
      const auto result = must(hits(caches.out, caches.in, options));
      EXPECT_EQ(result.residuals, expected.residuals);
      EXPECT_EQ(numbers_of(result.hubs), numbers_of(expected.hubs));
      EXPECT_EQ(numbers_of(result.authorities), numbers_of(expected.authorities));
    }
    options.folder = folder / "none";
    EXPECT_EQ(hits(caches.out, caches.in, options).error().code, Errc::kNotFound);
  }
}

TEST(Hits, RanksNoPages) {
  const HitsResult result = rank({}, 0);
  EXPECT_TRUE(result.has_converged);
  EXPECT_TRUE(numbers_of(result.hubs).empty());
  EXPECT_TRUE(numbers_of(result.authorities).empty());
}

TEST(Hits, RanksAllAlikeWhereNoLinkCounts) {
  const std::vector<double> alike(4, 0.25);
  const HitsResult without_links = rank({}, 4);
  EXPECT_TRUE(without_links.has_converged);
  EXPECT_EQ(numbers_of(without_links.hubs), alike);
  EXPECT_EQ(numbers_of(without_links.authorities), alike);
  // Links lead to pages of weight 0, whatever was before.
  const std::vector<float> weights = {1, 0, 0, 0};
  const std::vector<float> before = {5, 0, 0, 0};
  const HitsSolverOptions options{.target_weights = weights, .start = before};
  EXPECT_EQ(numbers_of(rank({{0, {1, 2}}}, 4, options).authorities), alike);
  const std::vector<float> present = {1, 0, 1, 0};
  EXPECT_EQ(numbers_of(rank({}, 4, {.present = present}).hubs),
            (std::vector<double>{0.5, 0, 0.5, 0}));
}

TEST(Hits, CountsLinksToThePageItself) {
  EXPECT_EQ(numbers_of(rank({{0, {0}}}, 1).hubs), std::vector<double>{1});
  // a1 = h0, a0 = h0; h0 = a0 + a1: only page 0 is a hub.
  const HitsResult result = rank({{0, {0, 1}}}, 2);
  EXPECT_EQ(numbers_of(result.hubs), (std::vector<double>{1, 0}));
  EXPECT_EQ(numbers_of(result.authorities), (std::vector<double>{0.5, 0.5}));
}

TEST(Hits, WeighsLinksByTheirTargets) {
  // h0 = w1 a1 + w2 a2, h1 = w2 a2, a1 = h0, a2 = h0 + h1. With w1 = 0 and w2 = 3: h0 = h1.
  const std::vector<float> weights = {0, 0, 3, 0};
  const HitsSolverOptions options{.precision = 1e-12, .target_weights = weights};
  const HitsResult result = rank({{0, {1, 2}}, {3, {2}}}, 4, options);
  const auto hubs = numbers_of(result.hubs);
  const auto authorities = numbers_of(result.authorities);
  EXPECT_NEAR(hubs[0], 0.5, 1e-11);
  EXPECT_NEAR(hubs[3], 0.5, 1e-11);
  EXPECT_NEAR(authorities[1], 1.0 / 3, 1e-11);
  EXPECT_NEAR(authorities[2], 2.0 / 3, 1e-11);
}

TEST(Hits, ShareAmongCommunitiesThatAreEquallyStrong) {
  const HitsResult pairs = rank({{0, {1}}, {2, {3}}}, 4);
  EXPECT_EQ(numbers_of(pairs.hubs), (std::vector<double>{0.5, 0, 0.5, 0}));
  EXPECT_EQ(numbers_of(pairs.authorities), (std::vector<double>{0, 0.5, 0, 0.5}));
  // One hub of four pages, and four hubs of one: M has the eigenvalue 4 twice.
  const HitsResult stars =
      rank({{0, {1, 2, 3, 4}}, {5, {9}}, {6, {9}}, {7, {9}}, {8, {9}}}, 10, {.precision = 1e-9});
  EXPECT_NEAR(numbers_of(stars.hubs)[0], 0.2, 1e-9);
  EXPECT_NEAR(numbers_of(stars.authorities)[9], 0.5, 1e-9);
}

TEST(Hits, SaysWhenIterationsWereTooFew) {
  SeededRandom random;
  const auto result = rank(random_graph(random, 500, 6), 500, {.max_iterations = 2});
  EXPECT_FALSE(result.has_converged);
  EXPECT_EQ(result.residuals.size(), 2);
}

TEST(Hits, StopsWhenToldTo) {
  SeededRandom random;
  const auto caches = caches_of(random_graph(random, 500, 6), 500);
  HitsSolverOptions options;
  std::vector<double> seen;
  options.progress = [&](std::uint32_t iteration, double residual) {
    EXPECT_EQ(iteration, seen.size() + 1);
    seen.push_back(residual);
    return iteration < 3;
  };
  EXPECT_EQ(hits(caches.out, caches.in, options).error().code, Errc::kCancelled);
  EXPECT_EQ(seen, must(hits(caches.out, caches.in, {.max_iterations = 3})).residuals);
  options.progress = [](std::uint32_t, double) -> bool { throw std::runtime_error("no"); };
  EXPECT_THROW((void)hits(caches.out, caches.in, options), std::runtime_error);
}

TEST(Hits, NeedsFewerIterationsFromHubsOfBefore) {
  SeededRandom random;
  const std::uint64_t old_count = 20'000;
  Rows rows = random_graph(random, old_count, 4);
  for (std::uint64_t page = 100; page < 160; ++page) {  // a community: half of all links in it
    for (std::uint64_t link = 100; link < 160; ++link) {
      if (random.below(2) == 0) rows[page].push_back(link);
    }
    std::ranges::sort(rows[page]);
    rows[page].erase(std::unique(rows[page].begin(), rows[page].end()), rows[page].end());
  }
  const auto old = numbers_of(rank(rows, old_count).hubs);
  std::vector<float> start;
  for (const double score : old) start.push_back(static_cast<float>(2 * score));
  for (std::uint64_t i = 0; i < 100; ++i) {  // a hundred pages of 20,000, and some new ones
    rows[1000 + random.below(old_count - 950)] = {100 + random.below(60)};
  }
  const auto cold = rank(rows, old_count + 50);
  const auto warm = rank(rows, old_count + 50, {.start = start});
  EXPECT_LT(warm.residuals.size(), cold.residuals.size());
  EXPECT_LT(distance(numbers_of(warm.hubs), numbers_of(cold.hubs)), 1e-5);
}

TEST(Hits, FindsACommunityWhosePagesWereNoHubsBefore) {
  const std::vector<float> before = {1, 0, 0, 0, 0};
  const Rows rows = {{0, {1}}, {2, {3, 4}}, {3, {4}}};
  const HitsResult result = rank(rows, 5, {.start = before});
  EXPECT_NEAR(numbers_of(result.hubs)[0], 0, 1e-5);
  EXPECT_LT(distance(numbers_of(result.hubs), numbers_of(rank(rows, 5).hubs)), 1e-5);
}

TEST(Hits, RefusesWeightsThatAreNone) {
  const auto caches = caches_of({{0, {1}}}, 3);
  const auto code_of = [&](const HitsSolverOptions& options) {
    return hits(caches.out, caches.in, options).error().code;
  };
  const float infinite = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), infinite, -infinite, -1.0F}) {
    const std::vector<float> weights = {1, 1, bad};
    const Error expected{Errc::kInvalidArgument, 0, {}, 2};
    EXPECT_EQ(hits(caches.out, caches.in, {.target_weights = weights}).error(), expected);
    EXPECT_EQ(hits(caches.out, caches.in, {.start = weights}).error(), expected);
  }
  for (const std::vector<float>& weights :
       {std::vector<float>{0, 0, 0}, std::vector<float>{1, 1, 1, 1}}) {
    EXPECT_EQ(code_of({.target_weights = weights}), Errc::kInvalidArgument);
    EXPECT_EQ(code_of({.present = weights}), Errc::kInvalidArgument);
    EXPECT_EQ(code_of({.start = weights}), Errc::kInvalidArgument);
  }
  const std::vector<float> few = {1, 1};
  EXPECT_EQ(code_of({.target_weights = few}), Errc::kInvalidArgument);
}

TEST(Hits, TakesWeightsFarApart) {
  const float largest = std::numeric_limits<float>::max();
  const std::vector<float> weights = {0, largest, std::numeric_limits<float>::denorm_min()};
  const HitsResult result = rank({{0, {1, 2}}, {1, {2}}}, 3, {.target_weights = weights});
  EXPECT_EQ(numbers_of(result.hubs), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(numbers_of(result.authorities), (std::vector<double>{0, 0.5, 0.5}));
}

TEST(Hits, RefusesOptionsOutOfRangeAndLinksOfTwoGraphs) {
  const auto caches = caches_of({{0, {1}}}, 3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double precision : {-1e-9, nan}) {
    const HitsSolverOptions options{.precision = precision};
    EXPECT_EQ(hits(caches.out, caches.in, options).error().code, Errc::kInvalidArgument);
  }
  const HitsSolverOptions options{.max_iterations = 0};
  EXPECT_EQ(hits(caches.out, caches.in, options).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(hits(caches.out, cache_of({}, 3), {}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(hits(caches.out, cache_of({{0, {1}}}, 2), {}).error().code, Errc::kInvalidArgument);
}

TEST(Hits, TellsItsMemory) {
  EXPECT_GE(scores::hits_memory_bytes(1'000'000), 12'000'000);
  EXPECT_LT(scores::hits_memory_bytes(1'000'000), 15'000'000);
  const std::vector<float> weights = {1};
  EXPECT_GE(scores::hits_memory_bytes(1'000'000, {.precision = 1e-9, .target_weights = weights}),
            32'000'000);
}

}  // namespace
}  // namespace crawlstore::testing
