// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "container/description.h"

namespace crawlstore::queue {

/// Describes the table: header and runs.
void describe_queue(container::Description& out, const container::RunSource& source);

/// Describes the footer, the index and the fragments of a run.
void describe_queue_run(container::Description& out, const container::RunSource& source);
void describe_queue_run_at(container::Description& out, const container::RunSource& source,
                           std::uint64_t place);

}  // namespace crawlstore::queue
