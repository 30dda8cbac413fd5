// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A directory of what no table names any more, by the ends of runs.

#include <memory>

#include "rescue/survey.h"

namespace crawlstore::rescue {

/// Adds to a candidate the segments of the tables that it lacks, of the runs that the file still
/// has; without a candidate, makes the directory of all of them. Tables of owners tell what belongs
/// to them; a part that they name and that is not there becomes a run that is damaged, as one that
/// was overwritten would be.
///   known   null: there is no directory
///   errors  kDirectoryDamaged: nothing was found; kDirectoryInvalid: it breaks rules; kIo,
///   kCancelled
Result<Survey::Candidate> rebuild(const std::shared_ptr<Storage>& storage, const Survey& survey,
                                  const Survey::Candidate* known, const Advance& advance);

}  // namespace crawlstore::rescue
