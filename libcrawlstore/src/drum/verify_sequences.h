// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Checks that no two waiting requests of a drum have one sequence: spec/drum.md#drum rule 13.

#include <cstdint>
#include <vector>

#include "container/verify_findings.h"

namespace crawlstore::drum {

/// The place of the sequence numbers of a key run whose content is whole.
///   lowest, highest      the first and the last: they ascend
///   column_offset_bytes  in the file, of `count` numbers of 4 bytes to be added to the lowest;
///                        0 if they are lowest + 0, 1, 2 ...
struct SequenceRun {
  SegmentId segment;
  std::uint64_t offset_bytes = 0;
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
  std::uint64_t count = 0;
  std::uint64_t column_offset_bytes = 0;
};

/// Returns the runs that hold a number of a run before them, in the order of lowest numbers. It is
/// exact as long as the numbers of one segment ascend from run to run.
///   errors  kCancelled; kIo, kTruncated where a column cannot be read
///   memory  17 MiB, and 100 bytes a run
///   cost    one pass over the columns; none when all runs are of one segment
Result<std::vector<SequenceRun>> find_shared_sequences(container::Verification& verification,
                                                       std::vector<SequenceRun> runs);

}  // namespace crawlstore::drum
