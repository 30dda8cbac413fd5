// SPDX-License-Identifier: Apache-2.0
// How a part comes and goes, which are calls of its store.
#include "container/store_call.h"

namespace crawlstore {

void Participant::admit() {
  store->participants.insert(this);
}

Result<void> Participant::leave() {
  CRAWLSTORE_TRY(
      store->check_outside("no DRUM, page database or queue can be closed inside a transaction"));
  const std::lock_guard lock(store->turn);
  if (closed) return {};
  Result<void> committed = store->commit_all().map([](Generation) {});
  if (!committed && !store->writer->poisoned()) return committed;
  store->participants.erase(this);
  close();
  return committed;
}

void Participant::let_go(const std::shared_ptr<Participant>& part) noexcept {
  StoreImpl& store = *part->store;
  try {
    // Whatever runs the function may hold locks, and use the part.
    if (CallerFunction::is_inside(store)) return store.linger(part);
    const StoreCall call(part);
    const std::lock_guard lock(store.turn);
    if (part->closed) return;
    store.linger(part);
    (void)store.finish_lingering();
  } catch (...) {  // no memory, or a progress callback threw: it lingers if it can
    return;
  }
}

}  // namespace crawlstore
