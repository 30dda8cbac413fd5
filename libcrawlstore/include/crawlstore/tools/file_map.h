// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The use of each byte of the file, as one generation sees it: what a map of the file draws.
///
/// Ownership: as in crawlstore.hpp. Threads: any. Nothing is read but the length of the file: the
/// snapshot has its directory in memory. Layout and words are those of spec/format.md.

#include <cstdint>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

enum class ExtentUse : std::uint8_t {
  kIdentity,    ///< the identity page
  kSuperblock,  ///< a superblock copy
  kZeros,       ///< between these: zeros that nobody uses
  kRoot,        ///< the directory root
  kTable,       ///< a table of the directory
  kHeldTable,   ///< a part of the list of held extents
  kRun,         ///< a run of a segment, with its checksums
  kHeld,        ///< kept for generations before this one
  kFree,        ///< below the high water mark, neither live nor held
  kBehind,      ///< behind the high water mark: free, or what a writer has begun since
};

/// A piece of the file with one use. The fields that do not belong to its use are zeros.
struct ExtentInfo {
  Extent extent;
  Generation born;     ///< kTable, kHeldTable, kRun, kHeld: the first generation that refers to it
  Generation retired;  ///< kHeld: the first that no longer does
  SegmentId segment;   ///< kRun
  RunId run;           ///< kRun
  SegmentKind kind{};  ///< kRun: of the segment
  ExtentUse use{};
  std::uint8_t slot = 0;  ///< kSuperblock
  std::uint8_t copy = 0;  ///< kSuperblock
};

/// Ascending; no two share a byte, none is empty, and together they are the whole file as long as
/// it is now. What this generation's list names behind the end of the file is left out. A screen
/// keeps the list and finds its window by binary search.
///   cost    O(n log n) in the extents of the directory, 64 bytes each; no I/O
///   errors  kIo, kForked
[[nodiscard]] Result<std::vector<ExtentInfo>> extents(const Snapshot& snapshot);

/// `identity`, `superblock`, `zeros`, `root`, `table`, `held_table`, `run`, `held`, `free`,
/// `behind`.
std::string_view name_of(ExtentUse use);

}  // namespace crawlstore
#pragma GCC visibility pop
