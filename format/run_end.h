// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The end record of a run: what the directory says of it, at the end of its own extent
/// (spec/container.md#end-of-a-run). Pure functions over bytes; any thread.

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

/// A run that is known from its end alone. `born` is 0, which nothing in a run says.
struct EndedRun {
  RunLabel label;
  RunRef run;
};

/// Returns the run that ends at `end_bytes` of the file, by what its end says of itself: the magic
/// is right, and the extent lies where extents may lie. The checksum of the run is not known yet.
///   end  the 64 bytes before `end_bytes`, which is a multiple of the unit
std::optional<EndedRun> run_of_end(std::span<const std::byte> end, std::uint64_t end_bytes);

/// Puts the checksum that a directory has of the run into `ended`. Returns whether the end is that
/// of this store.
///   top  the last level of the run's checksums and all after it
bool prove_run_end(std::span<const std::byte> top, const Uuid& uuid, EndedRun& ended);

}  // namespace crawlstore::format
