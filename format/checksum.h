// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Seeded XXH3-64 checksums, and the checksum tree that covers a payload:
/// spec/container.md#checksums. Pure functions; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/types.h>

#include "layout.h"

namespace crawlstore::format {

/// The bytes that a checksum covers; part of its seed, so that pieces of different sorts cannot be
/// swapped.
enum class ChecksumDomain : std::uint64_t {
  kIdentity = 1,
  kSuperblock = 2,
  kRoot = 3,
  kTable = 4,
  kHeldTable = 5,
  kChunk = 6,
  kRunEnd = 7,
};

/// The seed of a piece: XXH3-64 (unseeded) of uuid and four numbers (spec/container.md#seeds).
std::uint64_t checksum_seed(const Uuid& uuid, ChecksumDomain domain, std::uint64_t a,
                            std::uint64_t b, std::uint64_t c);

/// The seed of what is covered as a whole extent: a root, a table, a held table.
///   born  the generation that wrote it
std::uint64_t extent_seed(const Uuid& uuid, ChecksumDomain domain, Generation born,
                          std::uint64_t offset_bytes);

/// XXH3-64 of `bytes` with `seed`.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed);

/// The places of the pieces of a run's extent. All offsets are relative to the extent's start.
/// Level 0 is the table over the chunks of the payload; level i + 1 is the table over the chunks of
/// level i; the last level has at most one chunk and is covered, together with the zeros and the
/// end record behind it, by the checksum in the directory.
struct ChecksumTree {
  struct Level {
    std::uint64_t offset_bytes = 0;
    std::uint64_t entry_count = 0;
    [[nodiscard]] std::uint64_t length_bytes() const { return entry_count * 8; }
  };
  std::uint64_t payload_bytes = 0;
  std::uint64_t padded_payload_bytes = 0;  ///< payload rounded up to 8
  std::uint64_t extent_bytes = 0;          ///< multiple of the unit
  std::vector<Level> levels;               ///< at least one

  [[nodiscard]] std::uint64_t chunk_count() const { return levels.front().entry_count; }
  /// Start and length of what the directory's checksum covers: top level, zeros, end record.
  [[nodiscard]] Extent top() const {
    return {levels.back().offset_bytes, extent_bytes - levels.back().offset_bytes};
  }
};

/// Length of the extent that holds `payload_bytes` (> 0, < 2^48) and its tree.
std::uint64_t extent_bytes(std::uint64_t payload_bytes);

ChecksumTree checksum_tree(std::uint64_t payload_bytes);

/// Names a run for seeding.
struct RunName {
  Uuid uuid;
  SegmentId segment;
  RunId run;
};

/// The seed of chunk `index` of `level` (0 = payload chunks, 1 = chunks of level 0 ...; the top is
/// covered under level = levels.size(), index 0).
std::uint64_t chunk_seed(const RunName& name, std::uint64_t level, std::uint64_t index);

/// The checksum of the end of a run.
///   top  the last level of the checksum tree and all behind it: the last 64 bytes are the end
std::uint64_t run_end_checksum(std::span<const std::byte> top, const Uuid& uuid, const RunEnd& end);

/// Puts the end there, with its checksum.
void seal_run_end(std::span<std::byte> top, const Uuid& uuid, RunEnd end);

/// Collects the chunk checksums of a payload that is written from front to back, then gives the
/// bytes that go behind it.
class ChecksumTreeBuilder {
 public:
  explicit ChecksumTreeBuilder(const RunName& name) : name_(name) {}

  /// Adds the next chunk: kChunkBytes each, the last one any length, padded to 8 by the caller.
  void add_chunk(std::span<const std::byte> chunk);

  /// Bytes from the end of the padded payload to the end of the extent, and the checksum for the
  /// directory. `end.payload_bytes` is the unpadded length; all its chunks have been added.
  struct Tail {
    std::vector<std::byte> bytes;
    std::uint64_t checksum = 0;
  };
  [[nodiscard]] Tail finish(const RunEnd& end) const;

 private:
  RunName name_;
  std::vector<std::uint64_t> chunk_checksums_;
};

}  // namespace crawlstore::format
