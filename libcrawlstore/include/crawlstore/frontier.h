// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Frontiers of a store: what a crawl has still to fetch, for whom it may be fetched when, and what
/// is being fetched. Bytes: spec/frontier.md#frontiers.
///
/// An item waits in a group, a host as a rule, until it is taken. What is taken is leased: it is
/// finished, given back, or comes back by itself when its lease ends; what came back is taken first
/// of its group. A group is visited no more often than its rule says; the times are in the file.
///
/// A change waits for the next commit of the store, as with a Queue. But take() commits before it
/// answers, so after a crash no item that somebody was told of is given out again while its lease
/// lasts. Inside a Transaction it does not, and nobody may be told before that commits.
///
/// Times are milliseconds since 1970. In a process time runs by the clock of the system's uptime,
/// so that jumps of the wall clock neither end leases nor stop a crawl. It begins with the wall
/// clock. If the last time in the file is later, as after a wall clock that was ahead, it begins
/// there, and with what has passed by the wall clock since the last commit: then now_ms() is ahead
/// of the wall clock, and all times, such as `not_before_ms`, are meant and given by now_ms().
/// Commits without a change of such a frontier cost it the time since the last one with one.
///
/// Ownership: as in crawlstore.hpp. Threads: any number; they take turns with all that changes the
/// store, and a Frontier outlives their calls. Memory: 220 bytes a group, twice that while tables
/// grow, and its key; 12 for each group of each run of items, of which there are 8 to 24; and about
/// 120 bytes and the body of each item that is in no run: those put, or whose time has come, since
/// the last checkpoint, and those that were taken.
/// Errors: as Store; every call may also fail with kClosed, kForked, kPoisoned, and of damage where
/// it reads items in runs.
///
///   CRAWLSTORE_TRY(auto frontier, Frontier::open(store));
///   CRAWLSTORE_TRY(frontier.put(std::vector<FrontierItem>{{"a.test", 0.5, "http://a.test/"}}));
///   CRAWLSTORE_TRY(const auto taken, frontier.take({.count = 100, .lease_ms = 600'000}));
///   ...
///   CRAWLSTORE_TRY(frontier.finish(ids));

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/frontier_items.h>
#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

class Frontier {
 public:
  /// Opens the frontier `name`, or makes it.
  ///   errors  kInvalidArgument (it is open already, the name has control characters, a rule that
  ///           lets nothing be taken), kTooLarge (name), kReentrant inside a transaction; of damage
  ///   cost    about a microsecond a group, and a step since the last checkpoint; items in runs are
  ///           read when they are taken
  [[nodiscard]] static Result<Frontier> open(Store& store, std::string_view name = kDefaultName,
                                             const FrontierOptions& options = {});
  static constexpr std::string_view kDefaultName = "frontier";

  Frontier(Frontier&&) noexcept;
  Frontier& operator=(Frontier&&) noexcept;
  /// close(); after an error the store keeps what waits for its next commit. A frontier that would
  /// be made, and has got nothing, is not made then.
  ~Frontier();

  /// Puts all items but those beyond a limit of their group, or none after an error. Those that
  /// are put get the ids from that of the first on, unless ids are the caller's. Such an id must
  /// not wait: its item may be taken twice; of two with one group, priority and id either is first.
  ///   errors  kInvalidArgument: a priority is no number, a time of 2^48 or more, an id is missing
  ///           or not wanted, or its item was taken and is not finished; kTooLarge: a key or a
  ///           body; there are 2^32 - 1 groups
  [[nodiscard]] Result<FrontierPutDone> put(std::span<const FrontierItem> items);

  /// Takes the best items, of groups that may be visited now: first the group with the best item of
  /// all, then the next one; or first the group whose delay is over for the longest time, before
  /// all one that was never visited, and of two the older group. Outside of a transaction it has
  /// committed when it answers, unless there was nothing to take or the options say otherwise;
  /// threads that wait for their turn share a commit.
  ///   errors  kInvalidArgument: per_group is 0; those of Store::commit(): nothing is taken
  ///   cost    some microseconds for each child that could be visited of a parent that was visited,
  ///           or got room
  [[nodiscard]] Result<std::vector<TakenItem>> take(const TakeOptions& options = {});

