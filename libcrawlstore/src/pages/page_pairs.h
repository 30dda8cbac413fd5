// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pairs the pages of one state with the same pages of the other.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "pages/compared_pages.h"

namespace crawlstore::pages {

/// Counts what was done, tells it now and then, and says in which state a call failed.
class DiffWork {
 public:
  using Failed = std::function<void(bool in_new)>;
  using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;
  DiffWork(const Failed& failed, const Progress& progress) : failed_(failed), progress_(progress) {}

  void expect(std::uint64_t steps) { total_ += steps; }
  /// errors  kCancelled
  Result<void> tell(std::uint64_t steps, bool is_last = false);
  /// Hands a result on.
  template <class T>
  T blame(bool in_new, T result) const {
    if (!result && failed_) failed_(in_new);
    return result;
  }

 private:
  static constexpr std::uint64_t kStepsPerCall = 65536;

  const Failed& failed_;
  const Progress& progress_;
  std::uint64_t done_ = 0;
  std::uint64_t untold_ = 0;
  std::uint64_t total_ = 0;
};

struct PagePairs {
  static constexpr std::uint64_t kNoPage = ~std::uint64_t{0};  ///< the newer state lacks it
  static constexpr std::uint64_t kForgotten = kNoPage - 1;     ///< the older state lacks it
  static constexpr std::uint64_t kUnknown = kNoPage - 2;       ///< damage hides which one it is

  bool by_url = false;
  // By index: of the indexes that both states have given, those whose page one of them has
  // forgotten; ascending.
  std::vector<std::uint64_t> only_old;
  std::vector<std::uint64_t> only_new;
  std::vector<std::uint64_t> unknown;  ///< those of which damage hides the URL; ascending
  // By URL.
  std::vector<std::uint64_t> new_of;  ///< by old index: the new one, kNoPage, or kForgotten
  std::vector<bool> in_old;           ///< by new index
  std::vector<bool> may_be_old;       ///< by new index: damage hides whether; empty: none
  std::vector<std::uint64_t> old_of;  ///< by new index, where in_old; past damage only

  [[nodiscard]] bool is_unknown(std::uint64_t page) const {
    return std::binary_search(unknown.begin(), unknown.end(), page);
  }
  [[nodiscard]] bool is_unknown_new(std::uint64_t page) const {
    return page < may_be_old.size() && may_be_old[page];
  }
};

/// Pairs the pages of two databases, both with URLs or both without.
Result<PagePairs> pair_pages(const ComparedPages& older, const ComparedPages& newer,
                             bool is_same_store, DiffWork& work);

/// Counts the runs at the front of both lists that are the same; 0 in two stores.
std::size_t count_shared(const std::vector<format::RunRef>& older,
                         const std::vector<format::RunRef>& newer, bool is_same_store);

}  // namespace crawlstore::pages
