// SPDX-License-Identifier: Apache-2.0
#include "scores/anderson.h"

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace crawlstore::testing {
namespace {

using scores::AndersonMixing;
using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double length(const Vector& a) {
  return std::abs(a[0]) + std::abs(a[1]) + std::abs(a[2]);
}

/// The changes of steps, newest first, as a caller gives them.
AndersonMixing::Weights mix(AndersonMixing& mixing, const std::vector<Vector>& changes) {
  AndersonMixing::Products products{};
  for (std::size_t i = 0; i < changes.size(); ++i) products[i] = dot(changes[0], changes[i]);
  return mixing.mix(products, length(changes[0]));
}

TEST(AndersonMixing, BeginsWithThePlainStep) {
  AndersonMixing mixing;
  EXPECT_EQ(mix(mixing, {{3, 1, 2}}), (AndersonMixing::Weights{1, 0, 0}));
  EXPECT_EQ(mixing.history(), 1);
}

TEST(AndersonMixing, FindsTheLeastChangeOfTwoAndOfThree) {
  AndersonMixing mixing;
  const Vector oldest{4, 0, 0};
  const Vector older{2, 1, 0};
  const Vector newest{1, 1, 0.5};
  (void)mix(mixing, {oldest});
  // |older + w (oldest - older)|: (2, 1) + w (2, -1), w = -3/5.
  EXPECT_NEAR(mix(mixing, {older, oldest})[1], -0.6, 1e-12);
  const auto weights = mix(mixing, {newest, older, oldest});
  EXPECT_NEAR(weights[0] + weights[1] + weights[2], 1, 1e-12);
  // The rest stands upright on both directions in which it could become less.
  Vector left{};
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = weights[0] * newest[i] + weights[1] * older[i] + weights[2] * oldest[i];
  }
  for (const Vector& other : {older, oldest}) {
    EXPECT_NEAR(dot(left, newest) - dot(left, other), 0, 1e-12);
  }
}

TEST(AndersonMixing, ForgetsWhenTheChangeGrows) {
  AndersonMixing mixing;
  (void)mix(mixing, {{4, 0, 0}});
  (void)mix(mixing, {{2, 1, 0}, {4, 0, 0}});
  EXPECT_EQ(mix(mixing, {{3, 1, 0}, {2, 1, 0}, {4, 0, 0}}), (AndersonMixing::Weights{1, 0, 0}));
  EXPECT_EQ(mixing.history(), 1);
}

TEST(AndersonMixing, TakesEqualChangesForOne) {
  AndersonMixing mixing;
  (void)mix(mixing, {{4, 0, 0}});
  EXPECT_EQ(mix(mixing, {{4, 0, 0}, {4, 0, 0}}), (AndersonMixing::Weights{1, 0, 0}));
  const auto weights = mix(mixing, {{2, 0, 0}, {4, 0, 0}, {4, 0, 0}});
  EXPECT_EQ(weights, (AndersonMixing::Weights{2, -1, 0}));
}

}  // namespace
}  // namespace crawlstore::testing
