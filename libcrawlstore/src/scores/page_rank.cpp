// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - Scores are kept times the number of pages n, so that their mean is 1 and dot products are not
//   tiny. shares_[s] is the score of s that flows along each of its links, as of the current point.
// - All sums over pages are those of PageBlocks: neither threads nor stripes show in a bit.
#include "scores/page_rank.h"

#include <algorithm>
#include <array>
#include <utility>

#include "scores/mixed_points.h"
#include "scores/page_blocks.h"
#include "scores/start_scores.h"

namespace crawlstore::scores {
namespace {

constexpr double kDoublePrecisionMin = 0x1p-52;

bool needs_doubles(const PageRankOptions& options) {
  return options.precision < kFloatPrecisionMin;
}

template <class Real>
class PageRankIteration {
 public:
  PageRankIteration(const LinkCache& links, const PageRankOptions& options)
      : links_(links),
        options_(options),
        page_count_(links.page_count()),
        all_count_(static_cast<double>(options.shards != nullptr ? options.shards->page_count()
                                                                 : page_count_)),
        blocks_(page_count_, options.threads) {}

  Result<PageRankResult> run();

 private:
  Result<void> allocate();
  Result<void> start();
  Result<void> step();
  void step_block(std::uint64_t first, std::uint64_t end, const auto* brought);
  Result<StepSums> step_sums() const;
  Result<void> go_on(const StepSums& sums);
  double spread(std::uint64_t first, std::uint64_t end, const Real* scores);

