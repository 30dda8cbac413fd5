// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The runs of a file by their ends, for parts that no directory names any more.

#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/storage.h>

#include "format/run_end.h"
#include "rescue/survey.h"

namespace crawlstore::rescue {

struct FoundRun {
  format::RunLabel label;
  format::RunRef run;     ///< as a directory has it, but for `born`, which is 0
  bool is_whole = false;  ///< all its checksums are right
};

/// Ids above are nobody's: they would take two thousand years.
inline constexpr std::uint64_t kIdsMax = std::uint64_t{1} << 62;

/// Finds the runs of the store, ascending by id, whose extents overlap neither each other nor
/// `taken`, and whose ids are below `next_run_id`. If runs overlap, a whole one stays before one
/// that is not, then the one of the higher id. If runs have one segment and id, likewise one stays.
/// Ids of a commit that did not end are given again, so that runs of several segments may have one.
///   taken    extents that a directory refers to, or lists as held
///   memory   some 120 bytes a run: at most one a unit of the file is found
///   cost     the end of each unit; for each end that looks right at most 65 KiB and a unit; then
///            each run once, until these are as many bytes as twice the file
///   errors   kIo of the size, kCancelled
Result<std::vector<FoundRun>> find_runs(Storage& storage, const Uuid& uuid,
                                        const std::vector<Extent>& taken, std::uint64_t next_run_id,
                                        const Advance& advance);

}  // namespace crawlstore::rescue
