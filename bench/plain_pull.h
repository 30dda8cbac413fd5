// SPDX-License-Identifier: Apache-2.0
#pragma once

/// PageRank as everybody writes it first: links by target as CSR, each target pulls its sources'
/// shares, float sums.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/in_parallel.h"  // tidy: inside, threads as the kernel has them
#include "rank_graphs.h"
#include "seen_run.h"

namespace crawlstore::bench {

/// The plain power iteration: each target pulls what its sources give.
class PlainPull {
 public:
  /// Both arguments stay the caller's.
  ///   in       transposed: the sources of each page
  ///   degrees  of out-links
  PlainPull(const Graph& in, std::span<const std::uint32_t> degrees, unsigned threads)
      : in_(in),
        degrees_(degrees),
        threads_(threads),
        scores_(in.page_count(), 1.0F / static_cast<float>(in.page_count())),
        shares_(in.page_count()) {}

  void step() {
    const double lost = sum_over_pages([&](std::uint64_t page) {
      shares_[page] = scores_[page] / static_cast<float>(std::max(degrees_[page], 1U));
      return degrees_[page] == 0 ? static_cast<double>(scores_[page]) : 0.0;
    });
    const auto base =
        static_cast<float>((0.15 + 0.85 * lost) / static_cast<double>(in_.page_count()));
    change_ = sum_over_pages([&](std::uint64_t page) {
      float sum = 0;
      for (std::uint64_t i = in_.first[page]; i < in_.first[page + 1]; ++i) {
        sum += shares_[in_.numbers[i]];
      }
      const float score = base + 0.85F * sum;
      const float change = std::abs(score - scores_[page]);
      scores_[page] = score;
      return static_cast<double>(change);
    });
  }
  /// The L1 change of the last step.
  [[nodiscard]] double change() const { return change_; }
  [[nodiscard]] std::span<const float> scores() const { return scores_; }

 private:
  static constexpr std::uint64_t kTaskPages = 1 << 16;

  template <class Work>
  double sum_over_pages(const Work& work) {
    std::vector<double> sums((in_.page_count() + kTaskPages - 1) / kTaskPages);
    const auto range = [&](std::uint64_t task, unsigned) -> Result<void> {
      const std::uint64_t end = std::min(in_.page_count(), (task + 1) * kTaskPages);
      double sum = 0;  // apart: neighbours in `sums` share a line of the cache
      for (std::uint64_t page = task * kTaskPages; page < end; ++page) sum += work(page);
      sums[task] = sum;
      return {};
    };
    if (const auto done = in_parallel(threads_, sums.size(), range); !done) {
      fail(describe(done.error()));
    }
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  const Graph& in_;
  std::span<const std::uint32_t> degrees_;
  unsigned threads_;
  std::vector<float> scores_;
  std::vector<float> shares_;
  double change_ = 1;
};

}  // namespace crawlstore::bench
