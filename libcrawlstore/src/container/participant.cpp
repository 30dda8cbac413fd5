// SPDX-License-Identifier: Apache-2.0
#include "container/participant.h"

#include <algorithm>

#include "container/store_impl.h"

namespace crawlstore {

void Participant::admit() {
  store->participants.push_back(this);
}

Result<void> Participant::leave() {
  if (store->in_transaction()) {
    return fail(Errc::kReentrant,
                "no DRUM, page database or queue can be closed inside a transaction");
  }
  const std::lock_guard lock(store->turn);
  if (closed) return {};
  const struct Ending {  // whatever happens
    Participant& part;
    ~Ending() {
      std::erase(part.store->participants, &part);
      part.close();
    }
  } ending{*this};
  CRAWLSTORE_TRY(store->commit_all());
  return {};
}

void Participant::let_go(const std::shared_ptr<Participant>& part) noexcept {
  StoreImpl& store = *part->store;
  try {
    if (!store.in_transaction()) {
      (void)part->leave();
      return;
    }
    const std::lock_guard lock(store.turn);
    if (!part->closed) store.lingering.push_back(part);
  } catch (...) {  // no memory; nothing of the store is written any more
    return;
  }
}

}  // namespace crawlstore
