// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/store.h>

#include "base/this_thread.h"
#include "container/caller_function.h"
#include "container/open_parts.h"
#include "container/participant.h"
#include "container/reporter.h"
#include "container/turn.h"
#include "container/writer.h"

namespace crawlstore {

/// The state of a Store, which its parts share.
struct StoreImpl : std::enable_shared_from_this<StoreImpl> {
  Turn turn;  ///< one commit, merge, transaction or maintenance at a time
  std::unique_ptr<container::Writer> writer;
  container::Reporter reporter;
  std::string path;        ///< empty: opened on a storage
  OpenParts participants;  ///< guarded by `turn`
  /// Parts whose last handle went inside a transaction or a function of the caller, or could not
  /// commit, until finish_lingering(). Guarded by `lingering_mutex`, after which nothing is locked.
  std::vector<std::shared_ptr<Participant>> lingering;
  std::mutex lingering_mutex;
  /// Parts that stay as long as the store, for no handle owns them. Guarded by `turn`.
  std::vector<std::shared_ptr<Participant>> without_handle;
  /// The thread inside a transaction: in a dispatcher, or between Transaction::begin() and its end.
  /// The number that this_thread_number() gives it; 0: none.
  std::atomic<std::uint64_t> transacting{0};
  bool closed = false;
  StorageCounters last_counters;  ///< once it is closed
  bool compacting = false;        ///< guarded by `turn`
  /// Opens another handle on the same file, for snapshots.
  Result<std::shared_ptr<Storage>> open_for_reading() const;

  [[nodiscard]] bool in_transaction() const {
    const std::uint64_t thread = transacting.load(std::memory_order_relaxed);
    return thread != 0 && thread == this_thread_number();
  }
  Result<void> check_open() const;
  /// Comes before any lock: what the function was called by may hold others.
  ///   errors  kReentrant: this thread is inside a function that the store calls
  [[nodiscard]] Result<void> check_outside() const;
  /// check_outside(), and before calls that no transaction may hold.
  ///   errors  kReentrant, with this text inside a transaction, but kForked in a child there
  [[nodiscard]] Result<void> check_outside(const char* in_transaction) const;
  /// Before a part is opened, with the turn: the store can be written to, and what lingered is
  /// gone.
  Result<void> check_ready();
  /// The open part of this kind and name, or nullptr.
  [[nodiscard]] Participant* find(SegmentKind kind, std::string_view name) const {
    return participants.find(kind, name);
  }

  /// Returns the result of `work`. If it throws, memory is out and half a change must never be
  /// published: this poisons the writer, and all that was acknowledged stands.
  template <class Work>
  auto change(const Work& work) -> decltype(work()) {
    try {
      return work();
    } catch (...) {
      if (writer != nullptr) writer->poison();
      throw;
    }
  }

  /// Counts a step and reports to the program how it `ended`. Requires the turn.
  template <class Step>
  void report(std::string_view name, const container::StepCost& cost, const Result<Step>& ended) {
    Report report{name, writer->directory()->generation(), cost.duration_us, cost.storage, {}, {}};
    report.step = ended.value_or(Step{});
    if (!ended) report.error = ended.error();
    const CallerFunction inside(this);
    reporter.report(report);
  }
  /// Returns the result of `work`, and reports it if it was a commit or failed. Requires the turn.
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

  /// Commits the pending state of all participants, and removes these segments, which are of none.
  /// The turn is held.
  Result<Generation> commit_all(CommitScope scope = CommitScope::kEverything,
                                std::span<const SegmentId> removed = {}) {
    return change([&] { return report_commit([&] { return commit_locked(scope, removed); }); });
  }
  /// Makes the opened generation durable: the process that made it may have died, or failed, before
  /// it was. The turn is held.
  Result<void> settle() {
    return change([this] { return writer->prepare(); });
  }
  /// Commits and closes the parts whose handles went without it; after an error they linger on. No
  /// effect inside a transaction. The turn is held.
  Result<void> finish_lingering();
  /// Keeps a part whose last handle goes until finish_lingering().
  void linger(const std::shared_ptr<Participant>& part);
  /// Keeps the store open though its Store goes, until finish_gone().
  void outlive_handle();
  /// Keeps the transaction though its Transaction goes, until finish_gone().
  void drop_later();
  /// Whether a handle went on this thread and finish_gone() has not been there since.
  [[nodiscard]] bool has_gone_here() const;
  /// Ends what went inside a function of the caller or a transaction, if this thread is outside of
  /// both: drops the transaction, closes parts, closes the store. No lock is held.
  void finish_gone() noexcept;
  /// Ends a transaction that was committed or dropped. The turn is held, in addition to its hold.
  void end_transaction() noexcept;
  /// Forgets what the transaction did, and ends it. Its thread has given the turn up.
  void drop_transaction() noexcept;
  /// Ends a transaction without a commit. After an error nothing is kept.
  Result<void> keep_tentative();
  void drop_tentative();
  /// Store::compact(), not from inside a transaction.
  Result<CompactReport> compact(const Progress& progress);
  /// container::close_gaps(), likewise.
  Result<CompactReport> close_gaps(const Progress& progress);
  /// Store::close(), with the turn.
  Result<void> close();
  /// close(); after an error it is closed all the same, and what waited is lost. The turn is held.
  void close_anyway() noexcept;
  /// Closes the participants and the writer. The turn is held.
  void end();

 private:
  // Numbers of threads, 0: none. See gone_handles.cpp.
  std::atomic<std::uint64_t> gone_on_ = 0;          // the thread that a handle went on
  std::atomic<std::uint64_t> dropping_thread_ = 0;  // the thread that a Transaction went on
  std::atomic<bool> is_orphaned_ = false;           // the Store went
  Result<Generation> commit_locked(CommitScope scope, std::span<const SegmentId> removed);
  template <class Compact>
  Result<CompactReport> compact_with(const Compact& work);
};

}  // namespace crawlstore
