// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Enumerates the files that a crash can leave (spec/features.md, T1).
///
///   CrashImages images(recorder.log(), {.seed = seed});
///   images.enumerate([&](const CrashImage& image) {
///     auto file = make_memory_file(image.bytes, 1 << 24);
///     ... open, check against what image.marks() promise, commit once more ...
///     if (wrong) ADD_FAILURE() << image.describe();
///     return !wrong;                                    // false ends the enumeration
///   });
///   printed: images.distinct_count()
///
/// Crash points are the operations after which less can be lost: the point before every successful
/// sync, before every eviction, before every mark, and the end. Between two of them, what a crash
/// can leave only becomes more, so that the last point has all images of the others.
/// At a point, with n effects not covered by a successful sync, the images are
///   - every prefix of the effects; none is "synced only"; with every length and fill;
///   - every subset, when n <= subset_effects_max; else every single one, every single one missing,
///     pairs, and random_count seeded subsets;
///   - every write torn at sectors: of a 4 KiB write below 80 KiB (a superblock copy) every subset
///     of the sectors whose bytes differ, and garbage in each sector; of others some cuts;
///   - the superblock copies of the point in all combinations of absent, whole, torn and garbage;
///   - random_count seeded mixtures of all that.
/// Equal images are given once for each number of marks before them: the same bytes can be right
/// before "acknowledged 5" and wrong after.
///
/// Everything is a function of log, budget and seed. Threads: one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "support/crash_image_builder.h"
#include "support/operation_log.h"

namespace crawlstore::testing {

struct CrashBudget {
  std::size_t subset_effects_max = 12;
  std::size_t pairs_max = 500;
  std::size_t random_count = 200;
  std::size_t tears_per_write = 24;  ///< of writes that are no superblock copies
  std::uint64_t images_max_per_point = ~std::uint64_t{0};
  std::uint64_t seed = 1;
};

/// One image; valid during the callback.
///   bytes        the file
///   point        the operations of the log before the crash
///   mark_count   marks among them
///   last_mark    the last of them, or ""
///   ordinal      number of the image in its enumeration, from 0
struct CrashImage {
  std::span<const std::byte> bytes;
  std::size_t point = 0;
  std::size_t mark_count = 0;
  std::string_view last_mark;
  std::uint64_t ordinal = 0;
  std::uint64_t hash = 0;

  const OperationLog* log = nullptr;
  const std::vector<Effect>* effects = nullptr;
  const Variant* variant = nullptr;

  /// All marks before the crash, in order.
  [[nodiscard]] std::vector<std::string_view> marks() const;
  /// The facts that explain a failure: the point, the marks, each effect and its fate.
  [[nodiscard]] std::string describe() const;
};

class CrashImages {
 public:
  /// Returns whether to go on.
  using Check = std::function<bool(const CrashImage& image)>;

  CrashImages(OperationLog log, CrashBudget budget);

  /// The crash points, ascending.
  [[nodiscard]] std::vector<std::size_t> points() const;

  /// All images of all points, or of one (any number of operations up to the log's).
  /// Returns false when `check` ended it.
  bool enumerate(const Check& check);
  bool enumerate_at(std::size_t point, const Check& check);

  /// Images given to `check`; different ones among them; images built, repeated ones included.
  [[nodiscard]] std::uint64_t case_count() const { return cases_.size(); }
  [[nodiscard]] std::uint64_t distinct_count() const { return images_.size(); }
  [[nodiscard]] std::uint64_t built_count() const { return built_count_; }

 private:
  friend class CrashPoint;

  bool enumerate_model(const DiskModel& model, std::size_t point, const Check& check);

  const OperationLog log_;
  const CrashBudget budget_;
  std::unordered_set<std::uint64_t> cases_;   // hash of image and mark count
  std::unordered_set<std::uint64_t> images_;  // hash of image
  std::uint64_t built_count_ = 0;
};

}  // namespace crawlstore::testing
