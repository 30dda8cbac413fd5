// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules that the payload of one run must keep by itself: spec/format.md, the sections on
/// segments. Works on hostile bytes, also while they change.

#include <cstdint>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "container/payload_window.h"

namespace crawlstore::container {

/// What the rest of the file must agree with.
///   key_bytes, value_bytes  not of auxiliary runs
///   key_min, max   not of auxiliary runs; of 16-byte keys the heads
///   sequence_min, max  of key runs and result runs
///   sequence_column_bytes  of key runs: where the numbers of 4 bytes begin in the payload that are
///                  to be added to sequence_min; 0: there are none, they are 0, 1, 2 ...
///   consumers      of key runs and result runs: those named, ascending
struct RunContent {
  std::uint64_t record_count = 0;
  std::uint16_t key_bytes = 0;
  std::int32_t value_bytes = 0;
  std::uint64_t key_min = 0;
  std::uint64_t key_max = 0;
  std::uint64_t sequence_min = 0;
  std::uint64_t sequence_max = 0;
  std::uint64_t sequence_column_bytes = 0;
  std::vector<std::uint16_t> consumers;
};

/// Checks the payload of a run of a partition, key log, auxiliary log or results log, or of a
/// record tile.
///   errors   kSegmentInvalid, offset relative to the payload, and those of `payload` and
///   `progress` memory   of a partition some windows, and one block; a run of a log is looked at as
///   a whole
Result<RunContent> check_run_content(SegmentKind kind, const PayloadSource& payload,
                                     const ContentProgress& progress);

}  // namespace crawlstore::container
