// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include <crawlstore/transaction.h>

#include "base/inside.h"
#include "container/store_impl.h"

namespace crawlstore {

Transaction::Transaction(std::shared_ptr<StoreImpl> store) : impl_(std::move(store)) {}
Transaction::Transaction(Transaction&&) noexcept = default;

Transaction& Transaction::operator=(Transaction&& other) noexcept {
  if (this != &other) {
    Transaction old(std::move(*this));
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Transaction::~Transaction() {
  try {
    drop();
  } catch (...) {  // no memory; nothing of the store is written any more
    impl_->writer->poison();
    end();
  }
}

Result<Transaction> Transaction::begin(Store& store) {
  auto inside = Inside::of(store).shared_from_this();
  if (inside->in_transaction()) {
    return fail(Errc::kReentrant, "a transaction was begun inside a transaction");
  }
  const std::lock_guard lock(inside->turn);
  CRAWLSTORE_TRY(inside->check_ready());
  CRAWLSTORE_TRY(inside->writer->storage().check_process());
  inside->turn.lock();  // until end()
  inside->transacting.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return Transaction(std::move(inside));
}

Result<Generation> Transaction::commit() {
  if (impl_ == nullptr) return fail(Errc::kClosed, "the transaction has ended");
  const auto inside = impl_;  // outlives the lock
  inside->turn.take_over();
  const std::lock_guard lock(inside->turn);
  CRAWLSTORE_TRY(inside->settle());
  CRAWLSTORE_TRY(const auto generation, inside->commit_all(CommitScope::kTransaction));
  end();
  return generation;
}

void Transaction::drop() {
  if (impl_ == nullptr) return;
  const auto inside = impl_;  // outlives the lock
  inside->turn.take_over();
  const std::lock_guard lock(inside->turn);
  inside->drop_tentative();
  end();
}

/// The turn is held.
void Transaction::end() {
  const auto inside = std::exchange(impl_, nullptr);
  inside->transacting.store({}, std::memory_order_relaxed);
  try {
    // Parts that linger keep the store open, and nobody may come after this to close them.
    (void)inside->finish_lingering();
  } catch (...) {  // what their progress callbacks throw, or no memory: they linger on
  }
  inside->turn.unlock();
}

}  // namespace crawlstore
