// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Long work that tells how far it is, and can be told to stop: loops count what they are done with
/// here, and the caller's Progress is asked now and then whether to go on.
///
/// A step is a key, a URL, a record, a row or a link: some 10 ns to 1 us.
///
/// What a function of the caller throws stops the work as a "no" would, so that it ends with
/// nothing half changed; rethrow() then passes the exception on.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include <crawlstore/store.h>

namespace crawlstore::container {

/// Ownership: the Progress outlives it. Threads: one.
class WorkSteps {
 public:
  /// Of work that nobody asks about.
  WorkSteps() = default;
  explicit WorkSteps(const Progress& progress) : progress_(progress ? &progress : nullptr) {
    next_ = progress_ == nullptr ? kNever : 0;
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
    try {
      return function();
    } catch (...) {
      thrown_ = std::current_exception();
      return fail(Errc::kCancelled, "a function of the caller threw an exception");
    }
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

  const Progress* progress_ = nullptr;
  std::uint64_t done_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t next_ = kNever;
  std::exception_ptr thrown_;
};

/// What `work` returns for steps that ask `progress`; or throws what a function of the caller
/// threw.
template <class Work>
auto in_steps(const Progress& progress, const Work& work) {
  WorkSteps steps(progress);
  auto done = work(steps);
  steps.rethrow();
  return done;
}

}  // namespace crawlstore::container
