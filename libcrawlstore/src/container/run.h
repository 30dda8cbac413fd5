// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shared ownership of runs: one belongs to the states that name it.

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "container/directory_state.h"
#include "container/run_io.h"
#include "format/directory.h"

namespace crawlstore::container {

class Runs;

/// A run in the file, shared by the states that name it. Its id and bytes never change; its place
/// and `born` do when a commit publishes it and when compaction moves it, with all locks of the
/// store held. When the last state is gone that names a run which no commit has published, its
/// extent goes back to the writer.
/// Threads: any number, but for those changes.
class Run {
 public:
  /// Without `runs` it stays where it is, in a generation that is read.
  explicit Run(std::shared_ptr<const RunReader> reader, std::shared_ptr<Runs> runs = nullptr)
      : ref_(reader->run()), reader_(std::move(reader)), runs_(std::move(runs)) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  [[nodiscard]] const format::RunRef& ref() const { return ref_; }
  [[nodiscard]] const RunReader& reader() const { return *reader_; }

 private:
  friend class Runs;
  format::RunRef ref_;
  std::shared_ptr<const RunReader> reader_;  // knows another `born` perhaps
  std::shared_ptr<Runs> runs_;
};

using RunPtr = std::shared_ptr<const Run>;

/// The runs that open parts of a store name.
/// Threads: any number.
class Runs : public std::enable_shared_from_this<Runs> {
 public:
  explicit Runs(SegmentWriter& writer) : writer_(&writer) {}

  /// A run of the directory; or one that was just written, whose extent it owns from now on.
  RunPtr add(SegmentId segment, const format::RunRef& ref);
  /// A commit has succeeded: the runs that it published own no extent any more.
  void published(const Directory& directory);
  /// Compaction has published these elsewhere.
  void moved(const std::map<RunId, format::RunRef>& places);
  /// The writer goes. What is in no generation is lost with it.
  void end();

 private:
  friend class Run;
  [[nodiscard]] std::shared_ptr<const RunReader> reader_of(SegmentId segment,
                                                           const format::RunRef& ref) const;
  void forget(Run& run) noexcept;

  std::mutex mutex_;  // guards what follows
  SegmentWriter* writer_;
  std::set<Run*> runs_;
  std::set<Run*> unpublished_;  // of runs_
};

}  // namespace crawlstore::container
