// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <crawlstore/store.h>

#include "container/participant.h"
#include "container/reporter.h"
#include "container/turn.h"
#include "container/writer.h"

namespace crawlstore {

/// What a Store is inside; its parts share it.
struct StoreImpl : std::enable_shared_from_this<StoreImpl> {
  Turn turn;  ///< one commit, merge, transaction or maintenance at a time
  std::unique_ptr<container::Writer> writer;
  container::Reporter reporter;
  std::string path;                        ///< empty: opened on a storage
  std::vector<Participant*> participants;  ///< guarded by `turn`
  /// Those whose last handle went inside a transaction, or could not commit, until
  /// finish_lingering().
  std::vector<std::shared_ptr<Participant>> lingering;
  /// Segments that the transaction under way has made, and those it removes. Guarded by `turn`.
  std::vector<format::SegmentEntry> tentative_segments;
  std::vector<SegmentId> tentative_removals;
  /// The thread inside a transaction, if any: in a dispatcher, or between Transaction::begin() and
  /// its end.
  std::atomic<std::thread::id> transacting{};
  bool closed = false;
  StorageCounters last_counters;  ///< once it is closed
  bool compacting = false;        ///< guarded by `turn`
  /// Opens another handle on the same file, for snapshots.
  Result<std::shared_ptr<Storage>> open_for_reading() const;

  [[nodiscard]] bool in_transaction() const {
    return transacting.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  Result<void> check_open() const;
  /// errors kReentrant: the store was used by the function that it reports to
  [[nodiscard]] Result<void> check_not_reporting() const;
  /// Before a part is opened, with the turn: the store can be written to, and what lingered is
  /// gone.
  Result<void> check_ready();
  /// The open part of this kind and name; nullptr: none.
  [[nodiscard]] Participant* find(SegmentKind kind, std::string_view name) const;

  /// What `work` returns. When it throws, memory is out and what is half changed must never be
  /// published: the writer is poisoned, and what was acknowledged stands.
  template <class Work>
  auto change(const Work& work) -> decltype(work()) {
    try {
      return work();
    } catch (...) {
      if (writer != nullptr) writer->poison();
      throw;
    }
  }

  /// Counts a step and tells the program how it `ended`. The turn is held.
  template <class Step>
  void report(std::string_view name, const container::StepCost& cost, const Result<Step>& ended) {
    Report report{name, writer->directory()->generation(), cost.duration_us, cost.storage, {}, {}};
    report.step = ended.value_or(Step{});
    if (!ended) report.error = ended.error();
    reporter.report(report);
  }
  /// What `work` returns, which may be a commit. The turn is held.
  template <class Work>
  Result<Generation> report_commit(const Work& work) {
    const Generation before = writer->directory()->generation();
    const container::StepMeter meter(writer->storage());
    const Result<Generation> ended = work();
    if (!ended || *ended != before) {
      report({}, meter.cost(), ended.map([this](Generation) { return writer->last_commit(); }));
    }
    return ended;
  }

  /// Holds the locks of all participants. The turn is held before and as long.
  class AllLocked {
   public:
    explicit AllLocked(const StoreImpl& store);
    AllLocked(const AllLocked&) = delete;
    AllLocked& operator=(const AllLocked&) = delete;
    ~AllLocked();

   private:
    std::vector<Participant*> participants_;
  };

  /// Commits the pending state of all participants. The turn is held.
  Result<Generation> commit_all(CommitScope scope = CommitScope::kEverything) {
    return change([&] { return report_commit([&] { return commit_locked(scope); }); });
  }
  /// Makes the opened generation durable: the process that made it may have died, or failed, before
  /// it was. The turn is held.
  Result<void> settle() {
    return change([this] { return writer->prepare(); });
  }
  /// Commits and closes the parts whose handles went without it; after an error they linger on. No
  /// effect inside a transaction. The turn is held.
  Result<void> finish_lingering();
  /// Ends a transaction without a commit. After an error nothing is kept.
  Result<void> keep_tentative();
  [[nodiscard]] bool has_tentative_segments() const {
    return !tentative_segments.empty() || !tentative_removals.empty();
  }
  void drop_tentative();
  /// Store::compact(), not from inside a transaction.
  Result<CompactReport> compact(const Progress& progress);
  /// Closes the participants and the writer. The turn is held.
  void end();

 private:
  Result<Generation> commit_locked(CommitScope scope);
};

}  // namespace crawlstore
