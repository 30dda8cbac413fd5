// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The writer of the simulation: attempts operations among trouble, compares what they lead to with
/// what they must, and goes on after errors and crashes.

#include <cstdint>
#include <functional>
#include <vector>

#include "pages/simulation/counts.h"
#include "pages/simulation/history.h"
#include "pages/simulation/machine.h"
#include "pages/simulation/parts.h"
#include "pages/simulation/readers.h"

namespace crawlstore::testing::simulation {

/// The result without its value.
template <class T>
Result<void> no_value(const Result<T>& result) {
  if (!result) return tl::unexpected<Error>(result.error());
  return {};
}

/// An operation of the writer, which is repeated when it fails.
struct Operation {
  std::function<Result<void>()> act;
  std::vector<State> on_the_way{};  ///< that it may publish
  std::vector<State> results{};     ///< one of them is published when it succeeds
  State next{};                     ///< in the writer's memory then
  bool is_durable = true;           ///< what is published then
  bool is_undone = true;            ///< when there is no space: in memory, too
};

class Writer {
 public:
  /// Begins with a store of some generations.
  Writer(std::uint64_t seed, Counts& counts);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { machine_.stop(); }

  /// Carries it out among trouble. Returns whether it succeeded; otherwise the writer goes on from
  /// what it finds.
  bool attempt(Operation operation);
  /// Submits a round to all parts: it waits.
  void submit();
  /// The machine dies: what comes back is one of the images that the disk may hold.
  void crash();
  /// A snapshot for the test itself.
  Snapshot look(bool previous = false);
  /// Expects no damage.
  void verify_deep();

  /// Tells whether the store needs somebody who decides: there is no more to simulate.
  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] RandomCrawl& crawl() { return crawl_; }
  [[nodiscard]] Machine& machine() { return machine_; }
  [[nodiscard]] Readers& readers() { return readers_; }
  [[nodiscard]] Parts& parts() { return parts_; }
  [[nodiscard]] const History& history() const { return history_; }
  /// The content of the newest generation, and this with all that waits.
  [[nodiscard]] const State& committed() const { return committed_; }
  [[nodiscard]] const State& now() const { return now_; }
  /// Closes the store, which another process opens.
  void reopen();

 private:
  /// A generation before the trouble begins.
  void begin(bool merges);
  void open(bool has_crashed);
  bool has_lost_slot();
  /// The process is killed, and another one opens the store.
  void give_up();
  /// Counts runs that came and went since the commit before, but not by a rollback.
  void count_item_runs(const Snapshot& snapshot);
  /// Whether the writer goes on, without what failed: nothing has changed, or what it may publish
  /// on the way.
  bool goes_on(const Error& error, const Operation& operation);
  /// A reader may hold what the cache showed and the disk never had: until it is closed, nobody can
  /// write.
  Result<void> without_lost_readers(const std::function<Result<void>()>& act);

  Random random_;
  Counts& counts_;
  RandomCrawl crawl_;
  Machine machine_;
  History history_;
  Readers readers_;
  State committed_;
  State now_;
  ItemRuns item_runs_;  ///< of what was committed
  Parts parts_;
  bool is_over_ = false;
};

}  // namespace crawlstore::testing::simulation
