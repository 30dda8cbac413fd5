// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - Scores are kept times the number of pages n, so that their mean is 1 and dot products are not
//   tiny. shares_[s] is the score of s that flows along each of its links, as of the current point.
// - Sums over pages are sums of blocks of kSumPages pages, each in four lanes, added in the order
//   of the blocks: neither threads nor stripes show in a bit. This file is compiled without
//   contraction of a * b + c, which would show the processor's.
// - Of points, and of what steps led to, the last three are there: number i % 3 is of iteration i.
#include "scores/page_rank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "scores/anderson.h"
#include "scores/in_parallel.h"

namespace crawlstore::scores {
namespace {

constexpr std::uint64_t kSumPages = 4096;
static_assert(kSumPages == std::uint64_t{1} << kStripeBitsMin);
constexpr std::uint64_t kTaskPages = 16 * kSumPages;
constexpr std::size_t kPoints = AndersonMixing::kPoints;
constexpr double kDoublePrecisionMin = 0x1p-52;

std::uint64_t blocks_of(std::uint64_t page_count) {
  return page_count / kSumPages + (page_count % kSumPages != 0 ? 1 : 0);
}

bool needs_doubles(const PageRankOptions& options) {
  return options.precision < kFloatPrecisionMin;
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

/// The sum of weights, each finite and none negative.
Result<double> sum_of_weights(std::span<const float> weights) {
  double sum = 0;
  for (std::size_t page = 0; page < weights.size(); ++page) {
    if (!std::isfinite(weights[page]) || weights[page] < 0) {
      return fail(Errc::kInvalidArgument, "a weight is negative, infinite or not a number", page);
    }
    sum += static_cast<double>(weights[page]);
  }
  if (!(sum > 0)) return fail(Errc::kInvalidArgument, "all weights are 0");
  return sum;
}

/// What iterations compute of a block, and of all.
struct StepSums {
  double change = 0;
  AndersonMixing::Products products{};
};

template <class Real>
class PageRankIteration {
 public:
  PageRankIteration(const LinkCache& links, const PageRankOptions& options)
      : links_(links),
        options_(options),
        page_count_(links.page_count()),
        threads_(std::max(options.threads, 1U)) {}

  Result<PageRankResult> run();

 private:
  Result<void> allocate();
  Result<void> start();
  Result<void> step(StepSums& sums);
  void finish_block(std::uint64_t first, const double* sums);
  Result<void> go_on(const AndersonMixing::Weights& weights);
  double spread(std::uint64_t first, std::uint64_t end, const Real* scores);
  Result<void> normalise();

  /// Calls work(first page, end, block) for each block of pages, and adds up what it returns.
  template <class Work>
  Result<double> sum_of_blocks(const Work& work);
  Real* array(std::uint64_t index) { return numbers_.span().data() + index * page_count_; }
  /// `age` iterations before the current one.
  Real* point(std::uint64_t age) { return array((iteration_ + kPoints - age) % kPoints); }
  Real* stepped(std::uint64_t age) {
    return array(kPoints + (iteration_ + kPoints - age) % kPoints);
  }

  const LinkCache& links_;
  const PageRankOptions& options_;
  const std::uint64_t page_count_;
  const unsigned threads_;
  io::AnonymousArray<Real> numbers_;  // the last points, then what steps led to
  io::AnonymousArray<Real> shares_;
  io::AnonymousArray<double> target_sums_;  // of a stripe for each worker
  std::vector<StepSums> block_sums_;
  std::vector<double> block_totals_;
  std::uint64_t iteration_ = 0;
  AndersonMixing mixing_;
  double teleport_scale_ = 1;  // what makes the mean of teleport weights 1
  double base_ = 0;            // what a page of teleport weight 1 gets that no link brings
};

template <class Real>
Result<void> PageRankIteration<Real>::allocate() {
  // All points are one array, so that the system sees all of it when it refuses.
  CRAWLSTORE_TRY(numbers_,
                 io::AnonymousArray<Real>::map(2 * kPoints * page_count_, options_.folder));
  CRAWLSTORE_TRY(shares_, io::AnonymousArray<Real>::map(page_count_, options_.folder));
  const std::uint64_t workers = std::min<std::uint64_t>(threads_, links_.stripes().size());
  CRAWLSTORE_TRY(target_sums_, io::AnonymousArray<double>::map(workers * links_.stripe_pages()));
  block_sums_.resize(blocks_of(page_count_));
  block_totals_.resize(block_sums_.size());
  return {};
}

template <class Real>
template <class Work>
Result<double> PageRankIteration<Real>::sum_of_blocks(const Work& work) {
  const std::uint64_t tasks = (page_count_ - 1) / kTaskPages + 1;
  CRAWLSTORE_TRY(in_parallel(threads_, tasks, [&](std::uint64_t task, unsigned) -> Result<void> {
    const std::uint64_t end = std::min(page_count_, (task + 1) * kTaskPages);
    for (std::uint64_t first = task * kTaskPages; first < end; first += kSumPages) {
      block_totals_[first / kSumPages] = work(first, std::min(end, first + kSumPages));
    }
    return {};
  }));
  double total = 0;
  for (const double block : block_totals_) total += block;
  return total;
}

/// Sets the shares of pages, and returns the scores of those without links.
template <class Real>
double PageRankIteration<Real>::spread(std::uint64_t first, std::uint64_t end, const Real* scores) {
  const std::uint32_t* const degrees = links_.degrees().data();
  Real* const shares = shares_.span().data();
  Lanes dangling;
  in_lanes(first, end, [&](std::uint64_t page, std::uint64_t lane) {
    const std::uint32_t degree = degrees[page];
    shares[page] = scores[page] / static_cast<Real>(std::max(degree, 1U));
    dangling.add(lane, degree == 0 ? static_cast<double>(scores[page]) : 0.0);
  });
  return dangling.total();
}

template <class Real>
Result<void> PageRankIteration<Real>::start() {
  const auto n = static_cast<double>(page_count_);
  if (!options_.teleport.empty()) {
    if (options_.teleport.size() != page_count_) {
      return fail(Errc::kInvalidArgument, "there must be a teleport weight for each page");
    }
    CRAWLSTORE_TRY(const double sum, sum_of_weights(options_.teleport));
    teleport_scale_ = n / sum;
  }
  std::span<const float> given = options_.teleport;
  double sum = n / teleport_scale_;
  if (!options_.start.empty()) {
    given = options_.start;
    if (given.size() > page_count_) {
      return fail(Errc::kInvalidArgument, "there are more scores to begin with than pages");
    }
    CRAWLSTORE_TRY(sum, sum_of_weights(given));
  }
  // Shares of new pages beside old ones of sum 1; then all of them scaled to a mean of 1.
  const double scale = n / (1 + (n - static_cast<double>(given.size())) / n);
  Real* const scores = point(0);
  CRAWLSTORE_TRY(const double dangling, sum_of_blocks([&](std::uint64_t first, std::uint64_t end) {
                   for (std::uint64_t page = first; page < end; ++page) {
                     const double share =
                         page < given.size() ? static_cast<double>(given[page]) / sum : 1 / n;
                     scores[page] = static_cast<Real>(given.empty() ? 1 : share * scale);
                   }
                   return spread(first, end, scores);
                 }));
  base_ = (1 - options_.damping) + options_.damping * (dangling / n);
  return {};
}

/// One step from the current point, all stripes.
template <class Real>
Result<void> PageRankIteration<Real>::step(StepSums& sums) {
  const std::span<const std::uint32_t> stripes = links_.stripes();
  const std::uint64_t pages = links_.stripe_pages();
  const auto work = [&](std::uint64_t task, unsigned worker) -> Result<void> {
    const std::uint64_t first = stripes[task] * pages;
    const std::uint64_t end = std::min(page_count_, first + pages);
    const std::span<double> target_sums = target_sums_.span().subspan(worker * pages, pages);
    std::fill(target_sums.begin(), target_sums.end(), 0.0);
    links_.add_up(stripes[task], std::as_const(shares_).span(), target_sums);
    for (std::uint64_t block = first; block < end; block += kSumPages) {
      finish_block(block, target_sums.data() + (block - first));
    }
    return {};
  };
  CRAWLSTORE_TRY(in_parallel(threads_, stripes.size(), work));
  sums = {};
  for (const StepSums& block : block_sums_) {
    sums.change += block.change;
    for (std::size_t age = 0; age < kPoints; ++age) sums.products[age] += block.products[age];
  }
  return {};
}

/// Makes new scores of what links brought, and compares them with the last ones. Changes are those
/// of the numbers as they are kept, so that what is minimised is what is measured.
template <class Real>
void PageRankIteration<Real>::finish_block(std::uint64_t first, const double* sums) {
  const std::uint64_t end = std::min(page_count_, first + kSumPages);
  const Real* const x0 = point(0);
  Real* const g0 = stepped(0);
  // Products with steps that do not count are not looked at; their numbers are.
  const std::size_t history = mixing_.history();
  const Real* const x1 = history > 0 ? point(1) : x0;
  const Real* const g1 = history > 0 ? stepped(1) : x0;
  const Real* const x2 = history > 1 ? point(2) : x0;
  const Real* const g2 = history > 1 ? stepped(2) : x0;
  const float* const teleport = options_.teleport.data();
  const double teleport_base = base_ * teleport_scale_;
  Lanes change;
  std::array<Lanes, kPoints> products;
  in_lanes(first, end, [&](std::uint64_t page, std::uint64_t lane) {
    const double base =
        teleport != nullptr ? teleport_base * static_cast<double>(teleport[page]) : base_;
    const Real score = static_cast<Real>(options_.damping * sums[page - first] + base);
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

/// Goes to the point that the last steps are weighed to. It takes the place of the oldest point.
template <class Real>
Result<void> PageRankIteration<Real>::go_on(const AndersonMixing::Weights& weights) {
  const Real* const g0 = stepped(0);
  const Real* const g1 = weights[1] != 0 ? stepped(1) : g0;
  const Real* const g2 = weights[2] != 0 ? stepped(2) : g0;
  ++iteration_;
  Real* const next = point(0);
  CRAWLSTORE_TRY(const double dangling, sum_of_blocks([&](std::uint64_t first, std::uint64_t end) {
                   for (std::uint64_t page = first; page < end; ++page) {
                     next[page] = static_cast<Real>(weights[0] * static_cast<double>(g0[page]) +
                                                    weights[1] * static_cast<double>(g1[page]) +
                                                    weights[2] * static_cast<double>(g2[page]));
                   }
                   return spread(first, end, next);
                 }));
  base_ = (1 - options_.damping) + options_.damping * (dangling / static_cast<double>(page_count_));
  return {};
}

/// The last step as scores of sum 1, in the place of the shares.
template <class Real>
Result<void> PageRankIteration<Real>::normalise() {
  // Weights may be negative, and so may a score that is nothing but what rounding left.
  const Real* const last = stepped(0);
  const auto score = [last](std::uint64_t page) {
    return std::max(0.0, static_cast<double>(last[page]));
  };
  CRAWLSTORE_TRY(const double sum, sum_of_blocks([&](std::uint64_t first, std::uint64_t end) {
                   Lanes lanes;
                   in_lanes(first, end,
                            [&](auto page, auto lane) { lanes.add(lane, score(page)); });
                   return lanes.total();
                 }));
  Real* const scores = shares_.span().data();
  CRAWLSTORE_TRY(sum_of_blocks([&](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t page = first; page < end; ++page) {
      scores[page] = static_cast<Real>(score(page) / sum);
    }
    return 0.0;
  }));
  return {};
}

template <class Real>
Result<PageRankResult> PageRankIteration<Real>::run() {
  PageRankResult result;
  CRAWLSTORE_TRY(allocate());
  if (page_count_ == 0) {
    result.has_converged = true;
  } else {
    CRAWLSTORE_TRY(start());
  }
  while (!result.has_converged) {
    StepSums sums;
    CRAWLSTORE_TRY(step(sums));
    const double residual = sums.change / static_cast<double>(page_count_);
    result.residuals.push_back(residual);
    const auto iteration = static_cast<std::uint32_t>(result.residuals.size());
    if (options_.progress && !options_.progress(iteration, residual)) {
      return fail(Errc::kCancelled, "the work was stopped; the scores are what they were");
    }
    result.has_converged = residual < options_.precision || residual <= kDoublePrecisionMin;
    if (result.has_converged || iteration == options_.max_iterations) break;
    CRAWLSTORE_TRY(go_on(mixing_.mix(sums.products, sums.change)));
  }
  if (page_count_ != 0) CRAWLSTORE_TRY(normalise());
  result.scores = std::move(shares_);
  return result;
}

}  // namespace

std::uint64_t page_rank_memory_bytes(std::uint64_t page_count, const PageRankOptions& options) {
  page_count = std::min(page_count, kPageCountMax + 1);
  const std::uint64_t real_bytes = needs_doubles(options) ? sizeof(double) : sizeof(float);
  const std::uint64_t stripe_count = (page_count >> kStripeBitsMin) + 1;
  const std::uint64_t workers = std::clamp<std::uint64_t>(options.threads, 1, stripe_count);
  return page_count * real_bytes * (2 * kPoints + 1) +
         blocks_of(page_count) * (sizeof(StepSums) + sizeof(double)) +
         workers * (sizeof(double) << kStripeBitsMax);
}

Result<void> check_options(const PageRankOptions& options) {
  if (!(options.damping >= 0 && options.damping <= 1)) {
    return fail(Errc::kInvalidArgument, "the damping is a number from 0 to 1");
  }
  if (!(options.precision >= 0)) {
    return fail(Errc::kInvalidArgument, "the precision is a number, 0 or more");
  }
  if (options.max_iterations == 0) {
    return fail(Errc::kInvalidArgument, "at least one iteration is needed");
  }
  return {};
}

Result<PageRankResult> page_rank(const LinkCache& links, const PageRankOptions& options) {
  CRAWLSTORE_TRY(check_options(options));
  if (needs_doubles(options)) return PageRankIteration<double>(links, options).run();
  return PageRankIteration<float>(links, options).run();
}

}  // namespace crawlstore::scores
