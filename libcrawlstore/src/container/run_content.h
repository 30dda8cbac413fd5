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
///   key_bytes, value_bytes  not of auxiliary and event runs
///   key_min, max   not of auxiliary and event runs; of 16-byte keys the heads
///   sequence_min, max  of key runs and result runs
///   sequence_column_bytes  of key runs: where the numbers of 4 bytes begin in the payload that are
///                  to be added to sequence_min; 0: there are none, they are 0, 1, 2 ...
///   consumers      of key runs and result runs: those named, ascending
///   page_min, max  of origin runs and link runs: the first and the last page
///   target_max     of link runs: the highest link; 0 without links
///   crawled_count  of record tiles: pages that were crawled at least once
///   names_urls     of event runs: some page is named by a URL
///   index_max      of event runs: the highest index that names a page without a URL
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
  std::uint64_t page_min = 0;
  std::uint64_t page_max = 0;
  std::uint64_t target_max = 0;
  std::uint64_t crawled_count = 0;
  bool names_urls = false;
  std::uint64_t index_max = 0;
};

/// Kinds whose payloads are partitions.
constexpr bool is_partition_kind(SegmentKind kind) {
  return kind == SegmentKind::kDrumPartition || kind == SegmentKind::kFreshKeys;
}

/// Checks the payload of a run of any kind but `drum` and `pages`.
///   errors   kSegmentInvalid, offset relative to the payload, and those of `payload` and
///   `progress` memory   of a partition, an origin run or a link run some windows, and one block;
///   another run is looked at as a whole
Result<RunContent> check_run_content(SegmentKind kind, const PayloadSource& payload,
                                     const ContentProgress& progress);

}  // namespace crawlstore::container
