// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <crawlstore/store.h>

#include "container/writer.h"

namespace crawlstore {

class DrumCore;

/// What a commit takes from memory into the file.
enum class CommitScope : std::uint8_t {
  kEverything,   ///< all that was submitted
  kTransaction,  ///< what dispatchers submitted, and what came before it; the rest may stay
  kNothing,      ///< what work under way has to publish first; all that waits may stay
};

/// Something that keeps state in memory which a commit must include: a DRUM.
class Participant {
 public:
  Participant() = default;
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  virtual ~Participant() = default;

  /// Keeps other threads out. Recursive; taken with the store's mutex held, in the order of
  /// StoreImpl::participants.
  virtual void lock() = 0;
  virtual void unlock() = 0;
  /// Brings everything pending into the writer's changes. Called with all locks held, which stay
  /// held until after_commit(): a run written in between would be in no generation.
  virtual Result<void> before_commit(CommitScope scope) = 0;
  /// Called after each before_commit() that succeeded.
  virtual void after_commit(bool published) = 0;
  /// Writes arrays out, as before_commit() does, without a commit.
  virtual Result<void> write_arrays(CommitScope scope) = 0;
  /// What was submitted inside a transaction that ended without a commit is pending as usual now.
  /// Called after write_arrays() of all.
  virtual void keep_tentative() = 0;
  /// Forgets what was submitted inside the transaction whose dispatcher failed.
  virtual void drop_tentative() = 0;
  /// Adds the runs that work under way reads where they are. Called with the store's mutex held.
  virtual void note_busy(std::set<RunId>& runs) const = 0;
  /// Compaction has published these runs elsewhere. All locks are held.
  virtual void moved(const std::map<RunId, format::RunRef>& runs) = 0;
  /// No further use: the store closes.
  virtual void close() = 0;
  [[nodiscard]] virtual std::string_view name() const = 0;
};

/// What a Store is inside; its DRUMs share it.
struct StoreImpl : std::enable_shared_from_this<StoreImpl> {
  std::recursive_mutex mutex;  ///< one commit, merge or maintenance at a time
  std::unique_ptr<container::Writer> writer;
  std::string path;                        ///< empty: opened on a storage
  std::vector<Participant*> participants;  ///< guarded by mutex
  /// Those whose DRUM ended inside a dispatcher, until finish_lingering().
  std::vector<std::shared_ptr<Participant>> lingering;
  std::map<std::string, std::weak_ptr<DrumCore>, std::less<>> drums;  ///< open ones, by name
  std::atomic<std::thread::id> dispatching{};  ///< the thread inside a dispatcher, if any
  bool closed = false;
  bool compacting = false;  ///< guarded by mutex
  /// Opens another handle on the same file, for snapshots.
  Result<std::shared_ptr<Storage>> open_for_reading() const;

  [[nodiscard]] bool in_dispatcher() const {
    return dispatching.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  Result<void> check_open() const;

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

  /// Holds the locks of all participants. The mutex is held before and as long.
  class AllLocked {
   public:
    explicit AllLocked(const StoreImpl& store);
    AllLocked(const AllLocked&) = delete;
    AllLocked& operator=(const AllLocked&) = delete;
    ~AllLocked();

   private:
    std::vector<Participant*> participants_;
  };

  /// Commits the pending state of all participants. The mutex is held.
  Result<Generation> commit_all(CommitScope scope = CommitScope::kEverything) {
    return change([this, scope] { return commit_locked(scope); });
  }
  /// Store::settle(). The mutex is held.
  Result<void> settle() {
    return change([this] { return writer->prepare(); });
  }
  /// Commits and closes what could not be closed inside a dispatcher. The mutex is held.
  Result<void> finish_lingering();
  /// Commits and closes the DRUM `name` whose last handle is going, and waits for the mutex that we
  /// hold. The mutex is held.
  Result<void> close_abandoned(std::string_view name);
  /// Ends a transaction without a commit. After an error nothing is kept.
  Result<void> keep_tentative();
  void drop_tentative();
  /// Store::compact(), not from inside a dispatcher.
  Result<CompactReport> compact(const Progress& progress);
  /// Closes the participants and the writer. The mutex is held.
  void end();

 private:
  Result<Generation> commit_locked(CommitScope scope);
};

}  // namespace crawlstore
