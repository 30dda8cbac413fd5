// SPDX-License-Identifier: Apache-2.0
#include "model/score_pairs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace crawlstore::model {
namespace {

constexpr std::size_t kPairsAStep = 1024;

/// The rank of one of the scores of each pair, from 0 on.
std::vector<double> ranks_of(std::span<const ScorePair> pairs, double ScorePair::*side) {
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t at) { return pairs[at].*side; });
  std::vector<double> ranks(pairs.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && pairs[order[end]].*side == pairs[order[first]].*side) ++end;
    const double shared = static_cast<double>(first + end - 1) / 2;
    for (; first < end; ++first) ranks[order[first]] = shared;
  }
  return ranks;
}

/// Adds the pairs of these pages.
Result<void> add_pairs(const ScoreView& x, const ScoreView& y,
                       const std::vector<std::uint64_t>& pages, const PagesProgress& progress,
                       std::vector<ScorePair>& pairs) {
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (i % kPairsAStep == 0 && !progress(i, pages.size())) {
      return fail(Errc::kCancelled, "cancelled");
    }
    CRAWLSTORE_TRY(const auto of_x, x.score(pages[i]));
    CRAWLSTORE_TRY(const auto of_y, y.score(pages[i]));
    if (of_x && of_y) pairs.push_back({pages[i], *of_x, *of_y});
  }
  return {};
}

}  // namespace

std::optional<double> rank_correlation(std::span<const ScorePair> pairs) {
  const std::vector<double> x = ranks_of(pairs, &ScorePair::x);
  const std::vector<double> y = ranks_of(pairs, &ScorePair::y);
  const double mean = (static_cast<double>(pairs.size()) - 1) / 2;
  double of_x = 0;
  double of_y = 0;
  double of_both = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    of_x += (x[i] - mean) * (x[i] - mean);
    of_y += (y[i] - mean) * (y[i] - mean);
    of_both += (x[i] - mean) * (y[i] - mean);
  }
  if (of_x == 0 || of_y == 0) return std::nullopt;
  return std::clamp(of_both / std::sqrt(of_x * of_y), -1.0, 1.0);
}

Result<ScorePairs> score_pairs(const ScoreView& x, const ScoreView& y, std::size_t sample_max,
                               const PagesProgress& progress) {
  ScorePairs found;
  const std::uint64_t count = std::min(x.info().page_count, y.info().page_count);
  found.page_count = count;
  const bool has_all = count <= sample_max;
  const std::uint64_t even_count = has_all ? count : (sample_max + 1) / 2;
  std::vector<std::uint64_t> even;
  for (std::uint64_t i = 0; i < even_count; ++i) even.push_back(i * count / even_count);
  CRAWLSTORE_TRY(add_pairs(x, y, even, progress, found.pairs));
  found.even_count = found.pairs.size();
  found.rank_correlation = rank_correlation(found.pairs);
  if (has_all) return found;
  std::vector<std::uint64_t> best;
  for (const ScoreView* scores : {&x, &y}) {
    CRAWLSTORE_TRY(const auto top, scores->top((sample_max - even_count) / 2));
    for (const ScoredPage& page : top) {
      if (!std::ranges::binary_search(even, page.index)) best.push_back(page.index);
    }
  }
  std::ranges::sort(best);
  best.erase(std::unique(best.begin(), best.end()), best.end());
  CRAWLSTORE_TRY(add_pairs(x, y, best, progress, found.pairs));
  std::ranges::sort(found.pairs, {}, &ScorePair::index);
  return found;
}

}  // namespace crawlstore::model
