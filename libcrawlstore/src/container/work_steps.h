// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Long work that tells how far it is, and can be told to stop: loops count their steps here, and
/// now and then the caller's Progress is asked whether to go on.
///
/// A step is what a link or a key takes, some 10 to 20 ns; what takes longer counts more. So the
/// caller is asked about every millisecond, and counting costs nothing beside the work.

#include <algorithm>
#include <cstdint>

#include <crawlstore/store.h>

namespace crawlstore::container {

/// Steps of an origin, which is compressed or decompressed.
inline constexpr std::uint64_t kOriginSteps = 64;
/// Steps of a record of a page.
inline constexpr std::uint64_t kRecordSteps = 4;

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
  Result<void> look() { return ask(); }
  /// So many steps more are ahead. An estimate: the work may turn out to be less, or more.
  void expect(std::uint64_t steps) { expected_ += steps; }
  /// So many steps are done, or not needed after all.
  ///   errors  kCancelled: the caller said stop
  Result<void> add(std::uint64_t steps) {
    done_ += steps;
    return done_ < next_ ? Result<void>{} : ask();
  }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint64_t kStepsPerLook = std::uint64_t{1} << 16;

  Result<void> ask() {
    if (progress_ == nullptr) return {};
    next_ = done_ + kStepsPerLook;
    if ((*progress_)(done_, std::max(done_, expected_))) return {};
    return fail(Errc::kCancelled, "the work was stopped; nothing of it was kept");
  }

  const Progress* progress_ = nullptr;
  std::uint64_t done_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t next_ = kNever;
};

}  // namespace crawlstore::container
