// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include <crawlstore/verify.h>

#include "container/kind.h"
#include "format/layout.h"

namespace crawlstore::container {

/// The text of a finding of no generation, about damage that loses nothing.
inline constexpr const char* kGapText = "a gap beside the superblock copies is not zero";

/// One call of verify(): its options and its findings so far.
struct Verification {
  Storage& storage;
  const VerifyOptions& options;
  const KindSet& kinds;
  format::Identity identity{};
  VerifyReport report{};
  std::uint64_t total_bytes = 0;
  std::uint64_t done_bytes = 0;  ///< like report.checked_bytes, but a second pass counts again
  /// Segments of one owner with more records are not compared with each other.
  std::uint64_t compared_max = ~std::uint64_t{0};
  std::chrono::milliseconds settle{};  ///< of read_superblock_copies()

  /// Notes a finding. At most kFindingsMax are kept, and one that says "damaged" always.
  void found(FindingKind kind, Generation generation, const Error& error);
  /// Notes what the failure of a reading means: a finding when it is about the file, else an error
  /// that ends the verification.
  Result<void> found_or_fail(FindingKind kind, Generation generation, const Error& error);
  /// Calls the caller's progress. errors kCancelled
  Result<void> advance(std::uint64_t bytes);

  static constexpr std::size_t kFindingsMax = 1000;
};

}  // namespace crawlstore::container