  const LinkCache& links_;
  const PageRankOptions& options_;
  const std::uint64_t page_count_;
  const double all_count_;  // pages of all shards, which are n of the invariants
  PageBlocks blocks_;
  MixedPoints<Real> points_;
  io::AnonymousArray<Real> shares_;
  io::AnonymousArray<Real> brought_;        // by links, where shards tell each other of it
  io::AnonymousArray<double> target_sums_;  // of a stripe for each worker
  double teleport_scale_ = 1;               // what makes the mean of teleport weights 1
  double dangling_ = 0;                     // scores of pages without links, at the current point
};

template <class Real>
Result<void> PageRankIteration<Real>::allocate() {
  CRAWLSTORE_TRY(points_, MixedPoints<Real>::map(page_count_, options_.folder));
  CRAWLSTORE_TRY(shares_, io::AnonymousArray<Real>::map(page_count_, options_.folder));
  if (options_.shards != nullptr) {
    CRAWLSTORE_TRY(brought_, io::AnonymousArray<Real>::map(page_count_, options_.folder));
  }
  CRAWLSTORE_TRY(target_sums_, io::AnonymousArray<double>::map(blocks_.target_sum_count(links_)));
  return {};
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
  if (!options_.teleport.empty() || options_.shards != nullptr) {
    if (options_.teleport.size() != page_count_) {
      return fail(Errc::kInvalidArgument, "there must be a teleport weight for each page");
    }
    CRAWLSTORE_TRY(const double sum, sum_of_weights(options_.teleport, options_.shards));
    teleport_scale_ = all_count_ / sum;
  }
  const auto given = options_.start.empty() ? options_.teleport : options_.start;
  CRAWLSTORE_TRY(const auto start, StartScores::make(given, page_count_, options_.shards));
  Real* const scores = points_.point().data();
  CRAWLSTORE_TRY(dangling_, blocks_.sum([&](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t page = first; page < end; ++page) {
      scores[page] = static_cast<Real>(start.at(page));
    }
    return spread(first, end, scores);
  }));
  return {};
}

/// New scores of some pages, of what links brought the first one of them and those behind it.
template <class Real>
void PageRankIteration<Real>::step_block(std::uint64_t first, std::uint64_t end,
                                         const auto* brought) {
  // The part that no link brings, of a page of teleport weight 1.
  const double base = (1 - options_.damping) + options_.damping * (dangling_ / all_count_);
  const float* const teleport = options_.teleport.data();
  const double teleport_base = base * teleport_scale_;
  points_.step_block(first, end, [&](std::uint64_t page) {
    const double teleported =
        teleport != nullptr ? teleport_base * static_cast<double>(teleport[page]) : base;
    return options_.damping * static_cast<double>(brought[page - first]) + teleported;
  });
}

/// One step from the current point.
template <class Real>
Result<void> PageRankIteration<Real>::step() {
  Real* const brought = brought_.span().data();
  const auto take = [&](std::uint64_t first, std::uint64_t end, const double* sums) {
    if (options_.shards == nullptr) {
      step_block(first, end, sums);
    } else {
      std::transform(sums, sums + (end - first), brought + first,
                     [](double sum) { return static_cast<Real>(sum); });
    }
    return 0.0;
  };
  CRAWLSTORE_TRY(blocks_.gather(links_, std::as_const(shares_).span(), target_sums_.span(), take));
  if (options_.shards == nullptr) return {};
  CRAWLSTORE_TRY(dangling_, options_.shards->bring(brought_.span(), dangling_));
  CRAWLSTORE_TRY(blocks_.sum([&](std::uint64_t first, std::uint64_t end) {
    step_block(first, end, brought + first);
    return 0.0;
  }));
  return {};
}

/// The changes that the step made, of all shards.
template <class Real>
Result<StepSums> PageRankIteration<Real>::step_sums() const {
  StepSums sums = points_.sums();
  if (options_.shards == nullptr) return sums;
  std::array all{sums.change, sums.products[0], sums.products[1], sums.products[2]};
  CRAWLSTORE_TRY(options_.shards->add_up(all));
  return StepSums{all[0], {all[1], all[2], all[3]}};
}

template <class Real>
Result<void> PageRankIteration<Real>::go_on(const StepSums& sums) {
  CRAWLSTORE_TRY(dangling_,
                 points_.go_on(blocks_, sums, [&](auto first, auto end, const Real* scores) {
                   return spread(first, end, scores);
                 }));
  return {};
}

template <class Real>
Result<PageRankResult> PageRankIteration<Real>::run() {
  PageRankResult result;
  CRAWLSTORE_TRY(allocate());
  if (all_count_ == 0) {
    result.has_converged = true;
  } else {
    CRAWLSTORE_TRY(start());
  }
  while (!result.has_converged) {
    CRAWLSTORE_TRY(step());
    CRAWLSTORE_TRY(const StepSums sums, step_sums());
    const double residual = sums.change / all_count_;
    result.residuals.push_back(residual);
    const auto iteration = static_cast<std::uint32_t>(result.residuals.size());
    if (options_.progress && !options_.progress(iteration, residual)) {
      return fail(Errc::kCancelled, "the work was stopped; the scores are what they were");
    }
    result.has_converged = residual < options_.precision || residual <= kDoublePrecisionMin;
    if (result.has_converged || iteration == options_.max_iterations) break;
    CRAWLSTORE_TRY(go_on(sums));
  }
  // In the place of the shares. Where only rounding is left, a score may be negative.
  CRAWLSTORE_TRY(scale_to_sum_1<Real>(blocks_, points_.stepped(), shares_.span(), options_.shards));
  result.scores = std::move(shares_);
  return result;
}

}  // namespace

std::uint64_t page_rank_memory_bytes(std::uint64_t page_count, const PageRankOptions& options) {
  page_count = std::min(page_count, kPageCountMax + 1);
  const std::uint64_t real_bytes = needs_doubles(options) ? sizeof(double) : sizeof(float);
  const std::uint64_t stripe_count = (page_count >> kStripeBitsMin) + 1;
  const std::uint64_t workers = std::clamp<std::uint64_t>(options.threads, 1, stripe_count);
  const std::uint64_t arrays =
      MixedPoints<float>::kArrays + 1 + (options.shards != nullptr ? 1U : 0U);
  return page_count * real_bytes * arrays +
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
