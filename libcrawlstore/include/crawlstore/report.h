// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reports to programs that embed a store: a function that is told of every step as it ends, and
/// totals that can be asked for at any time (Store::counters()).
///
///   crawlstore::OpenOptions options;
///   options.report = [](const crawlstore::Report& report) {
///     if (report.error || report.duration_us > 1'000'000) std::clog << describe(report) << '\n';
///     if (const auto* merge = std::get_if<crawlstore::MergeReport>(&report.step)) {
///       key_gauge += merge->new_key_count;
///     }
///   };
///   auto store = crawlstore::Store::open_or_create("my.crawl", {}, options);
///
/// Steps hold each other: a merge or a superstep takes commits, which are told of by themselves.
///
/// Ownership: as in crawlstore.hpp.
/// Threads: the function is called by the thread whose call ended the step, never twice at once,
/// and with the store locked: whoever wants to change the store waits for it, and so do
/// generation(), file_bytes() and snapshot() of other threads. It is a callback (store.h): what
/// changes the store or a part of it gives kReentrant, and it must not wait for a thread that uses
/// the store.
/// Errors: what the function throws is dropped, as the step has ended, and stands. A step that ends
/// with an exception (std::bad_alloc) is neither told of nor counted.
/// Cost: two looks at the clock and at StorageCounters a step, with a function or without.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <crawlstore/error.h>
#include <crawlstore/storage.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// A generation was made: by a commit, Store::rollback(), or a step of a compaction. A
/// commit for which nothing waits makes none, and is no step. What the generation before refers to,
/// and this one does not, is retired; a later commit frees it, when no generation that can be read
/// refers to it.
struct CommitReport {
  std::uint64_t segment_count = 0;    ///< made, changed or removed
  std::uint64_t added_bytes = 0;      ///< allocated for runs that are new in this generation
  std::uint64_t directory_bytes = 0;  ///< allocated for the directory beside them
  std::uint64_t retired_bytes = 0;
  std::uint64_t freed_bytes = 0;  ///< from now on free for others
};

/// Counts of a merge of a DRUM. Seeks are those of the whole storage while it ran, as
/// StorageCounters counts them: reads or writes that do not begin where the last one ended. A merge
/// that answers nothing is no step; one from memory counts with the flights that it answered.
struct MergeReport {
  std::uint64_t request_count = 0;  ///< answered
  std::uint64_t unique_count = 0;   ///< check and check_update of keys that were not there
  std::uint64_t duplicate_count = 0;
  std::uint64_t new_key_count = 0;
  std::uint64_t bucket_count = 0;  ///< merged; a bucket that was merged in slices counts for each
  std::uint64_t split_count = 0;   ///< buckets that were added
  std::uint64_t commit_count = 0;  ///< after the one that made the requests durable
  std::uint64_t partition_read_seeks = 0;
  std::uint64_t partition_write_seeks = 0;
  /// Adds field by field.
  MergeReport& operator+=(const MergeReport& other);
};

/// Counts of a superstep of a page database. One on a thread of its own is told of when a commit
/// has published it, before that commit itself; its duration is the time that the thread took. When
/// that commit fails, only the commit is told of, and the edits wait again.
struct SuperstepReport {
  std::uint64_t edit_count = 0;      ///< that waited
  std::uint64_t new_page_count = 0;  ///< pages that got an index
  std::uint64_t added_link_count = 0;
  std::uint64_t gone_link_count = 0;
  std::uint64_t collision_count = 0;  ///< URLs left out because another URL has their key
  /// Adds field by field.
  SuperstepReport& operator+=(const SuperstepReport& other);
};

/// Counts of a Store::compact().
struct CompactReport {
  std::uint64_t file_bytes_before = 0;
  std::uint64_t file_bytes_after = 0;
  std::uint64_t moved_bytes = 0;
  std::uint64_t commit_count = 0;
};

/// Opening passed over superblocks: it is told of only then. None of them is the only trace of a
/// commit that was acknowledged, as opening fails where one may be (kSuperblockDamaged).
struct RecoveryReport {
  /// Copies that cannot be read: torn with a commit that never ended, or damaged.
  std::uint64_t damaged_copy_count = 0;
  /// Generations after this one that are not in the file: a rollback gave them up.
  std::uint64_t lost_generation_count = 0;
};

/// One step.
struct Report {
  std::string_view name;          ///< of the DRUM or page database; empty: the store
  Generation generation;          ///< the newest one when the step had ended
  std::uint64_t duration_us = 0;  ///< by the steady clock, waiting for parts' locks included
  /// Counts of the whole storage meanwhile, for other threads too. Reading through Storage::view()
  /// is not counted.
  StorageCounters storage;
  /// The reason why it failed: the step's own numbers are 0 then. nullopt: it did not.
  std::optional<Error> error;
  std::variant<CommitReport, MergeReport, SuperstepReport, CompactReport, RecoveryReport> step;
};

using ReportFunction = std::function<void(const Report& report)>;

/// One line for logs, without its end: `commit generation=7 segment_count=2 ... sync_count=2`.
std::string describe(const Report& report);

/// Steps of one kind since the store was opened.
struct StepTotals {
  std::uint64_t count = 0;         ///< failed ones included
  std::uint64_t failed_count = 0;  ///< those with an error
  std::uint64_t duration_us = 0;
};

/// Totals of a store since it was opened. No number ever falls.
struct StoreCounters {
  StorageCounters storage;
  StepTotals commits;
  StepTotals merges;  ///< with their commits, as all that follow
  StepTotals supersteps;
  StepTotals compactions;
};

}  // namespace crawlstore
#pragma GCC visibility pop
