// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Proves a file whole, or says what is not and where. Reads only; works on damaged files, which
/// other calls refuse to open. Covers the identity page, the four superblock copies, the gaps
/// between them, the current and the previous generation with all they refer to, and at the deep
/// level free space, for roots of newer generations.
/// Threads: none kept. Ownership: as in crawlstore.hpp.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/storage.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

enum class VerifyLevel : std::uint8_t {
  kQuick,   ///< superblocks and directories
  kNormal,  ///< every checksum
  kDeep,    ///< every checksum and every rule of every segment's format
};

enum class FindingKind : std::uint8_t {
  kDamaged,            ///< the newest generation, or what all need, is not whole
  kReducedRedundancy,  ///< one superblock copy or the previous generation is not whole: legal after
                       ///< a crash, repaired by the next writer
  kUnfinished,  ///< nothing is wrong: free space holds a newer generation, as a commit leaves
                ///< it that is under way or was killed (deep level only)
};

/// One thing that is not as it must be.
struct Finding {
  FindingKind kind{};
  Generation generation;       ///< 0 = of the file as a whole
  Error error;                 ///< code, segment, offset, text
  SegmentKind segment_kind{};  ///< of error.segment; 0: of none, or of one that no directory has
};

/// describe(finding.error), with advice that fits the finding: what is lost with a segment of its
/// kind, and what can be had again; or that nothing is.
std::string describe(const Finding& finding);

struct VerifyReport {
  std::vector<Finding> findings;
  std::uint64_t checked_bytes = 0;
  std::uint64_t checked_segments = 0;  ///< of the newest generation that is whole
  std::uint64_t generations = 0;       ///< 1, or 2 when there is a previous one
  /// Whether some finding is kDamaged.
  [[nodiscard]] bool damaged() const;
  /// Whether no finding is more than kUnfinished.
  [[nodiscard]] bool whole() const;
};

struct VerifyOptions {
  VerifyLevel level = VerifyLevel::kNormal;
  /// Called now and then with bytes done and (an estimate of) all; false stops with kCancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  /// Whether to map the file: see unmapped() in storage.h. For verify(path) only. If not, the deep
  /// level holds, at a time, of a partition four windows of at most 1 MiB and a block (ours
  /// have at most 32 MiB, any 4 GiB), of a log one run (ours have at most what the writer's
  /// memory_bytes and 64 MiB allow). It asks `progress` after each MiB that it loads.
  bool mapped = true;
  /// Called with each finding as soon as it is made: in the order of reading, not of the report. So
  /// whoever stops half-way has what was found until then.
  std::function<void(const Finding& finding)> sink{};
};

/// errors  kNotACrawlFile, version errors, kNotFound, kPermission, kIo; damage is a finding
/// cost    quick: O(directory); else one pass over the bytes of both generations, deep: of the file
[[nodiscard]] Result<VerifyReport> verify(const std::string& path,
                                          const VerifyOptions& options = {});
[[nodiscard]] Result<VerifyReport> verify(Storage& storage, const VerifyOptions& options = {});

}  // namespace crawlstore
#pragma GCC visibility pop
