// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The stored links of a page database: the runs, the bytes of each part of them, and those that
/// compact() would leave.
///
/// Ownership: as in crawlstore.hpp. Threads: any number, of one view too.
/// Format: spec/links.md, link runs and dense link runs.

#include <array>
#include <cstdint>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// A run of links, one way.
struct LinkRunInfo {
  RunId id;
  Extent place;              ///< in the file
  bool is_incoming = false;  ///< rows are targets with their sources
  bool is_gone = false;      ///< incoming links that went
  bool is_dense = false;     ///< codec 2, which compact() writes; else codec 1
  std::uint64_t row_count = 0;
  std::uint64_t link_count = 0;
  std::uint64_t block_count = 0;
  /// The four together are as long as its place.
  std::uint64_t block_bytes = 0;
  std::uint64_t model_bytes = 0;  ///< of a dense run
  std::uint64_t index_bytes = 0;
  std::uint64_t frame_bytes = 0;  ///< footer, checksums, padding
};

/// Runs of out-links, oldest first, then of in-links.
///   cost  none: footers were read when the view was opened
[[nodiscard]] std::vector<LinkRunInfo> link_runs(const PageView& view);

/// Sums over the rows of dense runs, by what they consist of.
struct DenseRowSums {
  /// The parts of rows that bits tell of, in the order of the spec's table.
  enum Part : std::uint8_t { kTypes, kDegrees, kCopies, kExtraCounts, kFirstExtras, kGaps };
  static constexpr std::size_t kPartCount = 6;

  std::uint64_t plain_count = 0;      ///< rows that refer to none
  std::uint64_t referring_count = 0;  ///< rows that copy links of another row
  std::uint64_t equal_count = 0;      ///< rows that equal another one
  std::uint64_t link_count = 0;
  std::uint64_t copied_link_count = 0;  ///< of these: taken from another row
  std::array<std::uint64_t, kPartCount> bits{};
};

/// Reads all dense runs of one way.
///   progress  told of bytes read; false stops with kCancelled
///   errors    of damage; kCancelled
///   cost      20 ns a link; one pass over the runs
[[nodiscard]] Result<DenseRowSums> read_dense_rows(const PageView& view, bool incoming,
                                                   const Progress& progress = {});

/// Bytes of links in the file, each way.
struct LinkBytes {
  std::uint64_t out_bytes = 0;
  std::uint64_t in_bytes = 0;
};

/// Estimates the bytes of links after compact(), by 64 blocks of the largest run of each way, which
/// are coded as compact() would. Within a twentieth on the three real graphs that were measured;
/// exact where all is dense already; of small databases, and where most links went, it may be twice
/// as much, or half.
///   errors  of damage
///   cost    some 20 ms, and 64 reads of at most a megabyte each way
[[nodiscard]] Result<LinkBytes> estimate_compacted_links(const PageView& view);

}  // namespace crawlstore
#pragma GCC visibility pop
