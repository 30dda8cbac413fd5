// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "queue/run_front.h"

namespace crawlstore::queue {

/// Whether an entry is wanted; without a function all are.
using Filter = std::function<bool(const Entry&)>;

/// Moves the unwanted ones of the last `count` entries of `from` to the end of `unwanted`.
void set_unwanted_aside(std::size_t count, const Filter& is_wanted, std::vector<Entry>& from,
                        std::vector<Entry>& unwanted);

/// Joins runs into one, step by step, while the queue goes on to take from them.
/// Threads: one at a time. Memory: a fragment of each run. Errors: of damage, and of the sink; no
/// use is left then.
class RunJoin {
 public:
  /// Begins a join, without the entries that have left already.
  static Result<RunJoin> start(RunSink& sink, std::span<const LiveRun> runs);

  /// Joins about `count` entries more, without those that are not wanted. Returns whether it can
  /// finish.
  Result<bool> step(std::size_t count, const Filter& is_wanted = {});
  /// Notes that entries up to `cut` leave the runs meanwhile.
  void note_cut(const Entry& cut) { cut_ = std::max(cut_, cut); }
  [[nodiscard]] bool has(const LiveRun& run) const;
  /// Returns the run with its cut; without a run if no entry was wanted.
  Result<LiveRun> finish();

 private:
  explicit RunJoin(RunBuilder builder) : builder_(std::move(builder)) {}

  RunFront front_;
  RunBuilder builder_;
  std::vector<Entry> fragment_;
  std::vector<Entry> unwanted_;
  Entry cut_ = kBeforeAll;
};

}  // namespace crawlstore::queue
