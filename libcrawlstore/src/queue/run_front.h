// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "queue/near_entries.h"
#include "queue/stored_run.h"

namespace crawlstore::queue {

/// A run, and its cut: entries up to it have left, as all entries did when the cut was made.
struct LiveRun {
  StoredRunPtr stored;
  Entry cut = kBeforeAll;
};

/// The lowest entries of several runs. Fragments are loaded as they are needed, of each run one
/// after another, so that what lies below bound() is in memory whole.
/// Threads: one at a time. Memory: about a fragment of each run, and what was inserted.
class RunFront {
 public:
  /// Adds a run, of whose entries those below bound() are here already.
  void add(LiveRun run);
  [[nodiscard]] std::span<const LiveRun> runs() const { return runs_; }
  /// Other runs with the same entries, or those of `runs` that go on from here.
  void replace(std::vector<LiveRun> runs);

  /// Returns the bound; all entries below it are in memory.
  [[nodiscard]] const Entry& bound() const { return bound_; }
  /// Adds entries that are in no run. Those from bound() on stay until it has risen.
  void insert(std::span<const Entry> entries) { near_.insert(entries); }
  [[nodiscard]] std::size_t near_count() const { return near_.size(); }

  /// Takes up to `count` entries below bound(), lowest first, and appends them. See
  /// NearEntries::take().
  std::size_t take(std::size_t count, bool is_sorted, std::vector<Entry>& out) {
    return near_.take(count, bound_, is_sorted, out);
  }
  [[nodiscard]] std::size_t count_first(const Entry& entry) const {
    return near_.count_first(entry);
  }

  /// Loads the next fragment of the run whose next one is the lowest: bound() rises to that of the
  /// next but one. Without any it becomes kBehindAll.
  ///   errors  of damage: nothing has changed
  Result<void> advance();

  /// Notes that entries up to `cut` have left.
  void cut_all(const Entry& cut);
  /// Returns a bound with about `count` entries below it, not above bound().
  [[nodiscard]] Entry bound_behind(std::size_t count) const;
  /// Returns the bound() after about the given number of further fragments.
  [[nodiscard]] Entry bound_after(std::size_t fragment_count) const;
  /// Forgets what is not below `bound`, which is at most bound(). Entries that runs have of it will
  /// be loaded again.
  void rewind(const Entry& bound);

 private:
  struct Cursor {
    std::size_t next = 0;  // the next fragment
    Entry floor;           // entries of it below this one are here already
  };
  static Cursor cursor_at(const LiveRun& run, const Entry& bound);
  [[nodiscard]] Entry next_lowest(std::size_t run) const;

  NearEntries near_;
  std::vector<LiveRun> runs_;
  std::vector<Cursor> cursors_;  // of runs_
  Entry bound_ = kBeforeAll;
  std::vector<Entry> loaded_;
};

}  // namespace crawlstore::queue
