// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The table of a queue: its runs, up to which entry each of them has left, and its runs of
/// changes: spec/queue.md#queue-tables. Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "queue_run.h"

namespace crawlstore::format {

inline constexpr std::uint64_t kQueueTableBytesMax =
    sizeof(QueueTableHeader) + std::uint64_t{kRunsPerLogMax} * sizeof(QueueRunCut);

/// The part of a run that has left: all entries up to `cut`.
struct QueueRunState {
  RunId run;
  QueueEntry cut;  ///< order 0: none has left
  friend bool operator==(const QueueRunState&, const QueueRunState&) = default;
};

struct QueueTable {
  SegmentId entries;                ///< the log of all runs; 0: there are none
  std::uint64_t entry_count = 0;    ///< that have not left
  std::uint64_t page_count = 0;     ///< that wait: an entry of each, and some that are stale
  std::vector<QueueRunState> runs;  ///< of entries, ascending
  std::vector<RunId> changes;       ///< runs of changes, ascending; none of `runs`
  friend bool operator==(const QueueTable&, const QueueTable&) = default;
};

/// `table` keeps the rules.
std::vector<std::byte> encode_queue_table(const QueueTable& table);
/// errors  kSegmentInvalid (offset relative to the payload)
Result<QueueTable> parse_queue_table(std::span<const std::byte> payload);

}  // namespace crawlstore::format
