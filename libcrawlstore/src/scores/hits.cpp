// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - Hubs and authorities are kept times the number of pages n, so that their mean is 1.
// - No score is negative, so sums of what links bring are 0 only where no link counts.
// - All sums over pages are those of PageBlocks: neither threads nor stripes show in a bit.
#include "scores/hits.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "scores/page_blocks.h"
#include "scores/start_scores.h"

namespace crawlstore::scores {
namespace {

/// The share that is spread evenly beside scores of before.
constexpr double kFreshShare = 0.01;
/// Hubs, authorities, and what links bring.
constexpr std::uint64_t kArrays = 3;

bool needs_doubles(const HitsSolverOptions& options) {
  return options.precision < kFloatPrecisionMin;
}

template <class Real>
class HitsIteration {
 public:
  HitsIteration(const LinkCache& out, const LinkCache& in, const HitsSolverOptions& options)
      : out_(out),
        in_(in),
        options_(options),
        page_count_(out.page_count()),
        all_count_(static_cast<double>(options.shards != nullptr ? options.shards->page_count()
                                                                 : page_count_)),
        blocks_(page_count_, options.threads) {}

  Result<HitsResult> run();

 private:
  using Scores = io::AnonymousArray<Real>;

  Result<void> allocate();
  Result<void> start();
  void set_alike();
  Result<void> iterate(HitsResult& result);
  Result<std::optional<double>> step();
  Result<std::optional<double>> take_authorities();
  Result<std::optional<double>> take_hubs();
  Result<double> gather(const LinkCache& links, const Scores& from);
  Result<std::optional<double>> take(double sum, Scores& to);
  Result<void> weigh();

