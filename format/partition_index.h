// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The footer and the block index of a partition: spec/drum.md#partition. Pure functions over
/// bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "endian.h"
#include "key_block.h"
#include "layout.h"

namespace crawlstore::format {

/// The bytes that end a partition: index (first keys, of 16 bytes first their heads and then their
/// tails; then block offsets in units of 8 bytes as u32, padded to 8), then footer. `blocks_bytes`
/// is the length of all blocks = the index offset.
struct PartitionIndex {
  std::vector<std::uint64_t> first_keys;
  std::vector<std::uint32_t> block_offsets;  ///< offset / 8
  std::vector<std::uint64_t> first_tails{};  ///< of 16-byte keys, else empty
};
/// The length of the index and the footer.
constexpr std::uint64_t partition_tail_bytes(std::uint64_t block_count,
                                             std::uint16_t key_bytes = kKeyBytes) {
  return block_count * key_bytes + round_up(block_count * 4, 8) + sizeof(PartitionFooter);
}
void encode_partition_tail(const PartitionIndex& index, std::uint64_t key_count,
                           std::uint64_t last_key, std::int32_t value_bytes,
                           std::uint64_t blocks_bytes, std::vector<std::byte>& out);

/// errors kSegmentInvalid. `footer_bytes` is the last 64 bytes, `payload_bytes` the whole length;
/// counts and offsets are consistent with it when this returns.
Result<PartitionFooter> parse_partition_footer(std::span<const std::byte> footer_bytes,
                                               std::uint64_t payload_bytes);

/// The entry of the index for one block.
struct PartitionIndexEntry {
  Key16 first_key;
  std::uint64_t offset_bytes = 0;
};

/// That first keys and block offsets ascend and stay in range, for entries taken one after another.
/// A reader that bounds each offset when it uses it does not need this; deep verification does.
/// errors kSegmentInvalid (offset relative to the payload)
class PartitionIndexRules {
 public:
  explicit PartitionIndexRules(const PartitionFooter& footer) : footer_(footer) {}
  /// The next entry; there are as many as blocks.
  Result<void> take(const PartitionIndexEntry& entry);
  /// Takes the bytes between the last entry and the footer.
  [[nodiscard]] Result<void> take_padding(std::span<const std::byte> padding) const;
  /// The offset in the payload at which that begins.
  [[nodiscard]] std::uint64_t padding_offset() const {
    return footer_.index_offset_bytes + footer_.block_count * (footer_.key_bytes + 4U);
  }

 private:
  const PartitionFooter& footer_;
  std::uint64_t count_ = 0;
  PartitionIndexEntry last_;
};

}  // namespace crawlstore::format
