// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <crawlstore/store.h>

#include "container/writer.h"

namespace crawlstore::container {

/// Moves runs from the end of the file to free space nearer the front, then the directory, and
/// gives the rest of the file back. Only bytes are copied: checksums depend on segment and run, not
/// on the place. Each commit moves at most 64 MiB, or one run that is longer.
///
/// Readers keep what they pin; nothing moves that would only pile up behind a pin. Meanwhile the
/// file grows by no more than the longest run and three directories. Gaps that no run fits into are
/// closed by moving the runs behind them twice, but not for less than 1/128 of the live bytes.
/// The writer has no pending changes and no reserved extents. When the call ends early, what was
/// committed stands.
///   errors  kCancelled, those of Writer::commit() and of the storage
Result<CompactReport> compact(Writer& writer, const Progress& progress);

}  // namespace crawlstore::container
