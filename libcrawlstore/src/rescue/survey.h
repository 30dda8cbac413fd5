// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The generations that a damaged file still has a directory of.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include <crawlstore/storage.h>
#include <crawlstore/tools/recover.h>

#include "container/reader.h"

namespace crawlstore::rescue {

/// Told the bytes that were read; its failure ends the work.
using Advance = std::function<Result<void>(std::uint64_t bytes)>;

struct Survey {
  format::Identity identity{};
  bool identity_was_lost = false;
  Generation newest;  ///< that the file knows of
  std::int64_t newest_commit_us = 0;
  struct Candidate {
    std::shared_ptr<container::Reader> reader;  ///< of what can be read of its directory
    container::DirectoryDamage damage;
    /// Names that were made up, and score arrays without a name, in a directory that was rebuilt.
    std::vector<Loss> losses{};
    /// Page databases with parts that were found there. These may be of different times.
    std::set<SegmentId> doubtful{};
  };
  /// Generations whose root is whole, newest first. None: only the ends of runs can tell.
  std::vector<Candidate> candidates;
};

/// Looks for the identity page, or a root that says the same; for generations at the superblocks,
/// and, where these do not lead to two, at the ends of all units.
///   errors  kNotACrawlFile, version errors; kCancelled
Result<Survey> survey(const std::shared_ptr<Storage>& storage, const Advance& advance);

}  // namespace crawlstore::rescue
