// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Steps of a damaged frontier, made again on what can be read of it.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "frontier/state.h"

namespace crawlstore::rescue {

/// Groups of a damaged frontier by their old numbers: their new ones, without those that are lost.
class GroupNumbers {
 public:
  [[nodiscard]] std::size_t count() const { return numbers_.size(); }
  [[nodiscard]] std::uint64_t lost_count() const { return numbers_.size() - next_; }
  void add() { numbers_.push_back(next_++); }
  void add_lost() { numbers_.push_back(kLost); }
  /// Nothing: it is lost, or there is none.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t group) const {
    if (group >= numbers_.size() || numbers_[group] == kLost) return std::nullopt;
    return numbers_[group];
  }

 private:
  static constexpr std::uint32_t kLost = ~std::uint32_t{0};
  std::vector<std::uint32_t> numbers_;
  std::uint32_t next_ = 0;
};

/// New numbers of the items of a run that was written anew. Memory: 24 bytes for each stretch of
/// items that was left out.
class ItemNumbers {
 public:
  /// Both are above all others.
  void add(std::uint64_t old, std::uint64_t number) {
    if (!stretches_.empty()) {
      Stretch& last = stretches_.back();
      if (old == last.old + last.count && number == last.number + last.count) {
        ++last.count;
        return;
      }
    }
    stretches_.push_back({old, number, 1});
  }
  /// Nothing: it was left out.
  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t old) const {
    const auto above = std::upper_bound(
        stretches_.begin(), stretches_.end(), old,
        [](std::uint64_t value, const Stretch& stretch) { return value < stretch.old; });
    if (above == stretches_.begin()) return std::nullopt;
    const Stretch& stretch = *std::prev(above);
    if (old - stretch.old >= stretch.count) return std::nullopt;
    return stretch.number + (old - stretch.old);
  }

 private:
  struct Stretch {
    std::uint64_t old = 0;
    std::uint64_t number = 0;
    std::uint64_t count = 0;
  };
  std::vector<Stretch> stretches_;
};

/// A run of items that was written anew, and the one that it was.
struct RenewedRun {
  RunId old;
  RunId id;
  ItemNumbers numbers;
};

/// Items of a group that are lost, in a run behind so many that are kept, from a time on.
struct ItemGap {
  RunId run{};  ///< the new one
  std::uint64_t kept_count = 0;
  std::uint64_t time = 0;                ///< when they may have come out of a run by time
  std::optional<std::uint64_t> count{};  ///< so many at most; nothing: not known
};

/// Facts for a replay about items that are lost.
struct KnownItems {
  bool has_own_ids = false;
  std::vector<RenewedRun> runs;
  std::unordered_map<std::uint32_t, std::vector<ItemGap>> gaps;  ///< by new group
};

/// Makes steps in a state that lacks groups and items. Actions of a step on lost items are passed
/// over. A visit that may have taken some of them is in doubt, and so are all later ones of its
/// group: each item that it may have taken is dropped, whether it took it or not. So what is left
/// is what was there; times of a group in doubt lack failures of items that are lost.
///
/// One thing is taken for proved by 16 bits, the check of a visit: where ids are the caller's, that
/// no item was passed because its id was that of a lost one in another group.
/// Threads: one. Memory: besides the state, some bytes a group in doubt.
class FrontierReplay {
 public:
  /// numbers  of groups: journals add some
  FrontierReplay(frontier::State& state, GroupNumbers& numbers, KnownItems known)
      : state_(state), numbers_(numbers), known_(std::move(known)) {
    if (numbers_.lost_count() != 0) unknown_count_ = kAll;
  }

  /// Makes a step, whose groups have old numbers. Items that have left runs of items are left out:
  /// the new runs are without them.
  ///   errors  kSegmentInvalid: it contradicts what is there, lost or not; those of State::apply()
  ///   in      as in State::apply()
  Result<void> apply(const format::Step& step, format::StepsIn in);
  /// Takes the clock of a piece. errors  those of State::begin()
  Result<void> begin(std::uint64_t clock) { return state_.begin(clock); }
  /// After the last step: lowers the counts of puts of groups that lack items, so that these can be
  /// put again. A count stays as high as it is known to be: without those that may be lost; where
  /// nobody knows how many these are, that of the items that are there or known to be finished.
  Result<void> lower_counts();
  /// Whether items may be lost that waited, of groups that are kept.
  [[nodiscard]] bool lacks_items() const { return !known_.gaps.empty() || !doubtful_.empty(); }

 private:
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  Result<void> make(const format::GroupStep& step);
  Result<void> make(const format::VisitStep& step);
  Result<void> make(const format::FinishStep& step);
  Result<void> make(const format::BackStep& step);
  Result<void> make(const format::ExtendStep& step);
  Result<void> make(const format::RemoveStep& step);
  Result<void> make(const format::UpdateStep& step);
  Result<void> make(const format::DropStep& step);
  Result<void> make(const format::LeftStep& step);
  Result<void> make(const format::GoneStep& step);
  template <class Other>
  Result<void> make(const Other& step) {
    return state_.apply(step, {}, in_);
  }
  Result<bool> reaches_gap(std::uint32_t group, std::uint32_t count) const;
  Result<void> visit_in_doubt(const format::VisitStep& step);
  Result<std::uint32_t> known_count(const format::VisitStep& step) const;
  [[nodiscard]] bool lacks_items(std::uint32_t group) const {
    return known_.gaps.contains(group) || doubtful_.contains(group) || known_.has_own_ids;
  }
  Result<void> unless_lost(const Result<void>& made, bool may_be_lost) const;

  frontier::State& state_;
  GroupNumbers& numbers_;
  KnownItems known_;
  std::set<std::uint32_t> doubtful_;  // groups of which lost items may have been taken
  std::unordered_map<std::uint32_t, std::uint64_t> left_out_;  // known items, of groups in doubt
  format::StepsIn in_ = format::StepsIn::kJournal;             // of the step under way
  std::optional<std::uint32_t> gone_group_;  // of the step before, if an item was gone
  std::uint64_t unknown_count_ = 0;  // at least so many items were taken whose ids are not known
};

}  // namespace crawlstore::rescue
