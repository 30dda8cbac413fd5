// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Describes score arrays.

#include "container/description.h"

namespace crawlstore::scores {

/// Values, first pages, residuals, footer.
void describe_score_array(container::Description& out, const container::RunSource& source);

/// Footer, and the number that lies at `place` of the payload.
void describe_score_array_at(container::Description& out, const container::RunSource& source,
                             std::uint64_t place);

}  // namespace crawlstore::scores
