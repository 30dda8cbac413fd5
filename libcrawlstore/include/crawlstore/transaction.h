// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Changes to several parts of a store that are committed together, or not at all.
///
/// Between begin() and its end, what the thread submits to DRUMs, adds to page databases, puts into
/// queues or takes from them, stores as scores, and sets as small values belongs to the
/// transaction. None of it is in any commit before its own, whatever memory it takes; a crash
/// leaves all of it or nothing. (In a dispatcher the same holds without a Transaction: what it does
/// is committed with the buckets that it was told of, or dropped with them.)
///
///   CRAWLSTORE_TRY(auto both, Transaction::begin(store));
///   CRAWLSTORE_TRY(seen.update(key));
///   CRAWLSTORE_TRY(queue.insert(pages));
///   CRAWLSTORE_TRY(both.commit());
///
/// Nothing is merged inside: requests wait in memory or in the file, edits of pages in memory, and
/// are merged afterwards as all others. merge(), Store::commit(), compaction, opening and closing
/// fail with kReentrant.
///
/// Ownership: as in crawlstore.hpp. A Store that goes inside is closed when it ends.
/// Threads: it holds the store's turn. Other threads may submit and add, but their merges, commits
/// and calls of queues wait until it ends, and so does whoever runs out of memory. Another thread
/// may end it, when the one that began it is done; what that thread does is no part of it.

#include <memory>

#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

class Transaction {
 public:
  /// Waits for the merges and commits of other threads.
  ///   errors  kReentrant: this thread is in a transaction, or a dispatcher, already
  [[nodiscard]] static Result<Transaction> begin(Store& store);

  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) noexcept;  ///< drops what was there
  ~Transaction();                                  ///< drop()

  /// Publishes the transaction, and what was submitted before it to the same buckets of DRUMs and
  /// the same page databases, and what was done before it to all queues. Durable when it
  /// returns.
  ///   errors  kNoSpace and the like: nothing changed; commit again, or drop. kClosed: it ended.
  ///           kReentrant: in a callback (store.h)
  ///   cost    as Store::commit
  [[nodiscard]] Result<Generation> commit();

  /// Forgets all of it; in a callback (store.h), when the call has ended that it is inside. Again,
  /// or after commit(): no effect.
  void drop();

 private:
  explicit Transaction(std::shared_ptr<StoreImpl> store);
  std::shared_ptr<StoreImpl> impl_;  // none: it has ended
};

}  // namespace crawlstore
#pragma GCC visibility pop
