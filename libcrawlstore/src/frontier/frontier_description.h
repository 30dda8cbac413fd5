// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "container/description.h"

namespace crawlstore::frontier {

/// Describes the table of a frontier.
void describe_frontier(container::Description& out, const container::RunSource& source);

/// Describes the header of a run of groups, and its keys.
void describe_group_run(container::Description& out, const container::RunSource& source);

/// Describes the footer, the directory, the index and the blocks of a run of items.
void describe_item_run(container::Description& out, const container::RunSource& source);
void describe_item_run_at(container::Description& out, const container::RunSource& source,
                          std::uint64_t place);

/// Describes the header of a run of steps, and the steps.
void describe_step_run(container::Description& out, const container::RunSource& source);

}  // namespace crawlstore::frontier
