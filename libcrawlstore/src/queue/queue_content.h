// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kind::check and its siblings of queues: spec/queue.md#queue-tables and #queue-runs.

#include <vector>

#include "container/kind.h"
#include "container/verify_segments.h"

namespace crawlstore::queue {

/// memory  the index of the run, a fragment, a window
Result<container::RunContentPtr> check_queue_run(const container::PayloadSource& payload,
                                                 const container::ContentProgress& progress);

/// Checks that the queue has the runs and the entries that its table says.
Result<bool> verify_queue(container::SegmentVerifier& segments, const format::SegmentEntry& entry);

/// Describes the table: header and runs.
void describe_queue(container::Description& out, const container::RunSource& source);

/// Describes the footer, the index and the fragments of a run.
void describe_queue_run(container::Description& out, const container::RunSource& source);
void describe_queue_run_at(container::Description& out, const container::RunSource& source,
                           std::uint64_t place);

/// The rows of queues and of their runs: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::queue
