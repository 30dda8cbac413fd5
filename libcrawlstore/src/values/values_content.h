// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kind::check and its siblings of small values.

#include <vector>

#include "container/description.h"
#include "container/kind.h"
#include "container/verify_segments.h"

namespace crawlstore::values {

Result<container::RunContentPtr> check_values(const container::PayloadSource& payload,
                                              const container::ContentProgress& progress);
Result<bool> verify_values(container::SegmentVerifier& segments, const format::SegmentEntry& entry);
void describe_values(container::Description& out, const container::RunSource& source);

/// The row of small values: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::values
