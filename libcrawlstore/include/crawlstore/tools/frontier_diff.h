// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Differences between the frontiers of two states: generations of one store, a store and an older
/// copy of it, or two stores. Beside diff() (diff.h) and diff_pages() (pages_diff.h).
///
/// Frontiers are compared by name, groups by key, and items group by group. In states of one store,
/// and where ids are the caller's, an item is known by its id; between two stores, and where one of
/// them gives ids and the other does not, by its body. In copies of a store that went on apart, ids
/// that were given since may be those of other items: these count as changed. Compared are whether
/// an item waits or is leased, its priority, its times, how often it was taken, and its body; of
/// groups rules and failures. Not compared are the clock, the times of visits, which every take()
/// moves, and how the frontier is laid out: checkpoints and compact() make no difference.
///
/// In states of one store items in runs that both have are skipped, so the cost follows the change.
/// Ownership: as in crawlstore.hpp. Threads: none kept; sinks are called on
/// the caller's thread. Memory: of each state what a Frontier has, a block of each run of items, 16
/// bytes an item whose time has not come or that is leased, and 64 bytes for each item of one
/// group that is not skipped: of the largest group, at most.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/frontier_view.h>
#include <crawlstore/snapshot.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Change of an item or a group. Only the newer state has it: kAdded; only the older one: kGone, it
/// was finished or removed. Both have it, and it is leased in the newer one alone: kLeased, in the
/// older one alone: kReturned; else kChanged.
enum class FrontierChange : std::uint8_t { kAdded, kGone, kLeased, kReturned, kChanged };

/// `added`, `gone`, `leased`, `returned`, `changed`.
std::string_view name_of(FrontierChange change);

/// In what the two states of an item differ.
struct FrontierFields {
  bool priority = false;
  bool time = false;  ///< of its next visit where it waits in both, but for one that has come by
                      ///< now; of the end of the lease where it is leased in both
  bool attempt = false;
  bool body = false;  ///< two bodies are taken for one with a chance of 2^-64
  [[nodiscard]] bool any() const;
  /// "priority attempt": the names of FrontierEntry, in its order.
  [[nodiscard]] std::string text() const;
};

/// An item that is not the same in both states.
struct FrontierItemDiff {
  std::string_view frontier;
  std::string_view group;
  FrontierChange change{};
  std::optional<FrontierEntry> older{};  ///< nothing: that state does not have it
  std::optional<FrontierEntry> newer{};
  FrontierFields fields{};  ///< where both have it
};

/// A group that is not in both states with the same rule and the same failures since a success:
/// kAdded, kGone or kChanged.
struct FrontierGroupDiff {
  std::string_view frontier;
  FrontierChange change{};
  std::optional<FrontierGroup> older{};  ///< nothing: that state does not have it
  std::optional<FrontierGroup> newer{};
};

/// A frontier that one state has, or both.
struct FrontierDiff {
  std::string name;
  bool in_old = false;
  bool in_new = false;
  bool by_body = false;  ///< how items were told apart; false: by their ids
  bool default_rule_differs = false;
  FrontierInfo old_info{};  ///< empty where that state does not have it
  FrontierInfo new_info{};
  std::uint64_t added_item_count = 0;  ///< FrontierItemDiff of that kind, and so on
  std::uint64_t gone_item_count = 0;
  std::uint64_t leased_item_count = 0;
  std::uint64_t returned_item_count = 0;
  std::uint64_t changed_item_count = 0;
  std::uint64_t added_group_count = 0;  ///< FrontierGroupDiff of that kind, and so on
  std::uint64_t gone_group_count = 0;
  std::uint64_t changed_group_count = 0;
  /// Changed ones that are visited less often: with a longer delay, or more failures in a row.
  std::uint64_t slowed_group_count = 0;
  /// Past damage: why the frontier was not compared. Other counts are not to be believed then.
  std::optional<Error> old_error{};
  std::optional<Error> new_error{};
  /// Whether the frontier differs between the states, in any of the above but the infos.
  [[nodiscard]] bool differs() const;
};

/// Told frontier by frontier: groups in the order of the older state, each before its items, then
/// those that only the newer one has. Empty functions are not called.
struct FrontiersDiffSink {
  /// Returns false when it wants no more items: what follows is counted, and bodies are not read.
  std::function<bool(const FrontierItemDiff&)> item;
  std::function<void(const FrontierGroupDiff&)> group;
  /// Right before diff_frontiers() returns an error of one of the states: of which.
  std::function<void(bool in_new)> failed;
};

struct FrontiersDiffOptions {
  /// Called now and then with items done and all items of both states of a frontier; false stops
  /// with kCancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  /// Leaves out a frontier that one state cannot tell, and says why in its FrontierDiff. The sink
  /// may have been told some of its items before.
  bool past_damage = false;
};

/// Compares all frontiers of an older state with those of a newer one, by name.
///   errors  of damage, in either state; kUnknownFeature; kCancelled
///   cost    FrontierView::open() of both, and some 0.5 us for each item that is not skipped; a
///           block of a run, some 5 us, for each item that was leased since the last checkpoint,
///           and, where groups of two stores came in another order, for each group of a run
[[nodiscard]] Result<std::vector<FrontierDiff>> diff_frontiers(
    const Snapshot& older, const Snapshot& newer, const FrontiersDiffSink& sink = {},
    const FrontiersDiffOptions& options = {});

}  // namespace crawlstore
#pragma GCC visibility pop
