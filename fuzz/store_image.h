// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A small store with everything in it, to be damaged with or without right checksums.
///
/// Threads: one.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/directory_state.h"
#include "format/checksum.h"
#include "format/directory.h"
#include "format/superblock.h"

namespace crawlstore::fuzz {

/// The contents of a store.
///   kDrum   a DRUM of two buckets with keys, values, pending requests and results
///   kPages  a page database with URLs, records, links of several supersteps, keys
///           beside their DRUM, and edits that wait
enum class Content : std::uint8_t { kDrum, kPages };

/// The file, and where in it each checksum lies.
class StoreImage {
 public:
  /// Two generations, and a reader's worth of held extents.
  explicit StoreImage(Content content = Content::kDrum);

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  /// Computes every checksum anew, from the runs up to the superblocks, where they were in the
  /// pristine file. So the bytes below a checksum may be anything, and are believed.
  void seal(std::vector<std::byte>& bytes) const;

 private:
  struct Run {
    format::RunName name;
    format::RunRef ref;
    std::uint64_t checksum_at = 0;
  };
  struct Piece {
    Extent extent;
    std::uint64_t seed = 0;
    std::uint64_t checksum_at = 0;
  };
  /// The place of this checksum in the pristine file; it must be there once. Behind the extent:
  /// nowhere.
  [[nodiscard]] std::uint64_t find(std::uint64_t checksum, Extent within) const;
  void add_runs(const container::Table& table);
  void add_piece(Extent extent, format::ChecksumDomain domain, Generation born,
                 std::uint64_t checksum, Extent parent);

  std::vector<std::byte> bytes_;
  format::Identity identity_{};
  format::Superblock superblock_{};
  std::vector<Run> runs_;
  std::vector<Piece> pieces_;
};

/// The image as an input of the targets says: one byte of flags (1: checksums are made right after
/// patching; 2: the file is cut off at the offset of the first patch), then at most 16 patches.
/// `data` is not empty.
std::vector<std::byte> damaged(const StoreImage& image, std::span<const std::uint8_t> data);

/// Overwrites places of `bytes`: each patch is three bytes for the offset (modulo the size), one
/// for the length (0 = 256), then the bytes. Returns what is left of `data`.
std::span<const std::uint8_t> patch(std::span<const std::uint8_t> data,
                                    std::vector<std::byte>& bytes);

/// The first three bytes, little endian; 0 when there are fewer.
std::size_t patch_offset(std::span<const std::uint8_t> data);

}  // namespace crawlstore::fuzz
