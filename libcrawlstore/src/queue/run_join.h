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
  static Result<RunJoin> start(RunSink& sink, std::span<const LiveRun> runs, Filter is_wanted = {});

  /// Joins about `count` entries more. True: it can finish.
  Result<bool> step(std::size_t count);
  /// Entries up to it leave the runs meanwhile.
  void note_cut(const Entry& cut) { cut_ = std::max(cut_, cut); }
  [[nodiscard]] bool has(const LiveRun& run) const;
  /// The run, and up to where it has left meanwhile; without a run when nothing was wanted.
  Result<LiveRun> finish();

 private:
  RunJoin(RunBuilder builder, Filter is_wanted)
      : builder_(std::move(builder)), is_wanted_(std::move(is_wanted)) {}

  RunFront front_;
  RunBuilder builder_;
  Filter is_wanted_;
  std::vector<Entry> fragment_;
  std::vector<Entry> unwanted_;
  Entry cut_ = kBeforeAll;
};

}  // namespace crawlstore::queue
