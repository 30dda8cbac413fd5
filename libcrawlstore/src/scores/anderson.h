// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The next point after the last three: Anderson's mixing with a window of two.

#include <array>
#include <cstddef>

namespace crawlstore::scores {

/// A step leads from a point x to G(x); its change is G(x) - x. Points are weighed so that, if G
/// were linear, the change at the next one would be as small as it can be.
class AndersonMixing {
 public:
  static constexpr std::size_t kPoints = 3;
  /// Dot products of the change of the last step with those of itself and of the steps before it.
  using Products = std::array<double, kPoints>;
  /// The weights of the last three G(x), the newest first; their sum is 1.
  using Weights = std::array<double, kPoints>;

  /// Steps before the last one that count: products with those behind them are not looked at.
  [[nodiscard]] std::size_t history() const { return history_; }

  /// Takes a step, and says what the next point is made of.
  ///   change  the sum of the step's absolute changes
  Weights mix(const Products& products, double change);

 private:
  std::size_t history_ = 0;
  double last_change_ = 0;
  Products last_{};                // of the step before
  double second_last_square_ = 0;  // of the step before that one with itself
};

}  // namespace crawlstore::scores
