// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A block of a dense link run: rows that copy from rows before them, as a stream of bits.
/// spec/links.md#dense-block.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "dense_model.h"
#include "link_block.h"

namespace crawlstore::format {

inline constexpr std::size_t kDenseBlockRows = 32;
/// Pages that a block covers, with links or without.
inline constexpr std::size_t kDenseBlockPages = 255;
/// Links of several rows, and of one.
inline constexpr std::size_t kDenseBlockLinks = 2048;
inline constexpr std::size_t kDensePieceLinks = 8192;
/// Behind the last bit of a block as many bytes must be readable.
inline constexpr std::size_t kDenseSlackBytes = 8;

/// A model for a run, of which some blocks were counted.
///   number_max  no page and no link of the run is higher; any such run can be coded
DenseLengths dense_model(const DenseCounts& counts, std::uint64_t number_max);

/// A model that knows nothing but that small numbers come more often than large ones: by it, the
/// encoder that counts chooses.
DenseLengths rough_dense_model();

/// Codes blocks. Each row is written in the shortest of the forms that the encoder tries. Memory:
/// some tens of KB. Threads: one at a time.
class DenseBlockEncoder {
 public:
  explicit DenseBlockEncoder(const DenseLengths& model) : codes_(model) {}

  /// Appends the bytes of a block.
  ///   first_page  the block covers the pages from this one to that of the last row, at most
  ///               kDenseBlockPages; those that are no rows have no links
  ///   rows        1 to kDenseBlockRows rows, each with links, together at most kDenseBlockLinks,
  ///   or
  ///               a single one with at most kDensePieceLinks
  ///   cost        about 70 ns a link
  void encode(std::uint64_t first_page, const LinkRowSpans& rows, std::vector<std::byte>& out);
  /// Adds `weight` to `counts` for each number that encode() would write.
  void count(std::uint64_t first_page, const LinkRowSpans& rows, std::uint64_t weight,
             DenseCounts& counts);
  /// The bytes that it holds, itself included.
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  /// A row by another one, or by none.
  struct Form {
    std::uint64_t type = 0;
    std::uint64_t reference_degree = 0;
    std::uint64_t copied = 0;
    std::vector<std::uint32_t> runs;    // copied and left out links of the reference, in turn
    std::vector<std::uint64_t> extras;  // the links that are not copied
    std::vector<std::uint64_t> gaps;    // numbers between these, copied ones not counted
  };
  struct Place;
  template <class Sink>
  void put_rows(std::uint64_t first_page, const LinkRowSpans& rows, Sink& sink);
  template <class Sink>
  static void put_row(const Form& form, const Place& place, Sink& sink);
  void choose(std::span<const std::uint64_t> links, const Place& place);
  static void split(std::span<const std::uint64_t> links, std::span<const std::uint64_t> reference,
                    Form& form);

  DenseCodes codes_;
  std::vector<std::span<const std::uint64_t>> rows_;  // of the block, those before
  Form best_;
  Form tried_;
};

/// The pages that a block covers, and those of them that are wanted.
///   count      at least 1
///   last_read  rows behind this page need not be decoded; the end of the block is then not
///              checked, unless this is at least the last page of the block
///   link_max   no link is above
struct DensePages {
  std::uint64_t first = 0;
  std::size_t count = 1;
  std::uint64_t last_read = kPageMax;
  std::uint64_t link_max = kPageMax;
};

/// Decodes a block.
///   block       the bytes of the block and kDenseSlackBytes behind them; hostile, and may change
///               meanwhile
///   errors      kSegmentInvalid, offset relative to the block; `rows` is then not to be used
///   cost        about 5 ns a link with BMI2; memory 64 KB
Result<void> decode_dense_block(std::span<const std::byte> block, const DenseDecoder& decoder,
                                const DensePages& pages, LinkRows& rows);

/// The same without instructions that not every machine has.
Result<void> decode_dense_block_portable(std::span<const std::byte> block,
                                         const DenseDecoder& decoder, const DensePages& pages,
                                         LinkRows& rows);

/// A number of a block, for people: bits begin_bits to end_bits of the block.
struct DenseNumber {
  std::uint8_t context;
  std::uint64_t value;
  std::uint64_t begin_bits;
  std::uint64_t end_bits;
};

/// Likewise, and says which numbers a block consists of; up to the error, if there is one.
///   cost  about 20 ns a link; memory 32 bytes a number, of which each takes a bit or more
Result<void> trace_dense_block(std::span<const std::byte> block, const DenseDecoder& decoder,
                               const DensePages& pages, LinkRows& rows,
                               std::vector<DenseNumber>& numbers);

}  // namespace crawlstore::format
