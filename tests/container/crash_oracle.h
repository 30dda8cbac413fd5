// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Says whether the file that a crash left is right (spec/features.md, T1).

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "container/crash_store.h"

namespace crawlstore::testing {

/// The states that the cache showed while a log was recorded, in order, and which of them a crash
/// may leave at each point. A state is published by the write of its first superblock copy. Before
/// the next one is published it must be durable: so a crash leaves the last one or the one before
/// it, and never one before an acknowledged one.
class PublishedStates {
 public:
  explicit PublishedStates(const OperationLog& log);

  struct State {
    std::uint64_t generation = 0;
    std::uint64_t root_checksum = 0;
    std::uint64_t digest = 0;
    bool is_whole = false;  ///< could be read; otherwise it is damaged and has no digest
  };
  /// The states that a crash after `point` operations may leave. Empty before there is any state.
  [[nodiscard]] std::span<const State> allowed(std::size_t point) const;
  /// Nothing acknowledged yet: a store may not exist either.
  [[nodiscard]] bool may_be_missing(std::size_t point) const;

 private:
  struct Window {
    std::size_t first = 0;
    std::size_t end = 0;
    bool acknowledged = false;
  };
  void observe(std::span<const std::byte> cache);

  std::vector<State> states_;
  std::vector<Window> windows_;  // [point]
  std::shared_ptr<MemoryFile> file_;
};

/// Counts of what was done.
struct OracleCounts {
  std::uint64_t images = 0;
  std::uint64_t verified = 0;
  std::uint64_t continued = 0;
  std::uint64_t double_crashes = 0;
};

struct OracleOptions {
  container::CommitPolicy policy{};
  std::uint64_t damaged_generation = 0;
  std::uint64_t fallback_digest = 0;     ///< of the generation before the damaged one
  bool deep = false;                     ///< verify the formats of segments too: real DRUMs
  std::uint64_t verify_every = 4;        ///< images between two that verify() reads
  std::uint64_t double_crash_every = 0;  ///< images between two whose next commit crashes; 0 never
  std::uint64_t double_crash_sample = 64;  ///< one of so many of its images is checked
  /// Uses the store as a program would, after the crash. Throws what fails.
  std::function<void(std::unique_ptr<Storage>)> use;
  std::uint64_t use_every = 8;
  /// States that a crash may leave as well, at points up to `also_until`.
  std::vector<PublishedStates::State> also_allowed{};
  std::size_t also_until = 0;
};

class CrashOracle {
 public:
  CrashOracle(const OperationLog& log, OracleOptions options);

  /// Nothing, or what is wrong with the image of a crash after `point` operations.
  Fault check(std::span<const std::byte> image, std::size_t point);
  [[nodiscard]] const OracleCounts& counts() const { return counts_; }

 private:
  Fault check_image(std::span<const std::byte> image, std::size_t point);
  Fault check_missing();
  Fault check_damaged_winner();
  Fault check_verify();
  Fault check_next_commit(const StoreState& state);
  Fault check_use(std::span<const std::byte> image);
  Fault check_double_crash(std::span<const std::byte> image, std::size_t point);
  [[nodiscard]] bool is_allowed(const StoreState& state, std::size_t point) const;

  [[nodiscard]] bool loses_slot() const;
  Fault check_lost_slot(std::size_t point);

  OracleOptions options_;
  bool has_failed_sync_;
  PublishedStates states_;
  std::shared_ptr<MemoryFile> file_;
  OracleCounts counts_;
};

}  // namespace crawlstore::testing
