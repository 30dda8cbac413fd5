// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The runs of a queue in the file, and its entries in the words of queue.h.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <crawlstore/queue.h>

#include "container/directory_state.h"
#include "container/run.h"
#include "format/queue_table.h"
#include "queue/page_queue.h"

namespace crawlstore::queue {

std::vector<QueuedPage> pages_of(std::span<const Entry> entries);

/// Reads the index of a run.
///   errors  kSegmentInvalid, with the segment and the place in the file; of damage
Result<StoredRunPtr> open_run(container::RunPtr run);

class FileRun final : public RunPayload {
 public:
  explicit FileRun(container::RunPtr run) : run_(std::move(run)), reader_(run_->reader()) {}
  [[nodiscard]] Result<std::span<const std::byte>> view(Extent place) const override {
    return reader_->bytes(place.offset_bytes, place.length_bytes);
  }
  void prefetch(Extent place) const override { reader_->prefetch(place); }
  [[nodiscard]] const format::RunRef& ref() const { return run_->ref(); }

 private:
  container::RunPtr run_;
  std::shared_ptr<const container::RunReader> reader_;  // of each block, without a lock
};

/// The reference to a run that is a FileRun.
const format::RunRef& ref_of(const StoredRun& run);

/// The segments of a queue in a directory.
struct QueueSegments {
  const format::SegmentEntry* queue = nullptr;
  const format::SegmentEntry* entries = nullptr;  ///< nullptr: it has no runs
  format::QueueTable table;
};
/// Reads the table. errors  kSegmentInvalid: the log is not what the table says; of damage
Result<QueueSegments> read_segments(const container::Directory& directory,
                                    const format::SegmentEntry& queue,
                                    std::span<const std::byte> table);

/// Reads the indexes of all runs.
///   run_of  container::RunPtr(const format::RunRef&)
///   errors  kSegmentInvalid, with the segment and the place in the file; of damage
template <class RunOf>
Result<PageQueue::State> open_runs(const QueueSegments& found, const RunOf& run_of) {
  PageQueue::State state{{}, found.table.entry_count, found.table.page_count, {}};
  const auto open = [&](RunId run) { return open_run(run_of(*found.entries->find_run(run))); };
  for (const format::QueueRunState& run : found.table.runs) {
    CRAWLSTORE_TRY(auto stored, open(run.run));
    state.runs.push_back({std::move(stored), run.cut});
  }
  for (const RunId run : found.table.changes) {
    CRAWLSTORE_TRY(auto stored, open(run));
    state.changes.push_back(std::move(stored));
  }
  return state;
}

}  // namespace crawlstore::queue
