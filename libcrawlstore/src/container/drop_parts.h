// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include <crawlstore/store.h>

#include "container/store_impl.h"

namespace crawlstore::container {

/// The segments that a commit without these parts removes: the parts, and all that is theirs.
/// Requires the turn, and that nothing lingers.
///   cost    O(segments)
///   errors  kUnknownName, kInvalidArgument: as Store::drop()
Result<std::vector<SegmentId>> find_segments_to_drop(const StoreImpl& store,
                                                     std::span<const PartName> parts);

}  // namespace crawlstore::container
