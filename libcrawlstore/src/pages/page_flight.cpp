// SPDX-License-Identifier: Apache-2.0
//
// Supersteps on a thread of their own, over a batch that is full, while the next one fills.
//
// Invariants:
// - Between launch and landing no generation is published: every commit lands the flight first.
// - The thread touches what is in the flight, the key table, the storage, and of the writer its
//   allocator and ids. It takes no lock of the store or the database.
// - While a flight is out, `state` and the log of events are those before its edits; a flight that
//   fails puts its edits back in front of those that came since, and the next superstep runs on the
//   thread that calls for it, which so gets its error.
#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "pages/page_db_impl.h"
#include "pages/superstep.h"

namespace crawlstore {
namespace {

/// A batch has numbers for twice as many (pages/batch.cpp).
constexpr std::size_t kBatchPagesMax = std::size_t{1} << 30;

}  // namespace

PageDb::Impl::Flight::Flight(container::Writer& writer, const pages::PagesState& from)
    : state(from), draft(writer) {
  if (state.table.events) draft.remove(state.table.events);
  state.table.events = {};
  state.table.event_count = 0;
}

/// On the thread of the flight.
Result<void> PageDb::Impl::Flight::run(drum::KeyTable* key_table) {
  const Progress progress = [this](std::uint64_t now, std::uint64_t total) {
    done_steps = now;
    expected_steps = total;
    return !is_stopped;
  };
  container::WorkSteps steps(nullptr, progress);
  const container::StepMeter meter(draft.storage());
  Result<void> ended = pages::Superstep(draft, state, key_table, *batch, steps)
                           .run()
                           .map([this](const SuperstepReport& stepped) { report = stepped; });
  if (ended) {  // the commit, under all locks, has little left to do then
    ended = draft.storage().sync();
    if (!ended) draft.poison();
  }
  cost = meter.cost();
  return ended;
}

Result<void> PageDb::Impl::Flight::wait(container::WorkSteps& steps) {
  constexpr std::chrono::milliseconds kLook{20};
  while (done.wait_for(kLook) != std::future_status::ready) {
    const auto looked = steps.look(done_steps, std::max<std::uint64_t>(done_steps, expected_steps));
    if (looked) continue;
    is_stopped = true;
    done.wait();
    return looked;
  }
  return {};
}

/// With room for the next batch beside the one in flight, which a superstep adds to. Without
/// flights it is the same, and so are the supersteps.
bool PageDb::Impl::fills(std::uint64_t memory_bytes) const {
  return batch->page_count() >= kBatchPagesMax ||
         2 * batch->memory_bytes() - batch->step_bytes() > memory_bytes;
}

/// Before the event is added. A superstep between edits of one page would show it half told: an
/// eighth more memory has room for the others.
bool PageDb::Impl::calls_for_superstep(const CrawlEvent& event) const {
  const std::uint64_t bytes = options.memory_bytes;
  return fills(bytes) && (!batch->ends_with(event) || fills(bytes + bytes / 8));
}

/// Sends the batch off. The writer's changes are empty.
Result<void> PageDb::Impl::launch(container::WorkSteps& steps) {
  auto next = std::make_unique<Flight>(*store->writer, state);
  next->written_edits = std::exchange(written_edits, 0);
  if (!spare_batch) spare_batch.emplace(state.table.has_urls, store->writer->identity().key_seed);
  next->batch = std::move(batch);
  batch = std::exchange(spare_batch, std::nullopt);
  flight = std::move(next);
  try {
    flight->done =
        std::async(std::launch::async,
                   [&out = *flight, table = keys ? &*keys : nullptr] { return out.run(table); });
    return {};
  } catch (const std::system_error&) {  // no more threads
    take_back_flight();
  }
  CRAWLSTORE_TRY(merge_locked(steps));
  return {};
}

/// A forked child has no such thread, and would wait for ever.
Result<void> PageDb::Impl::check_flight() const {
  return flight ? store->writer->storage().check_process() : Result<void>{};
}

/// Waits for the flight, and tells the writer what became of it. Without success its edits wait
/// again, and the commit goes on without them.
void PageDb::Impl::land() {
  if (!flight) return;
  const Result<void> done = flight->done.get();
  if (!done) return fail_flight(done.error());
  flight->draft.tell();
  in_commit->state = flight->state;
  in_commit->has_landed = true;
}

/// The flight ended, and nothing of it was published.
void PageDb::Impl::take_back_flight() {
  const auto failed = std::move(flight);
  if (keys) keys->dropped();
  failed->batch->append(*batch);
  batch->clear();
  spare_batch = std::exchange(batch, std::move(failed->batch));
  written_edits = failed->written_edits;
  flight_failed = true;
}

/// The flight ended with an error.
void PageDb::Impl::fail_flight(const Error& error) {
  store->report(name(), flight->cost, Result<SuperstepReport>(tl::unexpected<Error>(error)));
  take_back_flight();
}

void PageDb::Impl::stop_flight_if_told(container::WorkSteps& steps) {
  const std::lock_guard lock(mutex);
  if (!flight || steps.progress() == nullptr || !check_flight()) return;
  if (const auto waited = flight->wait(steps); !waited) fail_flight(waited.error());
}

/// The flight was published.
void PageDb::Impl::forget_flight() {
  flight->batch->clear();
  spare_batch = std::move(flight->batch);
  flight.reset();
}

/// Commits what the flight did; nothing of the batch is written for that.
Result<SuperstepReport> PageDb::Impl::land_and_commit(container::WorkSteps& steps) {
  if (!flight) return SuperstepReport{};
  if (steps.progress() != nullptr) {
    if (const auto waited = flight->wait(steps); !waited) {
      fail_flight(waited.error());
      return tl::unexpected<Error>(waited.error());
    }
  }
  landed_report = {};  // a commit in between may have left one
  only_lands = true;
  const auto committed = store->commit_all();
  only_lands = false;
  if (!committed) return tl::unexpected<Error>(committed.error());
  return landed_report;
}

Result<void> PageDb::Impl::merge_when_full() {
  const std::lock_guard no_commit(store->turn);
  CRAWLSTORE_TRY(store->check_open());
  const std::lock_guard lock(mutex);
  CRAWLSTORE_TRY(check_usable());
  if (!fills(options.memory_bytes)) return {};  // another thread was here
  return container::in_steps(store.get(), options.progress, [this](auto& steps) {
    return store->change([&]() -> Result<void> {
      CRAWLSTORE_TRY(land_and_commit(steps));
      if (options.parallel && !flight_failed) return launch(steps);
      CRAWLSTORE_TRY(merge_locked(steps));
      return {};
    });
  });
}

}  // namespace crawlstore
