// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A run of origins taken apart for people.

#include "container/description.h"

namespace crawlstore::pages {

/// Footer, dictionary, index, and blocks.
void describe_origins(container::Description& out, const container::RunSource& source);

/// Footer, and the block that holds `place` of the payload.
void describe_origins_at(container::Description& out, const container::RunSource& source,
                         std::uint64_t place);

}  // namespace crawlstore::pages
