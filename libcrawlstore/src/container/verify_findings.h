// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

#include <crawlstore/tools/verify.h>

#include "container/directory_state.h"
#include "container/kind.h"
#include "format/layout.h"

namespace crawlstore::container {

/// Texts of findings about damage that loses nothing; the first is of no generation.
inline constexpr const char* kGapText = "a gap beside the superblock copies is not zero";
inline constexpr const char* kPaddingText = "padding of a run is not zero";

/// One call of verify(): its options and its findings so far.
struct Verification {
  Storage& storage;
  const VerifyOptions& options;
  const KindSet& kinds;
  format::Identity identity{};
  VerifyReport report{};
  std::vector<const Directory*> directories{};  ///< that are whole, and live as long as this
  std::uint64_t total_bytes = 0;
  std::uint64_t done_bytes = 0;  ///< like report.checked_bytes, but a second pass counts again
  /// Segments of one owner with more records are not compared with each other.
  std::uint64_t compared_max = ~std::uint64_t{0};
  std::chrono::milliseconds settle{};  ///< of read_superblock_copies()

  /// Notes a finding. At most kFindingsMax are kept, and one that says "damaged" always.
  void found(FindingKind kind, Generation generation, const Error& error);
  /// Notes what a failed reading means: a finding if it is about the file, or an unknown feature of
  /// the previous generation; else an error that ends the verification.
  Result<void> found_or_fail(FindingKind kind, Generation generation, const Error& error);
  /// Calls the caller's progress. errors kCancelled
  Result<void> advance(std::uint64_t bytes);

  /// The kind of a segment; 0 = no directory has it.
  [[nodiscard]] SegmentKind kind_of(SegmentId segment) const;

  static constexpr std::size_t kFindingsMax = 1000;
};

}  // namespace crawlstore::container
