// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs of the keys of a frontier's groups: spec/frontier.md#group-runs. Pure functions over bytes;
/// any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "aux_blocks.h"
#include "frontier_layout.h"

namespace crawlstore::format {

/// Keys of neighbouring groups. Spans point into the caller's memory, both ways. A run for
/// encode_group_run() has no blocks: it compresses where that pays. A parsed run has keys or
/// blocks; keys_of() reads both.
///   lengths  of each key; at least one
///   keys     one after another
struct GroupRun {
  std::uint32_t first_group = 0;
  std::span<const std::uint16_t> lengths;
  std::span<const std::byte> keys;
  AuxBlocks blocks{};
};

/// Appends the payload to `out`.
void encode_group_run(const GroupRun& run, std::vector<std::byte>& out);

/// Looks at no block. `bytes` must be 8-byte aligned in memory (columns are handed out as spans of
/// numbers).
///   errors  kSegmentInvalid, offset relative to `bytes`
///   cost    adds the lengths
Result<GroupRun> parse_group_run(std::span<const std::byte> bytes);

/// Reads every block: the rule of Auxiliary blocks that keys_of() does not keep.
///   errors  kSegmentInvalid, offset relative to the payload
Result<void> check_group_blocks(const GroupRun& run);

/// Gives the keys of a parsed run: next() of each length, and forget() when a key is not needed any
/// more. Memory: a block and a key.
inline AuxReader keys_of(const GroupRun& run) {
  return {run.keys, run.blocks};
}

}  // namespace crawlstore::format
