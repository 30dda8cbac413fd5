// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sums over pages that have the same bits whatever the threads: each is of blocks of pages, a
/// block in four lanes, and blocks are added in their order. Sources that include this are compiled
/// without contraction of a * b + c, which would show the processor's.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "base/in_parallel.h"
#include "scores/link_cache.h"
#include "scores/shard_sums.h"

namespace crawlstore::scores {

inline constexpr std::uint64_t kSumPages = 4096;
static_assert(kSumPages == std::uint64_t{1} << kStripeBitsMin);

inline std::uint64_t blocks_of(std::uint64_t page_count) {
  return page_count / kSumPages + (page_count % kSumPages != 0 ? 1 : 0);
}

/// Four sums side by side: they need not wait for one another.
class Lanes {
 public:
  static constexpr std::uint64_t kCount = 4;
  void add(std::uint64_t lane, double number) { sums_[lane] += number; }
  [[nodiscard]] double total() const { return (sums_[0] + sums_[1]) + (sums_[2] + sums_[3]); }

 private:
  std::array<double, kCount> sums_{};
};

/// Calls body(i, lane) for all i from `begin` to `end`.
template <class Body>
void in_lanes(std::uint64_t begin, std::uint64_t end, const Body& body) {
  std::uint64_t i = begin;
  for (; end - i >= Lanes::kCount; i += Lanes::kCount) {
    for (std::uint64_t lane = 0; lane < Lanes::kCount; ++lane) body(i + lane, lane);
  }
  for (std::uint64_t lane = 0; i < end; ++i, ++lane) body(i, lane);
}

/// All blocks of some pages. Threads: one call at a time.
class PageBlocks {
 public:
  PageBlocks(std::uint64_t page_count, unsigned threads)
      : page_count_(page_count), threads_(std::max(threads, 1U)), totals_(blocks_of(page_count)) {}

  [[nodiscard]] std::uint64_t page_count() const { return page_count_; }
  [[nodiscard]] unsigned threads() const { return threads_; }

  /// Calls work(first page, end) for each block, and adds up what it returns.
  template <class Work>
  Result<double> sum(const Work& work) {
    const std::uint64_t tasks = (page_count_ + kTaskPages - 1) / kTaskPages;
    CRAWLSTORE_TRY(in_parallel(threads_, tasks, [&](std::uint64_t task, unsigned) -> Result<void> {
      const std::uint64_t end = std::min(page_count_, (task + 1) * kTaskPages);
      for (std::uint64_t first = task * kTaskPages; first < end; first += kSumPages) {
        totals_[first / kSumPages] = work(first, std::min(end, first + kSumPages));
      }
      return {};
    }));
    return total();
  }

  /// Adds up what links bring, all stripes, and calls work(first page, end, sums) for each block:
  /// sums[0] is what came to the first page. Returns the sum of what work() returns.
  ///   target_sums  stripe_pages() numbers for each worker there may be
  template <class Real, class Work>
  Result<double> gather(const LinkCache& links, std::span<const Real> values,
                        std::span<double> target_sums, const Work& work) {
    const std::span<const std::uint32_t> stripes = links.stripes();
    const std::uint64_t pages = links.stripe_pages();
    const auto take = [&](std::uint64_t task, unsigned worker) -> Result<void> {
      const std::uint64_t first = stripes[task] * pages;
      const std::uint64_t end = std::min(page_count_, first + pages);
      const std::span<double> sums = target_sums.subspan(worker * pages, pages);
      std::fill_n(sums.begin(), end - first, 0.0);
      links.add_up(stripes[task], values, sums);
      for (std::uint64_t block = first; block < end; block += kSumPages) {
        totals_[block / kSumPages] =
            work(block, std::min(end, block + kSumPages), sums.data() + (block - first));
      }
      return {};
    };
    CRAWLSTORE_TRY(in_parallel(threads_, stripes.size(), take));
    return total();
  }

  /// The count of numbers that gather() needs.
  [[nodiscard]] std::uint64_t target_sum_count(const LinkCache& links) const {
    return std::min<std::uint64_t>(threads_, links.stripes().size()) * links.stripe_pages();
  }

 private:
  static constexpr std::uint64_t kTaskPages = 16 * kSumPages;

  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double block : totals_) sum += block;
    return sum;
  }

  std::uint64_t page_count_;
  unsigned threads_;
  std::vector<double> totals_;
};

/// Sets `to` to the scores `from`, scaled to a sum of 1, of all shards; those below 0 count as 0,
/// and not all do.
template <class Real>
Result<void> scale_to_sum_1(PageBlocks& blocks, std::span<const Real> from, std::span<Real> to,
                            ShardSums* shards = nullptr) {
  const auto score = [from](std::uint64_t page) {
    return std::max(0.0, static_cast<double>(from[page]));
  };
  CRAWLSTORE_TRY(double sum, blocks.sum([&](std::uint64_t first, std::uint64_t end) {
    Lanes lanes;
    in_lanes(first, end, [&](auto page, auto lane) { lanes.add(lane, score(page)); });
    return lanes.total();
  }));
  CRAWLSTORE_TRY(sum, over_shards(shards, sum));
  CRAWLSTORE_TRY(blocks.sum([&](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t page = first; page < end; ++page) {
      to[page] = static_cast<Real>(score(page) / sum);
    }
    return 0.0;
  }));
  return {};
}

}  // namespace crawlstore::scores
