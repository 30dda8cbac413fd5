// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The end record of a run: what the directory says of it, at the end of its own extent
/// (spec/format.md#end-of-a-run). Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "directory.h"
#include "layout.h"

namespace crawlstore::format {

/// A run, and its segment.
struct RunLabel {
  SegmentId segment;
  SegmentKind kind = SegmentKind::kDrum;
  SegmentId owner;
  RunId run;
  /// The first tile at or under a tile or a node. A run in a log took the place of all runs of its
  /// segment from this id up to its own; 0: of none, or its owner's table tells.
  std::uint64_t first = 0;
};
/// The directory does not tell `first`.
inline constexpr std::uint64_t kAnyFirst = ~std::uint64_t{0};

/// The label of a run of this segment.
inline RunLabel label_of(const SegmentEntry& entry, RunId run, std::uint64_t first = 0) {
  return {entry.id, entry.kind, entry.owner, run, first};
}

/// The record, but for its checksum.
RunEnd run_end(const RunLabel& label, std::uint64_t payload_bytes, std::uint64_t record_count);

/// The text of an end that differs, whose run may be whole.
inline constexpr const char* kRunEndText = "the end of a run and the directory differ";

/// Compares a run in the directory with what its end says.
///   top     bytes whose checksum was right
///   errors  kSegmentInvalid
Result<void> check_run_end(std::span<const std::byte> top, const Uuid& uuid, const RunLabel& label,
                           const RunRef& run);

}  // namespace crawlstore::format
