// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Long work that tells how far it is, and can be told to stop: loops count what they are done with
/// here, and the caller's Progress is asked now and then whether to go on.
///
/// A step is a key, a URL, a record, a row or a link: some 10 ns to 1 us.
///
/// What a function of the caller throws stops the work as a "no" would, so that it ends with
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
  /// Of work that nobody asks about.
  WorkSteps() = default;
  /// Work on a store that is open; nullptr: on views, or on a thread that calls nobody.
  WorkSteps(const StoreImpl* store, const Progress& progress)
      : store_(store), progress_(progress ? &progress : nullptr) {
    next_ = progress_ == nullptr ? kNever : 0;
  }
  /// Those of a part of `whole`, which keeps what functions of the caller throw.
  WorkSteps(WorkSteps& whole, const Progress& progress) : WorkSteps(nullptr, progress) {
    whole_ = whole.whole_ != nullptr ? whole.whole_ : &whole;
  }

  /// Who is asked; nullptr: nobody.
  [[nodiscard]] const Progress* progress() const { return progress_; }
  /// Asks whether to go on, nothing having been done. errors kCancelled
  Result<void> look() {
    if (progress_ == nullptr) return {};
    next_ = done_ + kStepsPerLook;
    return look(done_, std::max(done_, expected_));
  }
  /// Asks whether to go on, where another thread works. Of a Progress. errors kCancelled
  Result<void> look(std::uint64_t done, std::uint64_t total) {
    CRAWLSTORE_TRY(const bool goes_on, call([&] { return (*progress_)(done, total); }));
    if (goes_on) return {};
    return fail(Errc::kCancelled, "the work was stopped; nothing of it was kept");
  }
  /// What a function of the caller says.
  ///   errors  kCancelled: it threw, which rethrow() tells
  template <class Function>
  Result<bool> call(const Function& function) {
    return (whole_ != nullptr ? *whole_ : *this).call_for_all(function);
  }
  /// Throws what a function of the caller threw, once. Where the work has ended.
  void rethrow() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
  /// So many steps more are ahead. An estimate: the work may turn out to be less, or more.
  void expect(std::uint64_t steps) { expected_ += steps; }
  /// So many steps are done, or are not needed after all.
  ///   errors  kCancelled: the caller said stop
  Result<void> add(std::uint64_t steps) {
    done_ += steps;
    return done_ < next_ ? Result<void>{} : look();
  }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint64_t kStepsPerLook = std::uint64_t{1} << 14;

  /// Of the whole.
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

  /// Those of its own.
  WorkSteps& steps() { return steps_; }
  /// From now on reach() alone says how far it is.
  void counts_by_hand() { counts_steps_ = false; }
  /// So much of `total` is done. errors kCancelled: the caller said stop
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

/// Returns what `work` returns for steps that ask `progress`, or throws what a function of the
/// caller threw. For work on a store that is open, or on views (nullptr).
template <class Work>
auto in_steps(const StoreImpl* store, const Progress& progress, const Work& work) {
  WorkSteps steps(store, progress);
  auto done = work(steps);
  steps.rethrow();
  return done;
}

}  // namespace crawlstore::container
