// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shared ownership of runs: one belongs to the states that name it.

#include <atomic>
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
  /// A run that stays where it is, in a generation that is read.
  explicit Run(std::shared_ptr<RunReader> reader)
      : segment_(reader->segment()), ref_(reader->run()), reader_(std::move(reader)) {}
  Run(std::shared_ptr<Runs> runs, SegmentId segment, const format::RunRef& ref)
      : segment_(segment), ref_(ref), runs_(std::move(runs)) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  [[nodiscard]] const format::RunRef& ref() const { return ref_; }
  /// For work under way, which reads the run where it is: compaction lets it stay there.
  using Use = std::shared_ptr<const Run>;
  static Use use(std::shared_ptr<const Run> run);
  /// Makes the reader at the first call: most runs of a DRUM of many buckets need none. It stays,
  /// and moves with the run.
  [[nodiscard]] std::shared_ptr<const RunReader> reader() const;

 private:
  friend class Runs;
  const SegmentId segment_;
  format::RunRef ref_;
  mutable std::shared_ptr<RunReader> reader_;  // knows another `born` perhaps
  mutable std::atomic<std::uint32_t> use_count_{0};
  const std::shared_ptr<Runs> runs_;  // whose mutex guards what follows, and reader_
  Run* before_ = nullptr;
  Run* after_ = nullptr;
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
  /// Those that work under way uses.
  [[nodiscard]] std::set<RunId> busy();
  /// Compaction has published these elsewhere.
  void moved(const std::map<RunId, format::RunRef>& places);
  /// The writer goes. Runs that are in no generation are lost with it.
  void end();

 private:
  friend class Run;
  /// The first run of the list that a run is in.
  [[nodiscard]] Run*& list_of(const Run& run) {
    return run.ref_.born.value == 0 ? unpublished_ : published_;
  }
  void link(Run& run) noexcept;
  void unlink(Run& run) noexcept;
  void forget(Run& run) noexcept;

  std::mutex mutex_;  // guards what follows
  SegmentWriter* writer_;
  Run* published_ = nullptr;
  Run* unpublished_ = nullptr;
};

}  // namespace crawlstore::container
