// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The values of a frontier's calls: frontier.h.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The visits that a group gets: a take() of one or more of its items is one. Durations are
/// milliseconds.
struct FrontierRule {
  std::uint64_t delay_ms = 1000;       ///< between visits
  std::uint64_t hard_ms = 1000;        ///< where no other group may be visited; at most delay_ms
  std::uint32_t burst = 1;             ///< visits at once after a time without any; at least 1
  std::uint32_t in_flight_max = 1;     ///< items that are leased at a time; at least 1
  std::uint64_t blocked_until_ms = 0;  ///< no visit before this time
  bool is_active = true;               ///< false: no visit
  std::optional<std::uint32_t> put_max{};       ///< items that may ever be put; nothing: no limit
  std::optional<std::uint32_t> finished_max{};  ///< nothing is put when so many were finished
  /// A group, such as the address of many hosts, whose rule a visit must keep, too: it counts as a
  /// visit to both, and its items are leased of both. It is a group like others, and has no parent.
  std::optional<std::string> parent{};
  friend bool operator==(const FrontierRule&, const FrontierRule&) = default;
};

/// An item to be put.
struct FrontierItem {
  std::string_view group;             ///< key, at most 65,535 bytes
  double priority = 0;                ///< no NaN; the highest of a group leaves first
  std::string_view body{};            ///< at most 65,536 bytes, which take() gives back
  std::uint64_t not_before_ms = 0;    ///< 0: at once
  std::optional<std::uint64_t> id{};  ///< below 2^63, where ids are the caller's; else nothing
};

/// Items that were put, and those that were refused: beyond a limit of their group.
struct FrontierPutDone {
  std::uint64_t first_id = 0;        ///< of those that were put; ids that are given have no gap
  std::vector<std::size_t> refused;  ///< places in what was passed, ascending
};

/// An item of a group, by its id.
struct FrontierKey {
  std::string_view group;
  std::uint64_t id = 0;
};

/// Other values for an item that waits.
struct FrontierUpdate {
  FrontierKey item;
  double priority = 0;  ///< as in FrontierItem, and what follows
  std::uint64_t not_before_ms = 0;
  std::optional<std::string_view> body{};  ///< nothing: it stays as it is
};

/// An item that waits, or is leased.
struct WaitingItem {
  double priority = 0;
  std::uint64_t not_before_ms = 0;          ///< 0: at once
  std::uint32_t attempt = 0;                ///< so many times it was taken
  std::optional<std::uint64_t> until_ms{};  ///< it is leased until then; 0: for ever
  std::string body;
};

/// A group at the clock of its frontier.
struct FrontierGroup {
  std::string key;
  std::uint64_t waiting_count = 0;  ///< that may be taken when the group may be visited
  std::uint64_t later_count = 0;    ///< whose time has not come
  std::uint64_t leased_count = 0;
  std::uint64_t put_count = 0;  ///< that were ever put, up to 2^32 - 1, as the next one
  std::uint64_t finished_count = 0;
  std::uint64_t soft_time_ms = 0;      ///< of the next visit, by the delay of its rule; 0: at once
  std::uint64_t hard_time_ms = 0;      ///< of the next visit, where no other group may be visited
  std::uint32_t failure_count = 0;     ///< since the last success, up to 6
  std::optional<FrontierRule> rule{};  ///< nothing: the default
};

/// An item that waits, or is leased, as it is visited.
struct FrontierEntry {
  std::uint64_t id = 0;
  std::string_view group;
  double priority = 0;
  std::uint32_t attempt = 0;  ///< so many times it was taken
  std::string_view body;
  std::uint64_t not_before_ms = 0;          ///< of one that waits; 0: at once
  std::optional<std::uint64_t> until_ms{};  ///< of a lease; 0: for ever
};

/// Told of an item; returns false when it wants no more. Its texts are valid during the call.
using VisitEntry = std::function<bool(const FrontierEntry& entry)>;

/// Told group, id and priority of an item that waits; returns the priority that it gets, or
/// nothing: it goes.
using RewritePriority =
    std::function<std::optional<double>(std::string_view group, std::uint64_t id, double priority)>;

/// Counts of items.
struct FrontierRewrite {
  std::uint64_t changed_count = 0;  ///< that got another priority
  std::uint64_t removed_count = 0;
};

/// An item that was taken.
struct TakenItem {
  std::uint64_t id = 0;
  std::string group;
  double priority = 0;
  std::uint32_t attempt = 0;  ///< 1 the first time
  std::string body;
};

/// The order of the groups that may be visited; items of a group come by their priorities.
enum class TakeOrder : std::uint8_t {
  kBest,            ///< first the group with the best item
  kLongestWaiting,  ///< first the one that could be visited first, whatever its items
};

struct TakeOptions {
  std::size_t count = 1;
  std::uint32_t per_group = 1;       ///< of one group at most, and no more than its in_flight_max
  std::uint64_t lease_ms = 600'000;  ///< 0: for ever; at most to 2^48 - 1
  std::optional<std::uint64_t> now_ms{};  ///< for tests and replays; turned back by a dropped
                                          ///< transaction only; nothing: the time that it is
  TakeOrder order = TakeOrder::kBest;
  /// Nothing is taken of other groups; so its hard_ms counts, not its delay_ms. Nothing: of any.
  std::optional<std::string_view> group{};
  std::size_t groups_max = SIZE_MAX;  ///< nothing is taken of more groups
  /// Nothing is taken of a group beyond so many leases, also where its rule lets it.
  std::uint32_t in_flight_max = UINT32_MAX;
};

/// An item to be given back.
struct GivenBack {
  std::uint64_t id = 0;
  std::uint64_t not_before_ms = 0;  ///< 0: at once
  bool is_failure =
      false;  ///< doubles the intervals of the group, up to 64 of them, until a success
};

/// Counts of ids by what became of them.
struct FrontierDone {
  std::uint64_t done_count = 0;
  std::uint64_t late_count = 0;     ///< their lease had ended; finish() ends these, too
  std::uint64_t unknown_count = 0;  ///< never taken, or finished before
};

struct FrontierOptions {
  FrontierRule default_rule{};  ///< of groups without one, where the frontier is made
  bool has_own_ids = false;     ///< ids are the caller's, where it is made
  /// The page database whose pages are its items, where it is made: ids are their indexes, groups
  /// their hosts, and bodies empty. See schedule.h. Empty: they are not.
  std::string pages{};
  /// Without it take() does not commit, and what it took is leased in the file from the next commit
  /// of the store on. So a crash gives out again what was taken since the last one, and a group may
  /// be visited again before its delay is over. For callers who commit themselves, and often.
  bool commits_takes = true;
  /// Bytes that steps since the last checkpoint may have, if the state has not more. The commit
  /// that finds more writes the state anew, and what waits as a run of items, if that is half as
  /// much or more. Runs are joined, too, long ones bit by
  /// bit in the commits that follow, so that there are 8 to 24.
  std::uint64_t checkpoint_bytes = std::uint64_t{8} << 20;
};

}  // namespace crawlstore
#pragma GCC visibility pop
