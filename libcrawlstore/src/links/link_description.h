// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A link run taken apart for people.

#include "container/description.h"

namespace crawlstore::links {

/// Footer, index and block headers.
void describe_link_run(container::Description& out, const container::RunSource& source);

/// Footer, and the block or index entry that holds `place`, an offset in the payload.
void describe_link_run_at(container::Description& out, const container::RunSource& source,
                          std::uint64_t place);

}  // namespace crawlstore::links
