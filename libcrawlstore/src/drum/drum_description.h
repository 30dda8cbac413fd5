// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The runs of a drum taken apart for people.

#include "container/description.h"

namespace crawlstore::drum {

/// Describes the whole table.
void describe_drum(container::Description& out, const container::RunSource& source);

/// Describes the footer and the blocks.
void describe_partition(container::Description& out, const container::RunSource& source);
/// Describes the footer, and the block that holds `place`.
void describe_partition_at(container::Description& out, const container::RunSource& source,
                           std::uint64_t place);

/// These describe headers.
void describe_key_run(container::Description& out, const container::RunSource& source);
void describe_aux_run(container::Description& out, const container::RunSource& source);
void describe_result_run(container::Description& out, const container::RunSource& source);

}  // namespace crawlstore::drum
