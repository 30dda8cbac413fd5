// SPDX-License-Identifier: Apache-2.0
#include "pages/simulation/parts.h"

#include <gtest/gtest.h>

#include <crawlstore/error.h>

#include "drum/memory_store.h"

namespace crawlstore::testing::simulation {
namespace {

constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;

DrumOptions drum_options() {
  DrumOptions options;
  options.bucket_count = 2;
  options.array_elements = 16;
  options.partition_keys_max = 100;
  options.parallel = false;
  return options;
}

PagesOptions pages_options() {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 2;
  options.bucket_keys_max = 20;
  options.parallel = false;
  return options;
}

std::vector<std::uint64_t> numbers_of(const QueuedPages& pages) {
  std::vector<std::uint64_t> numbers;
  for (const QueuedPage& page : pages) numbers.push_back(page.page);
  return numbers;
}

/// Pages that are known, and some that are not; of the priorities some are equal.
QueuedPages some_pages(Random& random, const State& state) {
  QueuedPages pages;
  for (std::uint64_t left = 1 + random.below(8); left > 0; --left) {
    pages.push_back({random.below(state.pages.pages().size() + 8),
                     static_cast<double>(random.below(12)) / 4 - 0.5});
  }
  return pages;
}

QueueChange random_queue_change(Random& random, const State& state) {
  using enum QueueChange::Kind;
  QueueChange change;
  switch (random.below(16)) {
    case 0:
    case 1:
      change.kind = kUpdate;
      change.pages = some_pages(random, state);
      break;
    case 2:
    case 3:
      change.kind = kRemove;
      change.pages = some_pages(random, state);
      break;
    case 4:
    case 5:
    case 6:
    case 7:
      change.kind = kTake;
      change.count = random.below(6);
      break;
    case 8:
      change.kind = random.below(4) == 0 ? kClear : kTrim;
      change.count = 10 + random.below(20);
      break;
    default:
      change.pages = some_pages(random, state);
  }
  return change;
}

/// Distinct ones that wait: a page that is removed twice does so once.
std::uint64_t remove(QueueModel& queue, const std::vector<std::uint64_t>& pages) {
  const std::size_t before = queue.count();
  for (const std::uint64_t page : pages) queue.remove(page);
  return before - queue.count();
}

void apply(QueueChange& change, QueueModel& queue) {
  using enum QueueChange::Kind;
  const std::size_t before = queue.count();
  switch (change.kind) {
    case kInsert:
      queue.insert(change.pages);
      change.result = queue.count() - before;
      return;
    case kUpdate:
      change.result = 0;
      for (const QueuedPage& page : change.pages) change.result += queue.contains(page.page);
      return queue.update(change.pages);
    case kRemove:
      change.result = remove(queue, numbers_of(change.pages));
      return;
    case kTake:
      change.taken = queue.take(change.count);
      return;
    case kTrim: {
      QueueModel kept;
      kept.insert(queue.first(change.count));
      change.result = before - kept.count();
      queue = kept;
      return;
    }
    case kClear:
      queue = {};
      return;
  }
}

/// The number that a call returns, but for what kTake does.
Result<std::uint64_t> call(const QueueChange& change, Queue& queue) {
  using enum QueueChange::Kind;
  switch (change.kind) {
    case kInsert: {
      CRAWLSTORE_TRY(const auto inserted, queue.insert(change.pages));
      EXPECT_EQ(inserted.new_count + inserted.updated_count, change.pages.size());
      return inserted.new_count;
    }
    case kUpdate:
      return queue.update(change.pages);
    case kRemove:
      return queue.remove(numbers_of(change.pages));
    case kTake: {
      CRAWLSTORE_TRY(const auto taken, queue.take(change.count));
      EXPECT_EQ(taken, change.taken) << "other pages leave the queue";
      break;
    }
    case kTrim:
      return queue.trim(change.count);
    case kClear:
      CRAWLSTORE_TRY(queue.clear());
      break;
  }
  return change.result;
}

}  // namespace

void Parts::open_store(std::unique_ptr<Storage> storage) {
  OpenOptions options;
  options.time_us = kFixedTimeUs;
  store.emplace(must(Store::open(std::move(storage), options)));
}

void Parts::open(const State& state) {
  rounds.emplace(must(Drum<std::uint64_t>::open(*store, kRounds, drum_options())));
  pages.emplace(must(PageDb::open(*store, "pages", pages_options())));
  queue.emplace(must(Queue::open(*store)));
  frontier.emplace(must(Frontier::open(*store, Frontier::kDefaultName, frontier_options())));
  expect_waiting(state);
}

void Parts::close() {
  must(frontier->close());
  must(queue->close());
  must(pages->close());
  must(rounds->close());
  frontier.reset();
  queue.reset();
  pages.reset();
  rounds.reset();
}

void Parts::drop() {
  frontier.reset();
  queue.reset();
  pages.reset();
  rounds.reset();
  store.reset();
}

void Parts::expect_waiting(const State& state) const {
  EXPECT_EQ(pages->status().edit_count, state.waiting.size());
  EXPECT_EQ(pages->status().page_count, state.merged_count);
  EXPECT_EQ(queue->count(), state.queue.count());
  EXPECT_EQ(frontier->waiting_count(), state.frontier.waiting_count());
  EXPECT_EQ(frontier->leased_count(), state.frontier.leased_count());
}

Change random_change(Random& random, RandomCrawl& crawl, const State& state) {
  Change change;
  for (std::uint64_t left = 1 + random.below(5); left > 0; --left) {
    change.edits.push_back(crawl.next());
  }
  for (std::uint64_t left = random.below(4); left > 0; --left) {
    change.queue.push_back(random_queue_change(random, state));
  }
  for (std::uint64_t left = random.below(5); left > 0; --left) {
    change.frontier.push_back(random_frontier_change(random, state.frontier));
  }
  return change;
}

void apply(Change& change, State& state) {
  ++state.round_count;
  for (const Edit& edit : change.edits) state.add(edit);
  for (QueueChange& queue_change : change.queue) apply(queue_change, state.queue);
  for (FrontierChange& frontier_change : change.frontier) apply(frontier_change, state.frontier);
}

Result<void> apply(const Change& change, std::uint64_t round_count, Parts& parts) {
  CRAWLSTORE_TRY(parts.rounds->check_update(round_count * kSpread));
  for (const Edit& edit : change.edits) {
    CRAWLSTORE_TRY(edit.as_event([&](const CrawlEvent& event) { return parts.pages->add(event); }));
  }
  for (const QueueChange& queue_change : change.queue) {
    CRAWLSTORE_TRY(const std::uint64_t result, call(queue_change, *parts.queue));
    EXPECT_EQ(result, queue_change.result) << "call " << static_cast<int>(queue_change.kind);
  }
  for (const FrontierChange& frontier_change : change.frontier) {
    CRAWLSTORE_TRY(call(frontier_change, *parts.frontier));
  }
  return {};
}

}  // namespace crawlstore::testing::simulation
