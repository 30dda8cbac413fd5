// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "drum/partition.h"

namespace crawlstore::drum {

/// Finds keys of a partition by number, and numbers by key. The index does not count the keys of
/// blocks; mostly the count of the last block tells the others. Threads: any.
class PartitionRows {
 public:
  /// Counts the keys of the blocks.
  ///   cost    reads the last block; if the others are not all full, the header of each
  ///   errors  kSegmentInvalid: the blocks do not hold as many keys as the footer says
  static Result<std::shared_ptr<const PartitionRows>> open(
      std::shared_ptr<const PartitionLookup> lookup);

  /// A block with its keys decoded.
  struct Block {
    format::KeyBlock block;
    std::uint64_t first_row = 0;
    std::uint64_t offset_bytes = 0;  ///< in the file
    format::BlockNumbers keys{};
    format::BlockNumbers tails{};  ///< of 8-byte keys zeros
    [[nodiscard]] std::uint64_t end_row() const { return first_row + block.key_count; }
  };
  /// Reads the block that holds key number `row`, which exists.
  Result<void> read_block_of(std::uint64_t row, Block& out) const;
  /// Returns the number of the first key that is not below `key`.
  Result<std::uint64_t> lower_bound(Key16 key) const;

  [[nodiscard]] std::uint64_t key_count() const { return lookup_->footer().key_count; }

 private:
  explicit PartitionRows(std::shared_ptr<const PartitionLookup> lookup)
      : lookup_(std::move(lookup)) {}
  [[nodiscard]] tl::unexpected<Error> invalid(const char* text, std::uint64_t payload_offset) const;
  Result<std::uint32_t> key_count_of(std::uint64_t block) const;
  Result<void> count_all();
  [[nodiscard]] std::uint64_t first_row_of(std::uint64_t block) const;
  Result<void> read_block(std::uint64_t index, Block& out) const;

  std::shared_ptr<const PartitionLookup> lookup_;
  std::vector<std::uint64_t> first_rows_;  // of each block; empty if all but the last are full
};

}  // namespace crawlstore::drum
