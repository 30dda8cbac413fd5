// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "queue/run_front.h"

namespace crawlstore::queue {

/// Which entries are wanted. Empty: all.
using Filter = std::function<bool(const Entry&)>;

/// Takes those of the last `count` entries of `from` that are not wanted out, and appends them.
void set_unwanted_aside(std::size_t count, const Filter& is_wanted, std::vector<Entry>& from,
                        std::vector<Entry>& unwanted);

/// Joins runs into one, step by step, while the queue goes on to take from them.
/// Threads: one at a time. Memory: a fragment of each run. Errors: of damage, and of the sink; no
/// use is left then.
class RunJoin {
 public:
  /// What has left already is left out.
  static Result<RunJoin> start(RunSink& sink, std::span<const LiveRun> runs);

  /// Joins about `count` entries more, of which those that are not wanted are left out. True: it
  /// can finish.
  Result<bool> step(std::size_t count, const Filter& is_wanted = {});
  /// Entries up to it leave the runs meanwhile.
  void note_cut(const Entry& cut) { cut_ = std::max(cut_, cut); }
  [[nodiscard]] bool has(const LiveRun& run) const;
  /// The run, and up to where it has left meanwhile; without a run when nothing was wanted.
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
