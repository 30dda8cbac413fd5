// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The operations that a storage was asked for, in order: the input of the crash images.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/types.h>

namespace crawlstore::testing {

enum class OperationKind : std::uint8_t {
  kWrite,     ///< `bytes` at extent.offset_bytes
  kAllocate,  ///< the file grows to the extent's end when it was shorter
  kTruncate,  ///< to extent.offset_bytes
  kPunch,     ///< the extent reads as zero
  kSync,
  kEvict,  ///< pages that a failed sync lost leave the cache: reads see the disk again
  kMark,   ///< inserted by the test: `mark`
};

/// One call. A failed call has had no effect, but for a failed write, whose `bytes` are the part
/// that was written before it failed.
struct Operation {
  OperationKind kind = OperationKind::kMark;
  bool failed = false;
  Extent extent;
  std::vector<std::byte> bytes;
  std::string mark;
};

/// Everything that happened to a file since it held `initial`, which is durable.
struct OperationLog {
  std::vector<std::byte> initial;
  std::vector<Operation> operations;
};

/// "write 0x4000+0x1000", "sync failed", "mark acknowledged 5".
std::string describe(const Operation& operation);

}  // namespace crawlstore::testing
