// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of a store that the simulation's writer has open, and what it submits to them.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <crawlstore/drum.h>
#include <crawlstore/frontier.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/store.h>

#include "pages/simulation/model.h"

namespace crawlstore::testing::simulation {

/// A writer. Parts go before their store.
struct Parts {
  std::optional<Store> store;
  std::optional<Drum<std::uint64_t>> rounds;
  std::optional<PageDb> pages;
  std::optional<Queue> queue;
  std::optional<Frontier> frontier;

  void open_store(std::unique_ptr<Storage> storage);
  /// Opens the parts, and expects in them what `state` says.
  void open(const State& state);
  /// Closes the parts; what waits is committed.
  void close();
  void drop();
  void expect_waiting(const State& state) const;
};

/// A call of a queue, and what it has to return.
struct QueueChange {
  enum class Kind : std::uint8_t { kInsert, kUpdate, kRemove, kTake, kTrim, kClear };
  Kind kind = Kind::kInsert;
  QueuedPages pages;
  std::size_t count = 0;     ///< to take, or to keep
  QueuedPages taken;         ///< by kTake
  std::uint64_t result = 0;  ///< pages that are new, or did wait
};

/// A round: edits and calls of the queue and the frontier that a writer submits at once, with a key
/// for the DRUM.
struct Change {
  std::vector<Edit> edits;
  std::vector<QueueChange> queue;
  std::vector<FrontierChange> frontier;
};

Change random_change(Random& random, RandomCrawl& crawl, const State& state);

/// Changes the state, and notes what the calls have to return.
void apply(Change& change, State& state);
/// The same with parts; `round_count` is the one after it. A failure of the test if they return
/// something else.
Result<void> apply(const Change& change, std::uint64_t round_count, Parts& parts);

}  // namespace crawlstore::testing::simulation
