// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The generations that a damaged file still has a directory of.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <crawlstore/storage.h>

#include "container/reader.h"

namespace crawlstore::rescue {

/// Told the bytes that were read; its failure ends the work.
using Advance = std::function<Result<void>(std::uint64_t bytes)>;

struct Survey {
  format::Identity identity{};
  bool identity_was_lost = false;
  Generation newest;  ///< that the file knows of
  struct Candidate {
    std::shared_ptr<container::Reader> reader;  ///< of what can be read of its directory
    container::DirectoryDamage damage;
  };
  /// Generations whose root is whole, newest first.
  std::vector<Candidate> candidates;
};

/// Looks for the identity page, or a root that says the same; for generations at the superblocks,
/// and, where these do not lead to two, at the ends of all units.
///   errors  kNotACrawlFile, version errors, kDirectoryDamaged: there is no directory; kCancelled
Result<Survey> survey(const std::shared_ptr<Storage>& storage, const Advance& advance);

}  // namespace crawlstore::rescue
