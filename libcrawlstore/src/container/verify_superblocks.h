// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "container/superblocks.h"
#include "container/verify_findings.h"

namespace crawlstore::container {

/// Verify the identity page, and the gaps. The first returns false, with a finding, if no more can
/// be checked.
///   errors  kNotACrawlFile, version errors, kIo
Result<bool> verify_identity(Verification& verification);
Result<void> verify_gaps(Verification& verification);

/// The four copies as they were read, and the errors of those that are not valid.
struct SuperblockReading {
  SuperblockSet set;
  std::array<std::array<Error, 2>, 2> errors{};
};

/// Reads all copies. One counts as not valid, or as another than the one beside it, only when two
/// readings gave the same bytes, `settle` apart: a writer may be between the two.
SuperblockReading read_superblock_copies(Storage& storage, const Uuid& uuid,
                                         std::chrono::milliseconds settle = {});

/// Notes every copy that does not fit its slot.
void verify_superblocks(Verification& verification, const SuperblockReading& reading);

}  // namespace crawlstore::container
