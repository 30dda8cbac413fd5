// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include <crawlstore/tools/supersteps.h>

#include "container/work_steps.h"
#include "scheduler/superstep_sample.h"

namespace crawlstore {
namespace {

using container::WorkSteps;

/// Pages that are extracted between two looks at the progress.
constexpr std::uint32_t kPagesPerLook = 1 << 14;
/// Halvings above the largest power of two that keeps the error.
constexpr unsigned kHalvings = 6;

/// One run: the six steps. Places of pages are those of the sample.
class Extraction {
 public:
  Extraction(const SuperstepSample::Impl& sample, std::uint64_t tolerance)
      : sample_(sample), loads_(sample.processor_count) {
    run_.tolerance = tolerance;
    run_.message_count = sample.receivers.size();
    run_.failure_count = sample.backward_link_count;
  }

  void extract(std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t place = first; place < end; ++place) extract(place);
  }
  SuperstepRun finish() {
    const auto count = static_cast<std::uint32_t>(sample_.page_count());
    if (first_ < count) close(count - 1);
    if (run_.superstep_count == 0) return run_;
    const auto supersteps = static_cast<double>(run_.superstep_count);
    run_.pages_mean = static_cast<double>(sample_.pages_of_busiest) / supersteps;
    run_.error_mean = error_sum_ / supersteps;
    run_.error_by_pages = static_cast<double>(run_.missed_count) / static_cast<double>(count);
    return run_;
  }

 private:
  /// Counts of a processor, each of the superstep that its number says.
  struct Load {
    std::uint32_t pages_step = 0;
    std::uint32_t pages = 0;
    std::uint32_t messages_step = 0;
    std::uint32_t messages = 0;
  };

  void extract(std::uint32_t place) {
    Load& own = loads_[sample_.processors[place]];
    if (own.pages_step != step_) {
      own.pages_step = step_;
      own.pages = 0;
    }
    pages_max_ = std::max(pages_max_, ++own.pages);
    missed_ += sample_.sources[place] > first_source_ ? 1 : 0;
    if (is_full_) close(place);
    for (std::uint32_t left = sample_.receiver_counts[place]; left > 0; --left) {
      Load& load = loads_[sample_.receivers[next_receiver_++]];
      if (load.messages_step != step_) {
        load.messages_step = step_;
        load.messages = 0;
      }
      is_full_ |= ++load.messages > run_.tolerance;
    }
    link_end_ += sample_.link_counts[place];
  }
  /// Ends a superstep whose last page is at `place`, which sends its messages in the next one.
  void close(std::uint32_t place) {
    const double error = static_cast<double>(missed_) / static_cast<double>(place + 1 - first_);
    error_sum_ += error;
    run_.error_max = std::max(run_.error_max, error);
    run_.missed_count += missed_;
    run_.pages_max = pages_max_;
    ++run_.superstep_count;
    std::uint64_t failures = 0;
    for (; link_begin_ < link_end_; ++link_begin_) {
      failures += sample_.links[link_begin_] <= place ? 1 : 0;
    }
    run_.failure_count += failures;
    missed_ = 0;
    is_full_ = false;
    first_ = place + 1;
    first_source_ = place;
    ++step_;
  }

  const SuperstepSample::Impl& sample_;
  std::vector<Load> loads_;
  SuperstepRun run_;
  double error_sum_ = 0;
  std::uint64_t next_receiver_ = 0;
  std::uint64_t link_begin_ = 0;  // links that have not arrived
  std::uint64_t link_end_ = 0;
  std::uint32_t missed_ = 0;  // in this superstep
  std::uint32_t pages_max_ = 0;
  std::uint32_t first_ = 0;         // page of this superstep
  std::uint32_t first_source_ = 0;  // page whose messages are of this superstep
  std::uint32_t step_ = 1;
  bool is_full_ = false;
};

Result<SuperstepRun> run_once(const SuperstepSample::Impl& sample, std::uint64_t tolerance,
                              WorkSteps& steps) {
  Extraction extraction(sample, tolerance);
  const auto count = static_cast<std::uint32_t>(sample.page_count());
  for (std::uint32_t first = 0; first < count;) {
    const std::uint32_t end = first + std::min(kPagesPerLook, count - first);
    extraction.extract(first, end);
    CRAWLSTORE_TRY(steps.add(end - first));
    first = end;
  }
  return extraction.finish();
}

/// A search: notes each run, and the best.
class Search {
 public:
  Search(const SuperstepSample::Impl& sample, double error_max, WorkSteps& steps)
      : sample_(sample), error_max_(error_max), steps_(steps) {
    steps.expect(sample.page_count() *
                 (static_cast<unsigned>(std::bit_width(sample.messages_of_busiest)) + kHalvings));
  }

  Result<SuperstepSearch> all() {
    CRAWLSTORE_TRY(auto run, try_one(0));
    for (std::uint64_t tolerance = 1; run.superstep_count > 1; tolerance *= 2) {
      CRAWLSTORE_TRY(run, try_one(tolerance));
    }
    const std::uint64_t power = found_.best ? found_.best->tolerance : 0;
    const bool is_last = found_.best && found_.best->superstep_count <= 1;
    for (unsigned i = 1; i <= kHalvings && !is_last && power >> i != 0; ++i) {
      CRAWLSTORE_TRY(run, try_one(found_.best->tolerance + (power >> i)));
    }
    found_.is_unbounded = found_.best && found_.best->superstep_count <= 1;
    std::ranges::sort(found_.runs, {}, &SuperstepRun::tolerance);
    return std::move(found_);
  }

 private:
  /// Runs with a tolerance that is larger than that of the best run.
  Result<SuperstepRun> try_one(std::uint64_t tolerance) {
    CRAWLSTORE_TRY(auto run, run_once(sample_, tolerance, steps_));
    found_.runs.push_back(run);
    if (run.error_mean <= error_max_) found_.best = run;
    return run;
  }

  const SuperstepSample::Impl& sample_;
  double error_max_;
  WorkSteps& steps_;
  SuperstepSearch found_;
};

}  // namespace

SuperstepSample::SuperstepSample(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

std::uint64_t SuperstepSample::page_count() const {
  return impl_->page_count();
}

std::uint64_t SuperstepSample::remote_link_count() const {
  return impl_->backward_link_count + impl_->links.size();
}

double SuperstepSample::balance() const {
  if (impl_->page_count() == 0) return 0;
  return static_cast<double>(impl_->pages_of_busiest) * impl_->processor_count /
         static_cast<double>(impl_->page_count());
}

Result<SuperstepRun> SuperstepSample::run(std::uint64_t tolerance, const Progress& progress) const {
  return container::in_steps(nullptr, progress, [&](WorkSteps& steps) {
    steps.expect(impl_->page_count());
    return run_once(*impl_, tolerance, steps);
  });
}

Result<SuperstepSearch> SuperstepSample::search(double error_max, const Progress& progress) const {
  if (!(error_max >= 0 && error_max <= 1)) {
    return fail(Errc::kInvalidArgument, "the error of supersteps is from 0 to 1");
  }
  return container::in_steps(
      nullptr, progress, [&](WorkSteps& steps) { return Search(*impl_, error_max, steps).all(); });
}

}  // namespace crawlstore
