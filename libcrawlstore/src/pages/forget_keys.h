// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Taking the keys of pages out of a page database, a few buckets in each commit.
///
/// A page and its key go in one commit, but the keys of pages that are neighbours lie in all
/// buckets. So keys are gathered first: commits move those that will go, bucket by bucket, into one
/// short run of fresh keys, where they are found like all others. Then each commit that forgets
/// pages writes that run alone anew.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "container/work_steps.h"
#include "drum/key_table.h"
#include "format/pages_table.h"
#include "pages/pages_state.h"

namespace crawlstore::pages {

/// A page and its key, with the value that the key has.
struct PageKeyEntry {
  Key16 key;
  std::uint64_t page = 0;
  std::array<std::byte, format::kPageValueBytes> value{};
};

/// The keys of pages by their URLs, sorted by key.
std::vector<PageKeyEntry> key_entries(std::span<const std::uint64_t> pages,
                                      std::span<const std::string> urls, std::uint64_t key_seed);

/// Threads: one at a time. The writer and the table outlive it. After an error, or a commit that
/// failed, it is good for nothing.
class GatheredKeys {
 public:
  GatheredKeys(container::SegmentWriter& writer, drum::KeyTable& keys)
      : writer_(writer), keys_(keys) {}

  /// Begins to gather these, when none are left to be gathered or removed.
  void begin(std::vector<PageKeyEntry> entries, const PagesState& state);
  /// Whether gather() has more to do.
  [[nodiscard]] bool has_more() const { return !loose_runs_.empty() || !left_.empty(); }
  [[nodiscard]] std::size_t left_count() const { return left_.size(); }
  /// Puts the next step into the writer's changes: keys of one run of fresh keys, or of buckets of
  /// about `bytes_max`.
  Result<void> gather(PagesState& state, std::uint64_t bytes_max, container::WorkSteps& steps);
  /// Puts the removal of gathered keys, of all pages from `first_page` on.
  Result<void> remove(PagesState& state, std::uint64_t first_page, container::WorkSteps& steps);

 private:
  Result<void> take_from_run(PagesState& state, container::WorkSteps& steps);
  Result<void> take_from_buckets(std::uint64_t bytes_max, container::WorkSteps& steps);
  Result<void> put(PagesState& state, std::vector<format::RunRef> others,
                   container::WorkSteps& steps);
  [[nodiscard]] std::vector<format::RunRef> other_runs(const PagesState& state) const;

  container::SegmentWriter& writer_;
  drum::KeyTable& keys_;
  std::vector<RunId> loose_runs_;       // of fresh keys that were not looked through
  std::vector<PageKeyEntry> left_;      // to be gathered, by key
  std::vector<PageKeyEntry> gathered_;  // likewise, in run_
  std::optional<RunId> run_;
};

}  // namespace crawlstore::pages
