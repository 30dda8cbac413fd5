// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Steps of a frontier, one type a kind: spec/frontier.md#step-runs. Their spans point into the
/// memory of the caller, or of the run that they were read from. Any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "frontier_layout.h"

namespace crawlstore::format {

/// First byte of a record.
enum class StepKind : std::uint8_t {
  kClock = 1,
  kGroup = 2,
  kPut = 3,
  kLease = 4,
  kVisit = 5,
  kFinish = 6,
  kBack = 7,
  kExtend = 8,
  kRemove = 9,
  kUpdate = 10,
  kRule = 11,
  kDrop = 12,
  kStored = 13,
  kJoined = 14,
  kTimes = 32,
  kCounts = 33,
  kLeft = 34,
  kLeased = 35,
  kAgain = 36,
  kGone = 37,
};

/// Runs in which a kind of step may stand.
enum class StepsIn : std::uint8_t { kJournal, kPiece, kBoth };

/// Ids, run ids or counts of runs in one step.
inline constexpr std::size_t kStepListMax = 65'536;
/// Number of a step, and of items that were put, finished, or have left.
inline constexpr std::uint64_t kStepNumberMax = (std::uint64_t{1} << 63U) - 1;
/// Times, and durations in milliseconds.
inline constexpr std::uint64_t kDurationMax = kItemTimeMax;

using StepBytes = std::span<const std::byte>;

/// Time: leases that end at or before it end. In a piece: the clock of its state.
struct ClockStep {
  static constexpr StepKind kKind = StepKind::kClock;
  static constexpr StepsIn kIn = StepsIn::kBoth;
  std::uint64_t time = 0;
};

/// A new group, which gets the next number.
struct GroupStep {
  static constexpr StepKind kKind = StepKind::kGroup;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  StepBytes key{};
};

/// An item that comes to wait; in a piece one that is in no run.
struct PutStep {
  static constexpr StepKind kKind = StepKind::kPut;
  static constexpr StepsIn kIn = StepsIn::kBoth;
  std::uint32_t group = 0;
  std::uint64_t id = 0;
  double priority = 0;
  std::uint64_t time = 0;
  StepBytes body{};
};

/// Time at which the leases of the visits after it end; 0: never.
struct LeaseStep {
  static constexpr StepKind kKind = StepKind::kLease;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::uint64_t until = 0;
};

/// The first items of a group are taken; `check` is the sum of their ids modulo 65,536.
struct VisitStep {
  static constexpr StepKind kKind = StepKind::kVisit;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::uint32_t group = 0;
  std::uint32_t count = 0;
  std::uint16_t check = 0;
};

/// Items that were taken are done.
struct FinishStep {
  static constexpr StepKind kKind = StepKind::kFinish;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::span<const std::uint64_t> ids{};
};

/// A leased item is given back, not to be taken before `time`.
struct BackStep {
  static constexpr StepKind kKind = StepKind::kBack;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::uint64_t id = 0;
  std::uint64_t time = 0;
  bool is_failure = false;
};

/// A lease ends at another time; 0: never.
struct ExtendStep {
  static constexpr StepKind kKind = StepKind::kExtend;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::uint64_t id = 0;
  std::uint64_t until = 0;
};

/// An item that waits in no run is gone.
struct RemoveStep {
  static constexpr StepKind kKind = StepKind::kRemove;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::uint32_t group = 0;
  std::uint64_t id = 0;
};

/// An item that waits in no run has other values; without a body it keeps its own.
struct UpdateStep {
  static constexpr StepKind kKind = StepKind::kUpdate;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::uint32_t group = 0;
  std::uint64_t id = 0;
  double priority = 0;
  std::uint64_t time = 0;
  std::optional<StepBytes> body{};
};

/// Bits of RuleStep::mask.
enum RuleBit : std::uint32_t {
  kRuleSoft = 1,
  kRuleHard = 2,
  kRuleBurst = 4,
  kRuleInFlight = 8,
  kRulePut = 16,
  kRuleFinished = 32,
  kRuleBlocked = 64,
  kRuleActive = 128,
  kRuleParent = 256,
  kRuleAll = 511,
};

/// Values of a group's rule; those whose bit is not in `mask` are not in the step.
struct RuleStep {
  static constexpr StepKind kKind = StepKind::kRule;
  static constexpr StepsIn kIn = StepsIn::kBoth;
  std::uint32_t group = 0;
  std::uint32_t mask = 0;
  std::optional<std::uint64_t> soft_ms{};
  std::optional<std::uint64_t> hard_ms{};
  std::uint32_t burst = 1;
  std::uint32_t in_flight_max = 1;
  std::optional<std::uint64_t> put_max{};
  std::optional<std::uint64_t> finished_max{};
  std::uint64_t blocked_until = 0;
  bool is_active = false;
  std::optional<std::uint32_t> parent{};
};

/// All items of a group that wait are gone.
struct DropStep {
  static constexpr StepKind kKind = StepKind::kDrop;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::uint32_t group = 0;
};

/// Items that were in no run, and are not leased, are in this run now.
struct StoredStep {
  static constexpr StepKind kKind = StepKind::kStored;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::uint64_t run_id = 0;
};

/// A run has what waits of others, which are gone: at least one, ascending.
struct JoinedStep {
  static constexpr StepKind kKind = StepKind::kJoined;
  static constexpr StepsIn kIn = StepsIn::kJournal;
  std::uint64_t run_id = 0;
  std::span<const std::uint64_t> others{};
};

/// Times at which a group may be visited again, and failures since its last success.
struct TimesStep {
  static constexpr StepKind kKind = StepKind::kTimes;
  static constexpr StepsIn kIn = StepsIn::kPiece;
  std::uint32_t group = 0;
  std::uint64_t soft_time = 0;
  std::uint64_t hard_time = 0;
  std::uint32_t failures = 0;
};

/// Items put into a group and finished, where its rule limits them.
struct CountsStep {
  static constexpr StepKind kKind = StepKind::kCounts;
  static constexpr StepsIn kIn = StepsIn::kPiece;
  std::uint32_t group = 0;
  std::uint64_t put_count = 0;
  std::uint64_t finished_count = 0;
};

/// A run, and how many items have left it.
struct RunCount {
  std::uint64_t run_id = 0;
  std::uint64_t count = 0;
  bool operator==(const RunCount&) const = default;
};

/// Items of a group that have left their runs; run ids ascend.
struct LeftStep {
  static constexpr StepKind kKind = StepKind::kLeft;
  static constexpr StepsIn kIn = StepsIn::kPiece;
  std::uint32_t group = 0;
  std::span<const RunCount> runs{};
};

/// An item that is leased, for the attempt-th time.
struct LeasedStep {
  static constexpr StepKind kKind = StepKind::kLeased;
  static constexpr StepsIn kIn = StepsIn::kPiece;
  std::uint32_t group = 0;
  std::uint64_t id = 0;
  double priority = 0;
  std::uint64_t until = 0;
  std::uint32_t attempt = 0;
  StepBytes body{};
};

/// An item that was leased, and waits again.
struct AgainStep {
  static constexpr StepKind kKind = StepKind::kAgain;
  static constexpr StepsIn kIn = StepsIn::kPiece;
  std::uint32_t group = 0;
  std::uint64_t id = 0;
  double priority = 0;
  std::uint64_t time = 0;
  std::uint32_t attempt = 0;
  StepBytes body{};
};

/// Item `number` of a run, which is of this group, waits no more, or has other values.
struct GoneStep {
  static constexpr StepKind kKind = StepKind::kGone;
  static constexpr StepsIn kIn = StepsIn::kBoth;
  std::uint32_t group = 0;
  std::uint64_t run_id = 0;
  std::uint64_t number = 0;
};

using Step =
    std::variant<ClockStep, GroupStep, PutStep, LeaseStep, VisitStep, FinishStep, BackStep,
                 ExtendStep, RemoveStep, UpdateStep, RuleStep, DropStep, StoredStep, JoinedStep,
                 TimesStep, CountsStep, LeftStep, LeasedStep, AgainStep, GoneStep>;

}  // namespace crawlstore::format
