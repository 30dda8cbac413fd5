// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The work that all frontiers do, and the proof that they did it.
///
/// Items are put in batches. Then cycles: `take_count` items are taken of as many groups, those of
/// the cycle before are finished, and twice as many new ones are put. Each call is durable when it
/// answers, where that can be had. The clock of the frontiers goes on by 250 ms a cycle; a group is
/// visited each 4 s, or each 1 s where no other may be.
///
/// Each taken item is compared with the one that was put: its group, priority and body; it is taken
/// once, and its group is not visited early. A sum of all that was taken, in order, tells whether
/// two frontiers took the same. All of that, and making items, is done while the watch stands.
///
/// Errors: std::runtime_error. Threads: one.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "frontier_stream.h"

namespace crawlstore::bench {

inline constexpr std::uint64_t kDelayMs = 4000;
inline constexpr std::uint64_t kHardDelayMs = 1000;
inline constexpr std::uint64_t kLeaseMs = 600'000;
inline constexpr std::uint64_t kClockBeginMs = std::uint64_t{1} << 41;  ///< after any wall clock
inline constexpr std::uint64_t kClockStepMs = 250;

/// An item to be put; ids are given in order, from 0.
struct WorkItem {
  std::uint64_t id = 0;
  std::string_view group;
  double priority = 0;
  std::string_view body;
};

struct WorkTaken {
  std::uint64_t id = 0;
  std::string group;
  double priority = 0;
  std::string body;
};

class BenchFrontier {
 public:
  BenchFrontier() = default;
  BenchFrontier(const BenchFrontier&) = delete;
  BenchFrontier& operator=(const BenchFrontier&) = delete;
  virtual ~BenchFrontier() = default;

  [[nodiscard]] virtual std::string name() const = 0;  ///< with its version
  virtual void put(std::span<const WorkItem> items) = 0;
  /// The best items, one of each group that may be visited.
  virtual std::vector<WorkTaken> take(std::size_t count, std::uint64_t now_ms) = 0;
  /// Ids of items that are leased.
  virtual void finish(std::span<const std::uint64_t> ids, std::uint64_t now_ms) = 0;
  virtual void close() {}
};

struct WorkOptions {
  std::uint64_t item_count = 0;
  std::uint64_t group_count = 0;
  std::size_t body_bytes = 0;
  std::uint64_t cycle_count = 0;
  std::uint64_t take_count = 0;
  std::uint64_t put_batch = 100'000;
};

/// Calls of one kind: seconds by the clock, and of the processor for all threads, one by one.
struct Calls {
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;
  [[nodiscard]] double total() const;
  [[nodiscard]] double cpu_total() const;
  /// The seconds that a share of the calls do not exceed: 1 is the longest.
  [[nodiscard]] double quantile(double share) const;
  [[nodiscard]] double worst_cpu() const;
};

/// Seconds of the processor that this process has used.
double cpu_now();

/// Makes a call and notes what it took.
template <class Call>
auto timed(Calls& calls, const Call& call) {
  const double cpu = cpu_now();
  const auto start = std::chrono::steady_clock::now();
  const auto note = [&] {
    const auto end = std::chrono::steady_clock::now();
    calls.seconds.push_back(std::chrono::duration<double>(end - start).count());
    calls.cpu_seconds.push_back(cpu_now() - cpu);
  };
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    note();
  } else {
    auto result = call();
    note();
    return result;
  }
}

class FrontierWork {
 public:
  FrontierWork(const WorkOptions& options, BenchFrontier& frontier);

  /// Puts the first items.
  void load();
  /// Runs all cycles.
  void run_cycles();

  [[nodiscard]] const Calls& loads() const { return loads_; }
  [[nodiscard]] const Calls& takes() const { return takes_; }
  [[nodiscard]] const Calls& finishes() const { return finishes_; }
  [[nodiscard]] const Calls& puts() const { return puts_; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  /// Items that wait or are leased.
  [[nodiscard]] std::uint64_t kept_count() const { return put_count_ - finished_count_; }
  /// The time of the clock after `cycle_count` cycles.
  [[nodiscard]] static std::uint64_t clock_after(std::uint64_t cycle_count) {
    return kClockBeginMs + cycle_count * kClockStepMs;
  }

 private:
  void put(std::uint64_t count, Calls& calls);
  void check(std::span<const WorkTaken> taken, std::uint64_t now_ms);

  WorkOptions options_;
  BenchFrontier& frontier_;
  FrontierStream stream_;
  Calls loads_;
  Calls takes_;
  Calls finishes_;
  Calls puts_;
  std::vector<std::uint64_t> next_visit_;  ///< by group
  std::vector<bool> was_taken_;            ///< by item
  std::uint64_t put_count_ = 0;
  std::uint64_t finished_count_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace crawlstore::bench
