// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A copy of what can be read of a generation.

#include <set>

#include <crawlstore/storage.h>

#include "container/reader.h"
#include "rescue/survey.h"

namespace crawlstore::rescue {

/// Writes the reader's generation into an empty storage: runs where they are, and behind them a
/// directory anew, which lists no held extents. Where a piece of a run is not whole, the copy has
/// zeros. Returns the runs with such pieces.
///   advance  told the bytes of each run
Result<std::set<RunId>> copy_readable(container::Reader& reader, Storage& target,
                                      const Advance& advance);

}  // namespace crawlstore::rescue
