// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The scores that an iteration begins with.

#include <cstdint>
#include <span>

#include <crawlstore/error.h>

#include "scores/shard_sums.h"

namespace crawlstore::scores {

/// The sum of weights; of all shards, if there are others.
///   errors  kInvalidArgument: one is NaN, infinite or negative, `offset` being its page; all are
///   0;
///           of `shards`
Result<double> sum_of_weights(std::span<const float> weights, ShardSums* shards = nullptr);

/// Scores of mean 1. Ownership: refers to the weights.
class StartScores {
 public:
  ///   given  weights by page, of any sum but 0, for all pages or the first ones; those behind them
  ///          get 1 / page count beside a sum of 1. Empty: all pages are alike; not over shards
  ///   errors kInvalidArgument: as sum_of_weights(); more weights than pages
  static Result<StartScores> make(std::span<const float> given, std::uint64_t page_count,
                                  ShardSums* shards = nullptr);

  [[nodiscard]] double at(std::uint64_t page) const {
    if (!own_.empty() && own_[page] == 0) return 0;
    if (given_.empty() && own_.empty()) return 1;
    const double share = page < given_.size() ? static_cast<double>(given_[page]) / sum_ : new_;
    return share * scale_;
  }

 private:
  std::span<const float> given_;
  std::span<const float> own_;  // of shards; empty: all pages are
  double sum_ = 1;
  double new_ = 0;    // the share of a page that nothing was given for
  double scale_ = 1;  // from shares to scores
};

}  // namespace crawlstore::scores
