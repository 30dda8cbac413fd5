// SPDX-License-Identifier: Apache-2.0
//
// A queue that is used step by step. Its first page says which step was the last, so that all
// others can be compared with what that step left.
#include <array>
#include <limits>
#include <stdexcept>

#include "container/crash_workloads.h"
#include "queue/queue_words.h"

namespace crawlstore::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Runs of the first steps are there when the record begins: two more, and small runs are joined.
constexpr std::uint64_t kStepsBefore = 6;

QueuedPages mark_of(std::uint64_t step) {
  return {{step, kInfinity}};
}

/// Runs a step on a queue, or on a model of one: its mark comes last. A step that fails half-way
/// leaves none.
template <class Insert, class Take>
void do_step(std::uint64_t step, const Insert& insert, const Take& take) {
  Random random(step);
  if (step > 0) take(1);
  insert(random_pages(random, 150));
  take(70);
  insert(random_pages(random, 5));
  insert(mark_of(step));
}

void do_step(Queue& queue, std::uint64_t step) {
  do_step(
      step, [&queue](const QueuedPages& pages) { must(queue.insert(pages)); },
      [&queue](std::size_t count) { must(queue.take(count)); });
}

QueuedPages state_after(std::uint64_t last) {
  QueueModel model;
  for (std::uint64_t step = 0; step <= last; ++step) {
    do_step(
        step, [&model](const QueuedPages& pages) { model.insert(pages); },
        [&model](std::size_t count) { model.take(count); });
  }
  return model.all();
}

/// After a crash: what waits is what a step left, and the queue goes on.
void use_queue(std::unique_ptr<Storage> storage) {
  auto store = open_store(std::move(storage));
  auto queue = must(Queue::open(store));
  const std::uint64_t count = queue.count();
  const QueuedPages taken = must(queue.take(kAllPages));
  if (taken.size() != count) throw std::runtime_error("a queue has another number of pages");
  const bool is_marked = !taken.empty() && taken.front().priority == kInfinity;
  if (is_marked && taken != state_after(taken.front().page)) {
    throw std::runtime_error("a queue has other pages than its last step left");
  }
  must(queue.insert(taken));
  do_step(queue, 99);
  must(store.commit());
  if (stored_pages(store).size() != queue.count()) {
    throw std::runtime_error("a commit of a queue has another number of pages");
  }
  must(queue.close());
  must(store.close());
}

/// Starts the record with a queue of some steps.
void begin_with_queue(Scenario& scenario) {
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    auto queue = must(Queue::open(store));
    for (std::uint64_t step = 0; step < kStepsBefore; ++step) {
      do_step(queue, step);
      must(store.commit());
    }
  }
  scenario.begin_with_bytes(contents(*scenario.file()));
}

void record_queue(Scenario& scenario) {
  begin_with_queue(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto queue = must(Queue::open(store));
  std::uint64_t step = kStepsBefore;
  for (; step < kStepsBefore + 4; ++step) {
    do_step(queue, step);
    must(store.commit());
    scenario.acknowledge();
  }
  must(queue.take(kAllPages));
  must(queue.insert(state_after(step - 1)));
  must(queue.close());
  scenario.acknowledge();
  queue = must(Queue::open(store));
  do_step(queue, step);
  must(queue.close());
  scenario.acknowledge();
  must(store.rollback());
  scenario.acknowledge();
}

void record_transactions(Scenario& scenario) {
  begin_with_queue(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto queue = must(Queue::open(store));
  std::uint64_t step = kStepsBefore;
  transact_and_compact(scenario, store, [&](bool commits) {
    do_step(queue, step);
    if (commits) ++step;
  });
}

}  // namespace

std::span<const CrashWorkload> queue_workloads() {
  static constexpr auto kWorkloads = std::to_array<CrashWorkload>({
      {"queue", record_queue, use_queue},
      {"queue in transactions and compaction", record_transactions, use_queue},
  });
  return kWorkloads;
}

}  // namespace crawlstore::testing
