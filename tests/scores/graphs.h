// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Graphs for the tests of scores/, and scores of them computed as plainly as can be.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "container/container_store.h"
#include "format/link_samples.h"
#include "scores/link_cache.h"
#include "scores/page_rank.h"
#include "scores/rank_rows.h"
#include "support/seeded.h"

namespace crawlstore::testing {

/// Rows of a test, which outlive it.
class GivenRows final : public scores::TableSource {
 public:
  explicit GivenRows(const Rows& rows) : rows_(rows) {}

  [[nodiscard]] Result<std::unique_ptr<scores::Rows>> open(
      std::uint64_t first_page) const override {
    return std::make_unique<Walk>(rows_, first_page);
  }

 private:
  class Walk final : public scores::Rows {
   public:
    Walk(const testing::Rows& rows, std::uint64_t first_page)
        : next_(rows.lower_bound(first_page)), end_(rows.end()) {}
    Result<bool> next() override {
      if (next_ == end_) return false;
      page_ = next_->first;
      links_ = next_->second;
      ++next_;
      return true;
    }

   private:
    testing::Rows::const_iterator next_;
    testing::Rows::const_iterator end_;
  };

  const Rows& rows_;
};

inline scores::LinkCache cache_of(const Rows& rows, std::uint64_t page_count,
                                  const scores::LinkCacheOptions& options = {}) {
  return must(scores::LinkCache::build(GivenRows(rows), page_count, options));
}

/// A third of the pages has no links; others link to themselves too. Some pages are popular.
inline Rows random_graph(Random& random, std::uint64_t page_count, std::uint64_t degree_max) {
  Rows rows;
  for (std::uint64_t page = 0; page < page_count; ++page) {
    if (random.below(3) == 0) continue;
    std::set<std::uint64_t> links;
    for (std::uint64_t i = random.below(degree_max) + 1; i > 0; --i) {
      links.insert(random.below(random.below(page_count) + 1));
    }
    rows[page].assign(links.begin(), links.end());
  }
  return rows;
}

/// The links to pages, by page.
inline Rows turned(const Rows& rows) {
  Rows in;
  for (const auto& [page, row] : rows) {
    for (const std::uint64_t link : row) in[link].push_back(page);
  }
  return in;
}

/// Weights of sum 1; all alike where none are given.
template <class Real>
std::vector<Real> teleport_shares(std::span<const float> teleport, std::uint64_t page_count) {
  std::vector<Real> shares(page_count, Real{1} / static_cast<Real>(page_count));
  Real sum = 0;
  for (const float weight : teleport) sum += static_cast<Real>(weight);
  for (std::size_t page = 0; page < teleport.size(); ++page) {
    shares[page] = static_cast<Real>(teleport[page]) / sum;
  }
  return shares;
}

/// PageRank by the power iteration, until a step changes less than `precision`.
template <class Real>
std::vector<Real> power_iteration(const Rows& rows, std::uint64_t page_count, double precision,
                                  const scores::PageRankOptions& options = {}) {
  const auto damping = static_cast<Real>(options.damping);
  const std::vector<Real> shares = teleport_shares<Real>(options.teleport, page_count);
  std::vector<Real> scores = shares;
  for (Real change = 1; change >= static_cast<Real>(precision);) {
    std::vector<Real> next(page_count, 0);
    Real linked = 0;
    for (const auto& [page, row] : rows) {
      if (row.empty()) continue;
      linked += scores[page];
      for (const std::uint64_t link : row) {
        next[link] += damping * scores[page] / static_cast<Real>(row.size());
      }
    }
    change = 0;
    for (std::size_t page = 0; page < page_count; ++page) {
      next[page] += (1 - damping * linked) * shares[page];
      change += std::abs(next[page] - scores[page]);
    }
    scores.swap(next);
  }
  return scores;
}

inline std::vector<double> numbers_of(const decltype(scores::PageRankResult::scores)& scores) {
  return std::visit(
      [](const auto& numbers) {
        return std::vector<double>(numbers.span().begin(), numbers.span().end());
      },
      scores);
}

inline std::vector<double> numbers_of(const scores::PageRankResult& result) {
  return numbers_of(result.scores);
}

template <class Real>
double distance(const std::vector<double>& scores, const std::vector<Real>& others) {
  EXPECT_EQ(scores.size(), others.size());
  Real sum = 0;
  for (std::size_t page = 0; page < std::min(scores.size(), others.size()); ++page) {
    sum += std::abs(static_cast<Real>(scores[page]) - others[page]);
  }
  return static_cast<double>(sum);
}

}  // namespace crawlstore::testing