  /// Items are done, and go.
  ///   now_ms  as in TakeOptions, here and below
  [[nodiscard]] Result<FrontierDone> finish(std::span<const std::uint64_t> ids,
                                            std::optional<std::uint64_t> now_ms = {});
  /// Leases end: the items wait again. Late ones wait already, and are left as they are.
  ///   errors  kInvalidArgument: a time of 2^48 or more
  [[nodiscard]] Result<FrontierDone> give_back(std::span<const GivenBack> items,
                                               std::optional<std::uint64_t> now_ms = {});
  /// All leases end, as when the only program that takes was killed and begins again. Returns how
  /// many.
  [[nodiscard]] Result<std::uint64_t> give_back_all();
  /// Leases end at another time, which may have come; 0: never. errors  as give_back()
  [[nodiscard]] Result<FrontierDone> extend(std::span<const std::uint64_t> ids,
                                            std::uint64_t until_ms,
                                            std::optional<std::uint64_t> now_ms = {});
  /// Sets the rule of a group, which is made if there is none. The time of its next visit stays
  /// where the last one has put it. Its limits count all that was put and finished before, too.
  ///   errors  kInvalidArgument: hard_ms above delay_ms, a burst or in_flight_max of 0, a time
  ///           beyond 2^48, a parent that has one or is the group, or the group is a parent itself
  [[nodiscard]] Result<void> set_rule(std::string_view group, const FrontierRule& rule);
  /// Items that wait are gone; those that do not are left as they are. Returns how many are gone.
  ///   cost    of a call one look through all that waits of their groups, and through all whose
  ///           time has not come if some of them may be there: some nanoseconds an id
  [[nodiscard]] Result<std::uint64_t> remove(std::span<const FrontierKey> items);
  /// Items that wait get other values; those that do not are left as they are. Returns how many
  /// got them.
  ///   errors  as put(); nothing has changed then
  ///   cost    as remove()
  [[nodiscard]] Result<std::uint64_t> update(std::span<const FrontierUpdate> items);
  /// Gives all items that wait other priorities, as when scores were computed anew, and commits.
  /// Items that were taken before keep theirs: they leave first anyway.
  ///   priority_of  asked for each item once, group by group, then for those whose time has not
  ///                come; it must not use the frontier. What it throws is thrown on: nothing
  ///                has changed then
  ///   errors       kInvalidArgument: it said NaN; kReentrant inside a transaction; those of
  ///                Store::commit(): nothing has changed
  ///   cost         all items are written anew, a second or so a million; memory: the items of
  ///                the largest group
  [[nodiscard]] Result<FrontierRewrite> rewrite(const RewritePriority& priority_of);
  /// An item that waits in its group, or is leased; nothing: it does neither.
  ///   cost    as remove()
  [[nodiscard]] Result<std::optional<WaitingItem>> find(const FrontierKey& item);
  /// Visits the items of a group that wait, as FrontierView::for_each_waiting() does, and then
  /// those that are leased. A callback (store.h), during which the frontier stands still.
  ///   errors  of damage
  ///   cost    a look through all leases, and all whose time has not come, if the group has such
  ///           items
  [[nodiscard]] Result<void> for_each_item(std::string_view group, const VisitEntry& visit) const;
  /// Sets the rule of all groups that have none of their own, and commits.
  ///   errors  as set_rule(), and kInvalidArgument: it blocks every group, or has a parent;
  ///           kReentrant inside a transaction; those of Store::commit(): nothing
  ///           has changed
  ///   cost    all groups are written and read anew, some microseconds each
  [[nodiscard]] Result<void> set_default_rule(const FrontierRule& rule);
  /// All items of a group that wait are gone; those that are leased stay. Returns how many.
  ///   cost    a look through all whose time has not come, if the group has such items
  [[nodiscard]] Result<std::uint64_t> drop_group(std::string_view group);

  /// A group as it is now; nothing: there is none.
  [[nodiscard]] std::optional<FrontierGroup> group(std::string_view key) const;
  /// Groups in the order in which they came, from number `first` on: at most `count_max`.
  [[nodiscard]] std::vector<FrontierGroup> groups(std::size_t first, std::size_t count_max) const;
  /// The time from which there may be something to take; nothing: never, if nothing is put.
  [[nodiscard]] std::optional<std::uint64_t> next_due_ms() const;
  [[nodiscard]] std::uint64_t now_ms() const;         ///< the time, as take() has it
  [[nodiscard]] std::string name() const;             ///< as it was opened
  [[nodiscard]] std::string pages() const;            ///< FrontierOptions::pages, as it was made
  [[nodiscard]] std::uint64_t next_id() const;        ///< above all ids that were ever put
  [[nodiscard]] std::uint64_t waiting_count() const;  ///< items that wait
  [[nodiscard]] std::uint64_t leased_count() const;   ///< items that are leased

  /// Commits the store if something of the frontier waits, and closes; where many steps would wait
  /// for the next open(), with a checkpoint. Again: no effect. errors: kReentrant inside a
  /// transaction; those of Store::commit(): it stays open with what waits, try again
  [[nodiscard]] Result<void> close();

  struct Impl;

 private:
  explicit Frontier(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
