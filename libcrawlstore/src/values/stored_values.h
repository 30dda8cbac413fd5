// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <crawlstore/values.h>

#include "container/directory_state.h"
#include "container/reader.h"

namespace crawlstore::values {

/// The segment of small values, or nullptr.
const format::SegmentEntry* find_values(const container::Directory& directory);

/// Reads the values of a segment, or none of nullptr. Errors name the segment.
Result<SmallValues> load(Storage& storage, const Uuid& store, const format::SegmentEntry* entry);

}  // namespace crawlstore::values
