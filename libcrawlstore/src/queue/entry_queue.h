// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "queue/queue_limits.h"
#include "queue/run_join.h"

namespace crawlstore::queue {

/// A priority queue over runs: a multiset of entries, of which the lowest leave first.
///
/// Inserted entries become a run, in fragments that ascend and are not sorted inside. Entries that
/// leave are loaded fragment by fragment and sorted then. Nothing is rewritten: each run knows up
/// to which entry it has left (LiveRun::cut), for whatever leaves is the lowest of all. So the
/// runs, with a cut each, are the whole state. Runs are joined when there are too many, which drops
/// what has left: large ones bit by bit, with what comes and leaves.
///
/// Threads: one at a time. Memory: QueueLimits::entries_max of each kind, in vectors that may be
/// half empty; three fragments of each run, and one of each run that is joined.
/// Errors: of damage, and of the sink; nothing has changed then.
class EntryQueue {
 public:
  explicit EntryQueue(RunSink& sink, const QueueLimits& limits = {})
      : sink_(&sink), limits_(limits) {}
  /// Makes a queue from the runs and the count of an earlier one.
  EntryQueue(RunSink& sink, std::vector<LiveRun> runs, std::uint64_t count,
             const QueueLimits& limits = {});

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Returns the number of entries that one insert() inserts all, or none after an error.
  [[nodiscard]] std::size_t piece_max() const {
    return std::min(limits_.entries_max / 4, std::size_t{1} << 15);
  }

  /// Inserts entries with valid orders. Equal ones are kept.
  ///   errors  of the sink: those that came before the error are in
  Result<void> insert(std::span<const Entry> entries);

  /// Takes the lowest `count` that are wanted, or all that there are, and appends them, lowest
  /// first. Those before them that are not wanted leave, too.
  ///   is_sorted  false: in any order, which costs less
  Result<void> take(std::size_t count, bool is_sorted, std::vector<Entry>& out,
                    const Filter& is_wanted = {});
  /// Begins to write all runs anew as one, while entries are inserted and taken.
  Result<void> start_rewrite();
  /// Whether a rewrite goes on. It ends if the queue is emptied, or has to join all runs at once.
  [[nodiscard]] bool is_rewriting() const { return is_rewriting_; }
  /// Writes about `count` entries more. Those that are not wanted are gone when it is done.
  ///   returns  whether it is done
  ///   errors   of damage, and of the sink: it has ended, and nothing has changed
  Result<bool> rewrite(std::size_t count, const Filter& is_wanted);

  /// The `count` wanted ones that leave last, or all; they stay.
  Result<std::vector<Entry>> last(std::size_t count, const Filter& is_wanted);

  /// Makes runs of all that was inserted: then runs() and count() are the whole state.
  Result<void> flush();
  [[nodiscard]] std::span<const LiveRun> runs() const { return front_.runs(); }

 private:
  struct Extraction {
    std::size_t born_count = 0;  // of born_, when it happened
    Entry cut;
  };
  Result<void> write_tail();
  Result<void> load_more();
  Result<void> take_near(std::size_t count, bool is_sorted, std::vector<Entry>& out,
                         const Filter& is_wanted, std::vector<Entry>& unwanted);
  void note_extraction(const Entry& cut);
  [[nodiscard]] std::size_t near_max() const;
  void forget_what_left();
  void demote();
  void join_some(std::size_t count);
  void replace_joined(LiveRun joined);
  void replace_runs(std::vector<LiveRun> runs);
  Result<void> finish_rewrite();
  Result<void> end_join_when_crowded();
  Result<void> write_all(std::vector<LiveRun>& runs);
  Result<void> write_rest(std::vector<Entry>& entries, std::vector<LiveRun>& runs);
  Result<void> join_crowded_levels(std::vector<LiveRun>& kept);
  [[nodiscard]] std::size_t fan_in(std::size_t level) const;

  RunSink* sink_;
  QueueLimits limits_;
  RunFront front_;
  Entry horizon_;            // not below the bound of front_
  std::vector<Entry> born_;  // inserted below the horizon, and in no run; those that left, too
  std::vector<Extraction> extractions_;  // since born_ was empty; cuts descend
  std::vector<Entry> tail_;              // inserted from the horizon on, and in no run
  std::unique_ptr<RunJoin> join_;        // of large runs, step by step
  bool is_rewriting_ = false;            // join_ is that of rewrite()
  std::vector<Entry> room_;              // of store_run()
  std::uint64_t count_ = 0;
};

}  // namespace crawlstore::queue
