// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The last three points of an iteration, and what steps led to from them, from which Anderson's
/// mixing makes the next point. Number i % 3 is of iteration i.

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/error.h>

#include "io/anonymous_array.h"
#include "scores/anderson.h"
#include "scores/page_blocks.h"

namespace crawlstore::scores {

/// The change of the scores by a step: absolute changes, and products with the steps before it.
struct StepSums {
  double change = 0;
  AndersonMixing::Products products{};
};

/// Scores of pages, as Real. Threads: blocks, any number at once; all else, one.
template <class Real>
class MixedPoints {
 public:
  static constexpr std::uint64_t kArrays = 2 * AndersonMixing::kPoints;

  /// errors, `folder`: as io::AnonymousMemory::map()
  static Result<MixedPoints> map(std::uint64_t page_count, const std::string& folder = {}) {
    MixedPoints points;
    points.page_count_ = page_count;
    // All points are one array, so that the system sees all of it when it refuses.
    CRAWLSTORE_TRY(points.numbers_, io::AnonymousArray<Real>::map(kArrays * page_count, folder));
    points.block_sums_.resize(blocks_of(page_count));
    return points;
  }

  /// Scores where the iteration is, and what the step from there leads to.
  [[nodiscard]] std::span<Real> point() { return {point(0), page_count_}; }
  [[nodiscard]] std::span<Real> stepped() { return {stepped(0), page_count_}; }

  /// Sets stepped() of a block of pages to step(page). Changes are those of the numbers as they are
  /// kept, so that what is minimised is what is measured.
  template <class Step>
  void step_block(std::uint64_t first, std::uint64_t end, const Step& step);

  /// The sums of the last step, when all blocks have it.
  [[nodiscard]] StepSums sums() const;

  /// Goes to the point that the last steps are weighed to, and returns the sum of what
  /// finish(first page, end, scores) returns for each block of it. It takes the place of the oldest
  /// point.
  ///   last  sums(), or those of all shards
  template <class Finish>
  Result<double> go_on(PageBlocks& blocks, const StepSums& last, const Finish& finish);

 private:
  static constexpr std::size_t kPoints = AndersonMixing::kPoints;

  Real* array(std::uint64_t index) { return numbers_.span().data() + index * page_count_; }
  /// `age` iterations before the current one.
  Real* point(std::uint64_t age) { return array((iteration_ + kPoints - age) % kPoints); }
  Real* stepped(std::uint64_t age) {
    return array(kPoints + (iteration_ + kPoints - age) % kPoints);
  }

  std::uint64_t page_count_ = 0;
  std::uint64_t iteration_ = 0;
  io::AnonymousArray<Real> numbers_;  // the last points, then what steps led to
  std::vector<StepSums> block_sums_;
  AndersonMixing mixing_;
};

template <class Real>
template <class Step>
void MixedPoints<Real>::step_block(std::uint64_t first, std::uint64_t end, const Step& step) {
  const Real* const x0 = point(0);
  Real* const g0 = stepped(0);
  // Products with steps that do not count are not looked at; their numbers are.
  const std::size_t history = mixing_.history();
  const Real* const x1 = history > 0 ? point(1) : x0;
  const Real* const g1 = history > 0 ? stepped(1) : x0;
  const Real* const x2 = history > 1 ? point(2) : x0;
  const Real* const g2 = history > 1 ? stepped(2) : x0;
  Lanes change;
  std::array<Lanes, kPoints> products;
  in_lanes(first, end, [&](std::uint64_t page, std::uint64_t lane) {
    const Real score = static_cast<Real>(step(page));
    g0[page] = score;
    const double f0 = static_cast<double>(score) - static_cast<double>(x0[page]);
    const double f1 = static_cast<double>(g1[page]) - static_cast<double>(x1[page]);
    const double f2 = static_cast<double>(g2[page]) - static_cast<double>(x2[page]);
    change.add(lane, std::abs(f0));
    products[0].add(lane, f0 * f0);
    products[1].add(lane, f0 * f1);
    products[2].add(lane, f0 * f2);
  });
  block_sums_[first / kSumPages] = {
      change.total(), {products[0].total(), products[1].total(), products[2].total()}};
}

template <class Real>
StepSums MixedPoints<Real>::sums() const {
  StepSums sums;
  for (const StepSums& block : block_sums_) {
    sums.change += block.change;
    for (std::size_t age = 0; age < kPoints; ++age) sums.products[age] += block.products[age];
  }
  return sums;
}

template <class Real>
template <class Finish>
Result<double> MixedPoints<Real>::go_on(PageBlocks& blocks, const StepSums& last,
                                        const Finish& finish) {
  const AndersonMixing::Weights weights = mixing_.mix(last.products, last.change);
  const Real* const g0 = stepped(0);
  const Real* const g1 = weights[1] != 0 ? stepped(1) : g0;
  const Real* const g2 = weights[2] != 0 ? stepped(2) : g0;
  ++iteration_;
  Real* const next = point(0);
  return blocks.sum([&](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t page = first; page < end; ++page) {
      next[page] = static_cast<Real>(weights[0] * static_cast<double>(g0[page]) +
                                     weights[1] * static_cast<double>(g1[page]) +
                                     weights[2] * static_cast<double>(g2[page]));
    }
    return finish(first, end, next);
  });
}

}  // namespace crawlstore::scores
