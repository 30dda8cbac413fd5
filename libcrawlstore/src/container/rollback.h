// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "container/writer.h"

namespace crawlstore::container {

/// ROLLBACK of spec/format.md from a whole generation N: publishes N+1 with the content of N-1.
/// Pending changes are dropped. errors kNoPreviousGeneration, those of load_directory() and
/// commit()
Result<Generation> rollback(Writer& writer);

/// ROLLBACK when generation N cannot be read: opens N-1, provided that nobody pins N or later, and
/// publishes N+1 with its content. Returns the generation published.
///   errors  kNoPreviousGeneration, kBusyPinned, kInvalidArgument (N is whole: use rollback())
Result<Generation> rollback_damaged(std::unique_ptr<Storage> storage, WriterOptions options);

}  // namespace crawlstore::container
