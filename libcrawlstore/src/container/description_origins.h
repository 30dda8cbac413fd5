// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Describes runs of origins: describe_run() and describe_run_at() of a page_origins log.

#include "container/description.h"

namespace crawlstore::container {

/// Footer, dictionary, index, and blocks.
void describe_origins(Description& out, const RunSource& source);

/// Footer, and the block that holds `place` of the payload.
void describe_origins_at(Description& out, const RunSource& source, std::uint64_t place);

}  // namespace crawlstore::container