  const LinkCache& out_;
  const LinkCache& in_;
  const HitsSolverOptions& options_;
  const std::uint64_t page_count_;
  const double all_count_;  // pages of all shards, which are n of the invariants
  PageBlocks blocks_;
  StartScores alike_;
  Scores hubs_;
  Scores authorities_;
  Scores brought_;
  Scores weighted_;                         // authorities times target weights, if there are any
  io::AnonymousArray<double> target_sums_;  // of a stripe for each worker
  bool has_weights_ = false;
  double weight_scale_ = 1;  // what makes the mean of target weights 1
};

template <class Real>
Result<void> HitsIteration<Real>::allocate() {
  CRAWLSTORE_TRY(hubs_, Scores::map(page_count_, options_.folder));
  CRAWLSTORE_TRY(authorities_, Scores::map(page_count_, options_.folder));
  CRAWLSTORE_TRY(brought_, Scores::map(page_count_, options_.folder));
  CRAWLSTORE_TRY(weighted_, Scores::map(options_.target_weights.size(), options_.folder));
  const auto sums = std::max(blocks_.target_sum_count(out_), blocks_.target_sum_count(in_));
  CRAWLSTORE_TRY(target_sums_, io::AnonymousArray<double>::map(sums));
  return {};
}

template <class Real>
Result<void> HitsIteration<Real>::start() {
  const auto& weights = options_.target_weights;
  const auto& present = options_.present;
  if ((!weights.empty() && weights.size() != page_count_) ||
      (!present.empty() && present.size() != page_count_)) {
    return fail(Errc::kInvalidArgument, "there must be a weight for each page");
  }
  CRAWLSTORE_TRY(const double weight_count,
                 over_shards(options_.shards, static_cast<double>(weights.size())));
  has_weights_ = weight_count > 0;
  if (has_weights_) {
    CRAWLSTORE_TRY(const double sum, sum_of_weights(weights, options_.shards));
    weight_scale_ = all_count_ / sum;
  }
  CRAWLSTORE_TRY(alike_, StartScores::make(present, page_count_, options_.shards));
  CRAWLSTORE_TRY(const double start_count,
                 over_shards(options_.shards, static_cast<double>(options_.start.size())));
  StartScores before;
  if (start_count > 0) {
    CRAWLSTORE_TRY(before, StartScores::make(options_.start, page_count_, options_.shards));
  }
  const double fresh = start_count > 0 ? kFreshShare : 1;
  for (std::uint64_t page = 0; page < page_count_; ++page) {
    hubs_.span()[page] = static_cast<Real>(fresh * alike_.at(page) + (1 - fresh) * before.at(page));
  }
  return {};
}

/// The scores where no link counts.
template <class Real>
void HitsIteration<Real>::set_alike() {
  for (std::uint64_t page = 0; page < page_count_; ++page) {
    hubs_.span()[page] = authorities_.span()[page] = static_cast<Real>(alike_.at(page));
  }
}

/// Sets brought_ to what links bring of `from`, and returns its sum.
template <class Real>
Result<double> HitsIteration<Real>::gather(const LinkCache& links, const Scores& from) {
  Real* const brought = brought_.span().data();
  return blocks_.gather(links, from.span(), target_sums_.span(),
                        [brought](std::uint64_t first, std::uint64_t end, const double* sums) {
                          Lanes lanes;
                          in_lanes(first, end, [&](std::uint64_t page, std::uint64_t lane) {
                            brought[page] = static_cast<Real>(sums[page - first]);
                            lanes.add(lane, sums[page - first]);
                          });
                          return lanes.total();
                        });
}

/// Sets `to` to brought_, whose sum over all shards this is, scaled to a mean of 1. Returns how
/// much it changed; nothing where no link brings anything.
template <class Real>
Result<std::optional<double>> HitsIteration<Real>::take(double sum, Scores& to) {
  if (!(sum > 0)) return std::nullopt;
  const double scale = all_count_ / sum;
  const Real* const brought = brought_.span().data();
  Real* const scores = to.span().data();
  CRAWLSTORE_TRY(const double change, blocks_.sum([&](std::uint64_t first, std::uint64_t end) {
    Lanes lanes;
    in_lanes(first, end, [&](std::uint64_t page, std::uint64_t lane) {
      const auto before = static_cast<double>(scores[page]);
      scores[page] = static_cast<Real>(scale * static_cast<double>(brought[page]));
      lanes.add(lane, std::abs(static_cast<double>(scores[page]) - before));
    });
    return lanes.total();
  }));
  return over_shards(options_.shards, change).map([](double all) {
    return std::optional<double>(all);
  });
}

/// Authorities of hubs. Scores that pages elsewhere got go to their owners, but for unknown ones.
template <class Real>
Result<std::optional<double>> HitsIteration<Real>::take_authorities() {
  CRAWLSTORE_TRY(double sum, gather(out_, hubs_));
  if (options_.shards != nullptr) {
    CRAWLSTORE_TRY(double unknown, options_.shards->bring(brought_.span(), 0));
    CRAWLSTORE_TRY(sum, over_shards(options_.shards, sum));
    sum -= unknown;
  }
  return take(sum, authorities_);
}

/// Hubs of authorities, also of those of pages elsewhere, which their owners know.
template <class Real>
Result<std::optional<double>> HitsIteration<Real>::take_hubs() {
  if (has_weights_) CRAWLSTORE_TRY(weigh());
  Scores& from = has_weights_ ? weighted_ : authorities_;
  if (options_.shards != nullptr) CRAWLSTORE_TRY(options_.shards->fetch(from.span()));
  CRAWLSTORE_TRY(double sum, gather(in_, from));
  if (options_.shards != nullptr) options_.shards->clear(from.span());
  CRAWLSTORE_TRY(sum, over_shards(options_.shards, sum));
  return take(sum, hubs_);
}

template <class Real>
Result<void> HitsIteration<Real>::weigh() {
  CRAWLSTORE_TRY(blocks_.sum([&](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t page = first; page < end; ++page) {
      const double weight = weight_scale_ * static_cast<double>(options_.target_weights[page]);
      weighted_.span()[page] =
          static_cast<Real>(weight * static_cast<double>(authorities_.span()[page]));
    }
    return 0.0;
  }));
  return {};
}

/// From hubs to authorities and back. Returns the larger change; nothing where no link counts.
template <class Real>
Result<std::optional<double>> HitsIteration<Real>::step() {
  CRAWLSTORE_TRY(const auto authorities_change, take_authorities());
  if (!authorities_change) return std::nullopt;
  CRAWLSTORE_TRY(const auto hubs_change, take_hubs());
  if (!hubs_change) return std::nullopt;
  return std::max(*authorities_change, *hubs_change) / all_count_;
}

template <class Real>
Result<void> HitsIteration<Real>::iterate(HitsResult& result) {
  while (!result.has_converged) {
    CRAWLSTORE_TRY(const auto residual, step());
    if (!residual) {
      result.has_converged = true;
      set_alike();
      return {};
    }
    result.residuals.push_back(*residual);
    const auto iteration = static_cast<std::uint32_t>(result.residuals.size());
    if (options_.progress && !options_.progress(iteration, *residual)) {
      return fail(Errc::kCancelled, "the work was stopped; the scores are what they were");
    }
    result.has_converged = *residual < options_.precision || *residual <= kHitsPrecisionMin;
    if (iteration == options_.max_iterations) break;
  }
  return {};
}

template <class Real>
Result<HitsResult> HitsIteration<Real>::run() {
  HitsResult result;
  CRAWLSTORE_TRY(allocate());
  if (all_count_ == 0) {
    result.has_converged = true;
  } else {
    CRAWLSTORE_TRY(start());
    CRAWLSTORE_TRY(iterate(result));
  }
  for (Scores* const scores : {&authorities_, &hubs_}) {
    CRAWLSTORE_TRY(scale_to_sum_1<Real>(blocks_, scores->span(), scores->span(), options_.shards));
  }
  result.authorities = std::move(authorities_);
  result.hubs = std::move(hubs_);
  return result;
}

}  // namespace

std::uint64_t hits_memory_bytes(std::uint64_t page_count, const HitsSolverOptions& options) {
  page_count = std::min(page_count, kPageCountMax + 1);
  const std::uint64_t real_bytes = needs_doubles(options) ? sizeof(double) : sizeof(float);
  const std::uint64_t stripe_count = (page_count >> kStripeBitsMin) + 1;
  const std::uint64_t workers = std::clamp<std::uint64_t>(options.threads, 1, stripe_count);
  const std::uint64_t arrays = kArrays + (options.target_weights.empty() ? 0U : 1U);
  return page_count * real_bytes * arrays + blocks_of(page_count) * sizeof(double) +
         workers * (sizeof(double) << kStripeBitsMax);
}

Result<void> check_options(const HitsSolverOptions& options) {
  if (!(options.precision >= 0)) {
    return fail(Errc::kInvalidArgument, "the precision is a number, 0 or more");
  }
  if (options.max_iterations == 0) {
    return fail(Errc::kInvalidArgument, "at least one iteration is needed");
  }
  return {};
}

Result<HitsResult> hits(const LinkCache& out, const LinkCache& in,
                        const HitsSolverOptions& options) {
  CRAWLSTORE_TRY(check_options(options));
  if (out.page_count() != in.page_count() || out.link_count() != in.link_count()) {
    return fail(Errc::kInvalidArgument, "the links of pages are not those to pages");
  }
  if (needs_doubles(options)) return HitsIteration<double>(out, in, options).run();
  return HitsIteration<float>(out, in, options).run();
}

}  // namespace crawlstore::scores
