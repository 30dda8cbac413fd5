// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules of queues: spec/format.md#queue-tables and #queue-runs.

#include <vector>

#include "container/kind.h"
#include "container/verify_segments.h"

namespace crawlstore::queue {

/// memory  the index of the run, a fragment, a window
Result<container::RunContentPtr> check_queue_run(const container::PayloadSource& payload,
                                                 const container::ContentProgress& progress);

/// Checks that the queue has the runs and the entries that its table says.
Result<bool> verify_queue(container::SegmentVerifier& segments, const format::SegmentEntry& entry);

/// The rows of queues and of their runs: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::queue
