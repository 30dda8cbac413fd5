// SPDX-License-Identifier: Apache-2.0
#include "scores/start_scores.h"

#include <cmath>
#include <numeric>

namespace crawlstore::scores {

Result<double> sum_of_weights(std::span<const float> weights, ShardSums* shards) {
  double sum = 0;
  for (std::size_t page = 0; page < weights.size(); ++page) {
    if (!std::isfinite(weights[page]) || weights[page] < 0) {
      return fail(Errc::kInvalidArgument, "a weight is negative, infinite or not a number", page);
    }
    sum += static_cast<double>(weights[page]);
  }
  CRAWLSTORE_TRY(sum, over_shards(shards, sum));
  if (!(sum > 0)) return fail(Errc::kInvalidArgument, "all weights are 0");
  return sum;
}

Result<StartScores> StartScores::make(std::span<const float> given, std::uint64_t page_count,
                                      ShardSums* shards) {
  StartScores scores;
  if (given.empty() && shards == nullptr) return scores;
  if (given.size() > page_count) {
    return fail(Errc::kInvalidArgument, "there are more scores to begin with than pages");
  }
  CRAWLSTORE_TRY(scores.sum_, sum_of_weights(given, shards));
  auto n = static_cast<double>(page_count);
  double new_count = n - static_cast<double>(given.size());
  if (shards != nullptr) {
    scores.own_ = shards->own();
    n = static_cast<double>(shards->page_count());
    const auto behind = scores.own_.subspan(given.size());
    new_count = std::accumulate(behind.begin(), behind.end(), 0.0);
    CRAWLSTORE_TRY(new_count, shards->add_up(new_count));
  }
  scores.given_ = given;
  scores.new_ = 1 / n;
  scores.scale_ = n / (1 + new_count / n);
  return scores;
}

}  // namespace crawlstore::scores
