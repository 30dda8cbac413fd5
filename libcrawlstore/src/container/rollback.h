// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <crawlstore/store.h>

#include "container/verify.h"
#include "container/writer.h"

namespace crawlstore::container {

/// ROLLBACK of spec/commit.md from a whole generation N: publishes N+1 with the content of N-1.
/// Pending changes are dropped.
///   progress  bytes read of what only one of the two refers to, and all
///   errors    kNoPreviousGeneration, kCancelled, those of load_directory() and commit()
Result<Generation> rollback(Writer& writer, const Progress& progress = {});

/// ROLLBACK when generation N cannot be read: opens N-1, provided that nobody pins N or later. The
/// next commit, which may be empty, publishes N+1 with its content. When N can be read, but the
/// other slot is lost: gives N+1 up, which that slot may have led to, and the next commit publishes
/// N+2 with the content of N.
///   errors  kNoPreviousGeneration, kBusyPinned, kInvalidArgument (N is whole: use rollback())
Result<std::unique_ptr<Writer>> open_past_damage(std::unique_ptr<Storage> storage,
                                                 WriterOptions options);

/// The same, with that commit. Returns the generation published.
Result<Generation> rollback_damaged(std::unique_ptr<Storage> storage, WriterOptions options);

/// Roll forward of spec/commit.md#rollback: publishes the newest generation above N that stands in
/// free space, if it is whole. Returns it.
///   progress  bytes done and (an estimate of) all
///   errors    kNoPreviousGeneration when there is none; what is wrong with it; kLocked, kReplaced,
///             kBusyPinned, kCancelled
Result<Generation> roll_forward(std::unique_ptr<Storage> storage, std::uint32_t lock_wait_ms,
                                const std::function<bool(std::uint64_t, std::uint64_t)>& progress,
                                const KindSet& kinds);

}  // namespace crawlstore::container
