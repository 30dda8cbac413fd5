// SPDX-License-Identifier: Apache-2.0
#include "scores/anderson.h"

#include <algorithm>

namespace crawlstore::scores {
namespace {

/// Two changes whose directions differ by less are one: the rest is what rounding made.
constexpr double kSquaredSineMin = 1e-10;

}  // namespace

AndersonMixing::Weights AndersonMixing::mix(const Products& products, double change) {
  // A point that is worse than the one before it comes from a window that misled: forget it. The
  // plain step from here makes the change smaller by the damping at least.
  if (history_ > 0 && change > last_change_) history_ = 0;
  Weights weights = {1, 0, 0};
  // Minimise |f0 + w1 (f1 - f0) + w2 (f2 - f0)|: two equations, a w1 + b w2 = p, b w1 + c w2 = q.
  const double p = products[0] - products[1];
  const double a = last_[0] - products[1] + p;
  if (history_ > 0 && a > 0) {
    weights = {1 - p / a, p / a, 0};
    const double q = products[0] - products[2];
    const double c = second_last_square_ - products[2] + q;
    const double b = last_[1] - products[1] + q;
    const double determinant = a * c - b * b;
    if (history_ > 1 && determinant > kSquaredSineMin * a * c) {
      const double w1 = (p * c - b * q) / determinant;
      const double w2 = (a * q - p * b) / determinant;
      weights = {1 - w1 - w2, w1, w2};
    }
  }
  second_last_square_ = last_[0];
  last_ = products;
  last_change_ = change;
  history_ = std::min(history_ + 1, kPoints - 1);
  return weights;
}

}  // namespace crawlstore::scores
