// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "container/superblocks.h"
#include "container/verify_findings.h"

namespace crawlstore::container {

/// Identity page and gaps. False: no more can be checked, the finding says why.
///   errors  kNotACrawlFile, version errors, kIo
Result<bool> verify_identity(Verification& verification);
Result<void> verify_gaps(Verification& verification);

/// The four copies as they were read, and why those that are not valid are not.
struct SuperblockReading {
  SuperblockSet set;
  std::array<std::array<Error, 2>, 2> errors{};
};

/// Reads all copies. One counts as not valid, or as another than the one beside it, only when two
/// readings gave the same bytes, `settle` apart: a writer may be between the two.
SuperblockReading read_superblock_copies(Storage& storage, const Uuid& uuid,
                                         std::chrono::milliseconds settle = {});

/// Notes every copy that is not what its slot asks for.
void verify_superblocks(Verification& verification, const SuperblockReading& reading);

}  // namespace crawlstore::container
