// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Keys of a frontier's groups, from a damaged run.

#include <cstddef>
#include <optional>
#include <vector>

#include "container/run.h"

namespace crawlstore::rescue {

/// The bytes of a key; nothing: they cannot be read.
using GroupKey = std::optional<std::vector<std::byte>>;

/// Reads the keys that do not lie in damaged chunks, nor in blocks that do. Returns one for each
/// group of the run: none is there where the lengths are damaged.
///   first_group  number of the first one
///   errors       of the storage; kSegmentInvalid: it is a run of other groups
///   memory       twice that of the keys
Result<std::vector<GroupKey>> read_group_keys(const container::RunReader& reader,
                                              std::size_t first_group);

}  // namespace crawlstore::rescue
