// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tsl/robin_map.h>

#include <crawlstore/error.h>

#include "base/seeded_hash.h"
#include "queue/entry_queue.h"
#include "queue/page_set.h"

namespace crawlstore::queue {

/// A queue of pages that are each there once: a set on top of a multiset of entries.
///
/// A page that waits has an entry. One that gets another priority, or waits no more without having
/// been taken, leaves a *stale* entry behind, which stays where it is. The present state of such a
/// page, its order or kQueueGone, is a *change*. The entry of a page without a change is true. For
/// all others the one that the change names is true, once. So a stale entry costs a look-up in
/// memory when it comes up. When changes are many all runs are rewritten, step by step with what
/// comes and leaves, which ends those that were there when it began.
///
/// Changes are kept in runs of their own, of which the youngest has the say. The set of waiting
/// pages is kept nowhere: a pass over all runs finds it out when it is first asked for.
///
/// Threads: one at a time. Memory: EntryQueue's; up to 192 bytes a change, of which there are at
/// most 2^16, half as many as pages, and twice QueueLimits::changes_max, and two PageSets of their
/// pages; of a queue that is inserted into another one. Errors: of damage, and of the sink.
class PageQueue {
 public:
  /// All that there is when what was inserted is in runs.
  struct State {
    std::vector<LiveRun> runs;
    std::uint64_t entry_count = 0;  // with those that are stale
    std::uint64_t page_count = 0;
    std::vector<StoredRunPtr> changes;  // the youngest last
  };

  explicit PageQueue(RunSink& sink, const QueueLimits& limits = {}) : PageQueue(sink, {}, limits) {}
  PageQueue(RunSink& sink, State state, const QueueLimits& limits = {});

  /// Pages that wait.
  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// Gives pages this priority; those that did not wait do so now. After an error the first of
  /// them, or none, are in.
  ///   returns  the number of those that did not wait
  Result<std::uint64_t> insert(std::span<const Entry> entries);
  /// Gives this priority to those of the pages that wait already.
  ///   returns  the number of these
  Result<std::uint64_t> update(std::span<const Entry> entries);
  /// Removes pages that wait. Nothing changes after an error.
  ///   returns  the number of those that waited
  Result<std::uint64_t> remove(std::span<const std::uint64_t> pages);
  /// Removes all pages but the lowest `count`; after an error some of them.
  ///   returns  the number of those removed
  Result<std::uint64_t> trim(std::uint64_t count);
  /// Removes all pages.
  void clear() { *this = PageQueue(*sink_, limits_); }

  /// Takes the lowest `count`, or all that there are. See EntryQueue::take().
  Result<void> take(std::size_t count, bool is_sorted, std::vector<Entry>& out);

  /// Makes runs of all that was inserted and changed: then state() is the whole.
  Result<void> flush();
  [[nodiscard]] State state() const;

  /// Reads all runs, in which everything is.
  ///   errors  kSegmentInvalid: there are more or fewer entries or pages than the state said, a
  ///   page
  ///           is there twice, or an entry is of no priority; of damage
  Result<void> check();

 private:
  using Changes = tsl::robin_map<std::uint64_t, std::uint64_t, SeededHash>;

  Result<void> load_changes();
  Result<void> load_pages();
  Result<void> insert_piece(std::span<const Entry> piece);
  void change(std::uint64_t page, std::uint64_t order);
  bool is_true(const Entry& entry, PageSet& met) const;
  Result<void> write_changes();
  void rewrite_some(std::size_t count);
  void start_rewrite_when_stale();
  void end_changes();

  struct Rewrite {
    std::size_t pace;                    // entries for each change
    PageSet met;                         // see is_true()
    std::vector<std::uint64_t> changed;  // pages, since it began
    std::size_t paid_count = 0;          // changes that it was paced for
    std::size_t at_once_count = 0;       // entries that the next step rewrites besides
  };

  [[nodiscard]] std::uint64_t stale_max() const;

  RunSink* sink_;
  QueueLimits limits_;
  EntryQueue entries_;
  std::uint64_t count_ = 0;
  std::vector<StoredRunPtr> change_runs_;
  bool has_loaded_changes_ = false;
  Changes changes_;                     // page: order
  std::uint64_t changes_end_ = 0;       // all pages of changes_ are below
  std::vector<std::uint64_t> unsaved_;  // pages of changes_ whose change is in no run
  std::optional<PageSet> pages_;        // that wait; nothing: not known yet
  std::optional<Rewrite> rewrite_;
  std::uint64_t stale_tolerated_ = 0;  // as a run is damaged
};

}  // namespace crawlstore::queue
