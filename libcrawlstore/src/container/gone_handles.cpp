// SPDX-License-Identifier: Apache-2.0
//
// Handles that go inside a transaction or a function of the caller, where nothing can be closed.
//
// Invariants: what went is noted with the thread that it went on; that thread ends it when its call
// or its transaction ends (StoreCall, Transaction), and any commit of the store may do so before. A
// compaction under way needs the writer, so that its own call closes a store that went inside.
#include <mutex>

#include "container/store_impl.h"

namespace crawlstore {

void StoreImpl::linger(const std::shared_ptr<Participant>& part) {
  {
    const std::lock_guard lock(lingering_mutex);
    lingering.push_back(part);
  }
  if (!check_outside("")) gone_on_ = this_thread_number();
}

void StoreImpl::outlive_handle() {
  is_orphaned_ = true;
  gone_on_ = this_thread_number();
}

void StoreImpl::drop_later() {
  dropping_thread_ = this_thread_number();
  gone_on_ = this_thread_number();
}

bool StoreImpl::has_gone_here() const {
  const std::uint64_t thread = gone_on_.load(std::memory_order_relaxed);
  return thread != 0 && thread == this_thread_number();
}

Result<void> StoreImpl::finish_lingering() {
  if (in_transaction()) return {};
  const auto last = [this]() -> std::shared_ptr<Participant> {
    const std::lock_guard lock(lingering_mutex);
    return lingering.empty() ? nullptr : lingering.back();
  };
  while (const auto part = last()) {
    CRAWLSTORE_TRY(part->leave());
    const std::lock_guard lock(lingering_mutex);
    std::erase(lingering, part);
  }
  return {};
}

void StoreImpl::end_transaction() noexcept {
  transacting.store(0, std::memory_order_relaxed);
  try {
    // Parts that linger keep the store open, and nobody may come after this to close them.
    (void)finish_lingering();
  } catch (...) {  // what their progress callbacks throw, or no memory: they linger on
  }
  turn.unlock();
}

void StoreImpl::drop_transaction() noexcept {
  turn.take_over();
  const std::lock_guard lock(turn);
  try {
    drop_tentative();
  } catch (...) {  // no memory; nothing of the store is written any more
    writer->poison();
  }
  end_transaction();
}

void StoreImpl::finish_gone() noexcept {
  if (gone_on_ == 0 || CallerFunction::is_inside(*this)) return;
  if (dropping_thread_ == this_thread_number()) {
    dropping_thread_ = 0;
    drop_transaction();
  }
  if (in_transaction()) return;
  const std::lock_guard lock(turn);
  if (compacting) return;
  gone_on_ = 0;
  try {
    (void)finish_lingering();
  } catch (...) {  // as in end_transaction()
  }
  if (is_orphaned_) close_anyway();
}

}  // namespace crawlstore
