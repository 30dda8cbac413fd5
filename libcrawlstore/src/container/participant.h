// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

namespace crawlstore {

struct StoreImpl;

/// The part of the memory that a commit takes into the file.
enum class CommitScope : std::uint8_t {
  kEverything,   ///< all that was submitted
  kTransaction,  ///< what the transaction submitted, and what came before it; the rest may stay
  kNothing,      ///< what work under way has to publish first; all that waits may stay
};

/// An open part of a store, which keeps state in memory that commits must include: a DRUM, a page
/// database. How one comes, commits and goes is the same for all:
///
///   admit()                            it takes part from now on
///   prepare(), published() | dropped() each commit
///   keep_tentative() | drop_tentative() the end of a transaction without a commit
///   leave(), let_go()                  its last commit, and close()
///
/// Locks: StoreImpl::turn before `mutex`.
class Participant : public std::enable_shared_from_this<Participant> {
 public:
  Participant(std::shared_ptr<StoreImpl> of_store, SegmentKind of_kind)
      : store(std::move(of_store)), kind(of_kind) {}
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  virtual ~Participant() = default;

  const std::shared_ptr<StoreImpl> store;
  const SegmentKind kind;
  mutable std::recursive_mutex mutex;  ///< guards what the part keeps in memory
  bool closed = false;                 ///< changed with the store's turn and `mutex`

  /// A part without one stays open as long as its store; beyond the file it has only what comes
  /// with the next commit.
  [[nodiscard]] virtual bool has_handle() const { return true; }
  /// Those that keep their locks while they commit are locked before all others.
  [[nodiscard]] virtual bool is_locked_first() const { return false; }
  /// Unique among the parts of its kind.
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Brings everything pending into the writer's changes. Called with all locks held, which stay
  /// held until published() or dropped(): a run written in between would be in no generation.
  virtual Result<void> prepare(CommitScope scope) = 0;
  /// One of these follows each prepare() that succeeded.
  virtual void published() = 0;
  virtual void dropped() = 0;

  /// Writes arrays out, as prepare() does, without a commit.
  virtual Result<void> write_arrays(CommitScope /*scope*/) { return {}; }
  /// Makes requests of a transaction that ended without a commit pending as all others. Called
  /// after write_arrays() of all.
  virtual void keep_tentative() = 0;
  /// Forgets the requests of a transaction that is dropped.
  virtual void drop_tentative() = 0;

  /// No further use. Gives back what no commit has published. Called with the store's turn.
  virtual void close() = 0;

  /// Takes part from now on. Called with the store's turn.
  void admit();
  /// Commits what is pending, and closes. Again: no effect.
  ///   errors  kReentrant inside a transaction, which may need it; those of the commit: it stays
  ///           open with what waits, unless the store is poisoned
  virtual Result<void> leave();
  /// leave() for a destructor. Inside a transaction or a function of the caller, and while it
  /// fails, the part lingers: later commits of the store have what waits in it.
  static void let_go(const std::shared_ptr<Participant>& part) noexcept;
};

}  // namespace crawlstore
