// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A link run taken apart for people. Part of describe_run() and describe_run_at().

#include "container/description.h"

namespace crawlstore::container {

/// Footer, index and block headers.
void describe_link_run(Description& out, const RunSource& source);

/// Footer, and the block or index entry that holds `place`, an offset in the payload.
void describe_link_run_at(Description& out, const RunSource& source, std::uint64_t place);

}  // namespace crawlstore::container
