// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include <crawlstore/transaction.h>

#include "base/inside.h"
#include "container/store_call.h"

namespace crawlstore {
namespace {

/// Makes this thread the holder of a turn, and the one before again unless keep() is called: a
/// transaction whose commit fails stays that of the thread that began it.
class TakenTurn {
 public:
  explicit TakenTurn(Turn& turn) : turn_(turn), before_(turn.take_over()) {}
  TakenTurn(const TakenTurn&) = delete;
  TakenTurn& operator=(const TakenTurn&) = delete;
  ~TakenTurn() {
    if (!is_kept_) turn_.pass_to(before_);
  }
  void keep() { is_kept_ = true; }

 private:
  Turn& turn_;
  const std::uint64_t before_;
  bool is_kept_ = false;
};

}  // namespace

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
  drop();
}

Result<Transaction> Transaction::begin(Store& store) {
  auto inside = Inside::of(store).shared_from_this();
  CRAWLSTORE_TRY(inside->check_outside("a transaction was begun inside a transaction"));
  const std::lock_guard lock(inside->turn);
  CRAWLSTORE_TRY(inside->check_ready());
  CRAWLSTORE_TRY(inside->writer->storage().check_process());
  inside->turn.lock();  // until its end
  inside->transacting.store(this_thread_number(), std::memory_order_relaxed);
  return Transaction(std::move(inside));
}

Result<Generation> Transaction::commit() {
  if (impl_ == nullptr) return fail(Errc::kClosed, "the transaction has ended");
  CRAWLSTORE_TRY(impl_->check_outside());
  const auto inside = impl_;
  const StoreCall call(inside);
  TakenTurn taken(inside->turn);
  const std::lock_guard lock(inside->turn);
  CRAWLSTORE_TRY(inside->settle());
  CRAWLSTORE_TRY(const auto generation, inside->commit_all(CommitScope::kTransaction));
  impl_ = nullptr;
  taken.keep();
  inside->end_transaction();
  return generation;
}

void Transaction::drop() {
  const auto inside = std::exchange(impl_, nullptr);
  if (inside == nullptr) return;
  if (!inside->check_outside()) return inside->drop_later();
  inside->drop_transaction();
  inside->finish_gone();
}

}  // namespace crawlstore
