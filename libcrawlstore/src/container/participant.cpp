// SPDX-License-Identifier: Apache-2.0
#include "container/participant.h"

#include <algorithm>

#include "container/store_impl.h"

namespace crawlstore {

void Participant::admit() {
  store->participants.push_back(this);
}

Result<void> Participant::leave() {
  CRAWLSTORE_TRY(store->check_not_reporting());
  if (store->in_transaction()) {
    return fail(Errc::kReentrant,
                "no DRUM, page database or queue can be closed inside a transaction");
  }
  const std::lock_guard lock(store->turn);
  if (closed) return {};
  Result<void> committed = store->commit_all().map([](Generation) {});
  if (!committed && !store->writer->poisoned()) return committed;
  std::erase(store->participants, this);
  close();
  return committed;
}

void Participant::let_go(const std::shared_ptr<Participant>& part) noexcept {
  StoreImpl& store = *part->store;
  try {
    const std::lock_guard lock(store.turn);
    if (part->closed) return;
    store.lingering.push_back(part);
    (void)store.finish_lingering();
  } catch (...) {  // no memory, or a progress callback threw: it lingers if it can
    return;
  }
}

}  // namespace crawlstore
