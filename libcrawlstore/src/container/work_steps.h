// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Long work that reports its progress and can be stopped: loops count their steps here, and now
/// and then ask the caller's Progress whether to go on.
///
/// A step is a key, a URL, a record, a row or a link: some 10 ns to 1 us.
///
/// An exception of a function of the caller stops the work as a "no" would, so that it ends with
/// nothing half changed; rethrow() then passes the exception on. Inside such a function the store
/// refuses to be changed (CallerFunction).

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include <crawlstore/store.h>

#include "container/caller_function.h"

namespace crawlstore::container {

/// Ownership: the Progress outlives it. Threads: one.
class WorkSteps {
 public:
  /// Makes steps of work without a Progress.
  WorkSteps() = default;
  /// Makes steps of work on an open store; nullptr if on views, or on a thread that calls no
  /// function of the caller.
  WorkSteps(const StoreImpl* store, const Progress& progress)
      : store_(store), progress_(progress ? &progress : nullptr) {
    next_ = progress_ == nullptr ? kNever : 0;
  }
  /// Makes the steps of a part of `whole`, which keeps exceptions of functions of the caller.
  WorkSteps(WorkSteps& whole, const Progress& progress) : WorkSteps(nullptr, progress) {
    whole_ = whole.whole_ != nullptr ? whole.whole_ : &whole;
  }

  /// Returns the Progress that is asked, or nullptr if there is none.
  [[nodiscard]] const Progress* progress() const { return progress_; }
  /// Asks whether to go on, without counting a step. errors kCancelled
  Result<void> look() {
    if (progress_ == nullptr) return {};
    next_ = done_ + kStepsPerLook;
    return look(done_, std::max(done_, expected_));
  }
  /// Asks whether to go on while another thread works. Requires a Progress. errors kCancelled
  Result<void> look(std::uint64_t done, std::uint64_t total) {
    CRAWLSTORE_TRY(const bool goes_on, call([&] { return (*progress_)(done, total); }));
    if (goes_on) return {};
    return fail(Errc::kCancelled, "the work was stopped; nothing of it was kept");
  }
  /// Calls a function of the caller and returns its result.
  ///   errors  kCancelled: it threw, and rethrow() will throw that
  template <class Function>
  Result<bool> call(const Function& function) {
    return (whole_ != nullptr ? *whole_ : *this).call_for_all(function);
  }
  /// Throws the exception of a function of the caller, once. Call it when the work has ended.
  void rethrow() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
  /// Adds to the expected steps. It is an estimate: the work may turn out to be less, or more.
  void expect(std::uint64_t steps) { expected_ += steps; }
  /// Counts steps that are done, or are not needed after all.
  ///   errors  kCancelled: the caller said stop
  Result<void> add(std::uint64_t steps) {
    done_ += steps;
    return done_ < next_ ? Result<void>{} : look();
  }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint64_t kStepsPerLook = std::uint64_t{1} << 14;

  /// Runs on the steps of the whole.
  template <class Function>
  Result<bool> call_for_all(const Function& function) {
    try {
      const CallerFunction inside(store_);
      return function();
    } catch (...) {
      thrown_ = std::current_exception();
      return fail(Errc::kCancelled, "a function of the caller threw an exception");
    }
  }

  WorkSteps* whole_ = nullptr;
  const StoreImpl* store_ = nullptr;
  const Progress* progress_ = nullptr;
  std::uint64_t done_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t next_ = kNever;
  std::exception_ptr thrown_;
};

/// A part of some work, which takes an unknown number of steps, but a known share of the whole.
/// Whatever it counts, the whole never goes backwards, nor beyond that share.
class WorkStage {
 public:
  /// `share` is in steps of the whole, which expects them already.
  WorkStage(WorkSteps& whole, std::uint64_t share) : whole_(whole), share_(share) {}
  WorkStage(const WorkStage&) = delete;
  WorkStage& operator=(const WorkStage&) = delete;

  /// Returns the part's own steps.
  WorkSteps& steps() { return steps_; }
  /// Lets reach() alone count the progress from now on.
  void counts_by_hand() { counts_steps_ = false; }
  /// Notes that `done` of `total` is done. errors kCancelled: the caller said stop
  Result<void> reach(std::uint64_t done, std::uint64_t total) {
    const double part = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
    const auto reached =
        part < 1 ? static_cast<std::uint64_t>(static_cast<double>(share_) * part) : share_;
    const std::uint64_t before = std::exchange(reached_, std::max(reached_, reached));
    return whole_.add(reached_ - before);
  }
  Result<void> finish() { return reach(share_, share_); }

 private:
  bool ask(std::uint64_t done, std::uint64_t total) {
    return (!counts_steps_ || reach(done, total)) && whole_.look();
  }

  WorkSteps& whole_;
  std::uint64_t share_;
  std::uint64_t reached_ = 0;
  bool counts_steps_ = true;
  Progress progress_ = [this](std::uint64_t done, std::uint64_t total) { return ask(done, total); };
  WorkSteps steps_{whole_, progress_};
};

/// Returns the result of `work` with steps that ask `progress`, or throws the exception of a
/// function of the caller. The work is on an open store, or on views (nullptr).
template <class Work>
auto in_steps(const StoreImpl* store, const Progress& progress, const Work& work) {
  WorkSteps steps(store, progress);
  auto done = work(steps);
  steps.rethrow();
  return done;
}

}  // namespace crawlstore::container
