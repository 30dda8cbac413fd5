// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The index of a dense link run: spec/links.md#dense-link-runs. Pure functions over bytes; any
/// thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "dense_model.h"
#include "layout.h"
#include "link_block.h"

namespace crawlstore::format {

/// codec of LinkRunFooter
inline constexpr std::uint16_t kDenseFamily = 2;
inline constexpr std::size_t kDenseGroupBlocks = 64;
/// Links of a row of a dense run.
inline constexpr std::uint64_t kDenseRowLinksMax = std::uint64_t{1} << 24;

/// An entry of the index: up to 64 blocks that follow each other. Unused numbers are 0.
struct DenseIndexGroup {
  std::uint64_t first_page;
  std::uint64_t offset_bytes;
  std::array<std::uint8_t, kDenseGroupBlocks> page_counts;
  std::array<std::uint16_t, kDenseGroupBlocks> block_bytes;
};
static_assert(sizeof(DenseIndexGroup) == 208);

/// The entry of the index for a block.
///   page_count    0: the block goes on with the row that the block before ends with
///   length_bytes  0: the pages have no links, and there is no block
struct DenseBlockPlace {
  std::uint64_t first_page = 0;
  std::uint64_t offset_bytes = 0;
  std::uint32_t page_count = 0;
  std::uint32_t length_bytes = 0;
};

/// Collects the blocks of a run. Memory: 3.25 bytes a block.
class DenseIndex {
 public:
  /// Blocks come one after another; where they begin, only the first one says.
  void add(const DenseBlockPlace& block);
  [[nodiscard]] std::uint64_t block_count() const { return block_count_; }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return groups_.capacity() * sizeof(DenseIndexGroup);
  }
  /// Appends what ends a run: zeros, the model, the index, the footer. There must be a block.
  void encode_tail(const DenseLengths& model, const LinkTotals& totals,
                   std::vector<std::byte>& out) const;

 private:
  std::vector<DenseIndexGroup> groups_;
  std::uint64_t block_count_ = 0;
  std::uint64_t end_page_ = 0;
  std::uint64_t blocks_bytes_ = 0;
};

/// The places of the parts of a run. The footer is one that was parsed.
constexpr std::uint64_t dense_group_count(const LinkRunFooter& footer) {
  return (footer.block_count - 1) / kDenseGroupBlocks + 1;
}
constexpr std::uint64_t dense_model_offset(const LinkRunFooter& footer) {
  return footer.index_offset_bytes - kDenseModelBytes;
}
/// Does the same as check_footer() of all link runs, for this codec: nullptr, or the text of the
/// broken rule.
const char* check_dense_footer(const LinkRunFooter& footer, std::uint64_t payload_bytes);

/// The blocks of a group.
class DenseGroup {
 public:
  /// `bytes` is group `number` of the index; hostile.
  ///   errors  kSegmentInvalid (offset relative to the payload): pages or bytes are out of range
  static Result<DenseGroup> parse(std::span<const std::byte, sizeof(DenseIndexGroup)> bytes,
                                  const LinkRunFooter& footer, std::uint64_t number);

  [[nodiscard]] std::size_t block_count() const { return block_count_; }
  /// The entry of the index for a block, below block_count(): a sum over those before it.
  [[nodiscard]] DenseBlockPlace block(std::size_t number) const;
  [[nodiscard]] std::vector<DenseBlockPlace> blocks() const;
  /// The last block that begins at or before `page`; the first one if none does.
  [[nodiscard]] std::size_t find(std::uint64_t page) const;
  /// The page with which the next group begins.
  [[nodiscard]] std::uint64_t end_page() const { return end_page_; }
  [[nodiscard]] std::uint64_t end_bytes() const { return end_bytes_; }

 private:
  DenseIndexGroup stored_{};
  std::size_t block_count_ = 0;
  std::uint64_t end_page_ = 0;
  std::uint64_t end_bytes_ = 0;
};

}  // namespace crawlstore::format
