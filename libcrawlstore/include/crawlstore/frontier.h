// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Frontiers of a store: what a crawl has still to fetch, for whom it may be fetched when, and what
/// is being fetched. Bytes: spec/format.md#frontiers.
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
/// so that jumps of the wall clock neither end leases nor stop a crawl; it begins with the wall
/// clock, and never before the last time in the file.
///
/// Ownership: a Frontier shares its store; it must be gone when the store closes. What is passed in
/// is copied. Threads: any number; they take turns with all that changes the store. Memory: 170
/// bytes a group and its key; 12 for each group of each run of items, of which there are some 8;
/// and about 120 bytes and the body of each item that is in no run: those put since the last
/// checkpoint, those whose time has not come, and those that were taken. Errors: as Store; every
/// call may also fail with kClosed, kForked, kPoisoned, and of damage where it reads an item in a
/// run.
///
///   CRAWLSTORE_TRY(auto frontier, Frontier::open(store));
///   CRAWLSTORE_TRY(frontier.put(std::vector<FrontierItem>{{"a.test", 0.5, "http://a.test/"}}));
///   CRAWLSTORE_TRY(const auto taken, frontier.take({.count = 100, .lease_ms = 600'000}));
///   ...
///   CRAWLSTORE_TRY(frontier.finish(ids));

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/store.h>

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
  friend bool operator==(const FrontierRule&, const FrontierRule&) = default;
};

/// An item to be put.
struct FrontierItem {
  std::string_view group;           ///< key, at most 65,535 bytes
  double priority = 0;              ///< no NaN; the highest of a group leaves first
  std::string_view body{};          ///< at most 65,536 bytes, which take() gives back
  std::uint64_t not_before_ms = 0;  ///< 0: at once
};

/// An item that was taken.
struct TakenItem {
  std::uint64_t id = 0;
  std::string group;
  double priority = 0;
  std::uint32_t attempt = 0;  ///< 1 the first time
  std::string body;
};

struct TakeOptions {
  std::size_t count = 1;
  std::uint32_t per_group = 1;       ///< of one group at most, and no more than its in_flight_max
  std::uint64_t lease_ms = 600'000;  ///< 0: for ever, until it is finished or given back
  std::optional<std::uint64_t>
      now_ms{};  ///< for tests and replays, and never turned back; nothing: the time that it is
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
  /// Bytes that steps since the last checkpoint may have, if the state has not more. The commit
  /// that finds more writes the state anew, and what waits as a run of items, if that is half as
  /// much or more. Runs are joined there, too, so that there are some 8.
  std::uint64_t checkpoint_bytes = std::uint64_t{8} << 20;
};

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
  ~Frontier();  ///< close(); after an error the store keeps what waits for its next commit

  /// Puts all items, or none after an error. Returns the id of the first; the others follow it.
  ///   errors  kInvalidArgument: a priority is no number, a time of 2^48 or more; kTooLarge: a key
  ///           or a body; there are 2^32 - 1 groups
  [[nodiscard]] Result<std::uint64_t> put(std::span<const FrontierItem> items);

  /// Takes the best items, of groups that may be visited now: first the group with the best item of
  /// all, then the next one. Outside of a transaction it has committed when it answers, unless
  /// there was nothing to take.
  ///   errors  kInvalidArgument: per_group is 0; those of Store::commit(): nothing is taken
  [[nodiscard]] Result<std::vector<TakenItem>> take(const TakeOptions& options = {});

  /// Items are done, and go.
  ///   now_ms  as in TakeOptions, here and below
  [[nodiscard]] Result<FrontierDone> finish(std::span<const std::uint64_t> ids,
                                            std::optional<std::uint64_t> now_ms = {});
  /// Leases end: the items wait again. Late ones wait already, and are left as they are.
  ///   errors  kInvalidArgument: a time of 2^48 or more
  [[nodiscard]] Result<FrontierDone> give_back(std::span<const GivenBack> items,
                                               std::optional<std::uint64_t> now_ms = {});
  /// Leases end at another time; 0: never. errors  as give_back()
  [[nodiscard]] Result<FrontierDone> extend(std::span<const std::uint64_t> ids,
                                            std::uint64_t until_ms,
                                            std::optional<std::uint64_t> now_ms = {});
  /// Sets the rule of a group, which is made if there is none. The time of its next visit stays
  /// where the last one has put it.
  ///   errors  kInvalidArgument: hard_ms above delay_ms, a burst or in_flight_max of 0, a time
  ///           beyond 2^48
  [[nodiscard]] Result<void> set_rule(std::string_view group, const FrontierRule& rule);
  /// All items of a group that wait are gone; those that are leased stay. Returns how many.
  [[nodiscard]] Result<std::uint64_t> drop_group(std::string_view group);

  /// The time from which there may be something to take; nothing: never, if nothing is put.
  [[nodiscard]] std::optional<std::uint64_t> next_due_ms() const;
  [[nodiscard]] std::uint64_t now_ms() const;         ///< the time, as take() has it
  [[nodiscard]] std::uint64_t waiting_count() const;  ///< items that wait
  [[nodiscard]] std::uint64_t leased_count() const;   ///< items that are leased

  /// Commits the store if something of the frontier waits, and closes. Again: no effect.
  ///   errors  kReentrant inside a transaction; those of Store::commit(): it stays open with what
  ///           waits, try again
  [[nodiscard]] Result<void> close();

  struct Impl;

 private:
  explicit Frontier(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
