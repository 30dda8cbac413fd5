// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of a dense link run for people: spec/format.md#dense-link-runs.

#include <cstdint>

#include "container/description.h"
#include "format/layout.h"

namespace crawlstore::links {

/// All parts, up to Description::entries_max() of each. Of a footer that was parsed.
void describe_dense_run(container::Description& out, const container::RunSource& source,
                        const format::LinkRunFooter& footer);
/// The block, model or group that holds `place` of the payload.
void describe_dense_run_at(container::Description& out, const container::RunSource& source,
                           const format::LinkRunFooter& footer, std::uint64_t place);

}  // namespace crawlstore::links
