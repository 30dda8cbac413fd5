// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A block of a link run: rows, each a page with its ascending links. spec/links.md#link-block.
/// Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "layout.h"

namespace crawlstore::format {

inline constexpr std::uint64_t kPageMax = (std::uint64_t{1} << 40) - 1;
inline constexpr std::uint32_t kLinkBlockRowsMax = 1 << 24;
inline constexpr std::uint32_t kLinkBlockLinksMax = 1 << 28;

/// codec of LinkBlockHeader
enum class LinkCodec : std::uint16_t { kShort = 1, kPlain = 2 };

/// flags of LinkBlockHeader
inline constexpr std::uint16_t kLinkPageGaps = 1;

/// Rows that lie in the caller's memory.
///   pages    ascend, at most kPageMax
///   degrees  one a page; together as many as links
///   links    row after row; ascending in each, at most kPageMax
struct LinkRowSpans {
  std::span<const std::uint64_t> pages;
  std::span<const std::uint32_t> degrees;
  std::span<const std::uint64_t> links;
};

/// Appends the block, a multiple of 8 bytes. There must be from 1 to kLinkBlockRowsMax rows and at
/// most kLinkBlockLinksMax links.
///   cost  about 6 ns a link
void encode_link_block(const LinkRowSpans& rows, std::vector<std::byte>& out);

/// The rows of one block, decoded; used again for the next one without allocating.
/// Memory: at most 64 bytes a byte of the largest block.
class LinkRows {
 public:
  [[nodiscard]] std::size_t row_count() const { return row_count_; }
  [[nodiscard]] std::uint64_t page(std::size_t row) const { return pages_[row]; }
  [[nodiscard]] std::span<const std::uint64_t> pages() const {
    return std::span(pages_).first(row_count_);
  }
  [[nodiscard]] std::span<const std::uint32_t> degrees() const {
    return std::span(degrees_).first(row_count_);
  }
  /// The links of a row. Valid until the next block is decoded.
  [[nodiscard]] std::span<const std::uint64_t> links(std::size_t row) const {
    return std::span(links_).subspan(row_ends_[row] - degrees_[row], degrees_[row]);
  }
  /// Those of all rows, one after another.
  [[nodiscard]] std::span<const std::uint64_t> links() const {
    return std::span(links_).first(link_count_);
  }
  /// The row of `page`; row_count() if there is none.
  [[nodiscard]] std::size_t find(std::uint64_t page) const;
  /// Adds links to the last row, which ascend behind those that it has.
  void append(std::span<const std::uint64_t> links);

 private:
  friend class LinkBlockDecoder;
  template <class Numbers>
  friend class DenseBlockReader;

  std::size_t row_count_ = 0;
  std::size_t link_count_ = 0;
  // At least as long as the counts say; never shortened.
  std::vector<std::uint64_t> pages_;
  std::vector<std::uint32_t> degrees_;
  std::vector<std::uint32_t> row_ends_;
  std::vector<std::uint64_t> links_;
  std::vector<std::uint32_t> numbers_;  // as they are in the block
};

/// The totals that a footer has and its index has not.
struct LinkTotals {
  std::uint64_t row_count = 0;
  std::uint64_t link_count = 0;
  std::uint64_t last_page = 0;
  std::uint64_t target_max = 0;  ///< 0 without links
};

/// The length of the block that begins with `header`, whatever else is wrong with it. errors
/// kSegmentInvalid: the counts, the codec or the flags are out of range
Result<std::uint64_t> link_block_bytes(const LinkBlockHeader& header);

/// Decodes a block, hostile bytes that may change meanwhile. `block` is as long as the block.
/// Checks every rule of a block except that its bytes are the shortest for its rows.
///   link_max  no link is above
///   errors  kSegmentInvalid, offset relative to the block; `rows` is then not to be used
///   cost    about a nanosecond a link
Result<void> decode_link_block(std::span<const std::byte> block, LinkRows& rows,
                               std::uint64_t link_max = kPageMax);

}  // namespace crawlstore::format
