// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Reads all copies; a copy counts as not valid only when two readings gave the same bytes.
SuperblockReading read_superblock_copies(Storage& storage, const Uuid& uuid);

/// Notes every copy that is not what its slot asks for.
void verify_superblocks(Verification& verification, const SuperblockReading& reading);

}  // namespace crawlstore::container
