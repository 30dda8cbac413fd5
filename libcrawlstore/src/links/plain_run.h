// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading one link run, and writing one with codec 1: rows, each a page with its ascending links.
/// spec/links.md#link-runs.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "container/run_io.h"
#include "format/dense_block.h"
#include "format/dense_index.h"
#include "format/link_block.h"
#include "format/link_index.h"

namespace crawlstore::links {

/// A block ends before it has more links, except that a row is never cut, and when it has as many
/// rows. Measured on cnr-2000: blocks of half the links take 3 % more bits and decode 9 % slower,
/// blocks of twice as many take 1 % less and make a look-up twice as long.
inline constexpr std::size_t kBlockLinks = 2048;
inline constexpr std::size_t kBlockRows = 1024;

/// Bytes that the payload of a run needs at most.
///   number_max  no page and no link is higher
std::uint64_t link_run_bytes_max(std::uint64_t row_count, std::uint64_t link_count,
                                 std::uint64_t number_max);

/// Takes ascending rows, writes a run. Memory: a block, its longest row, and 16 bytes a block.
class LinksWriter {
 public:
  static Result<LinksWriter> start(container::SegmentWriter& writer, const format::RunLabel& label,
                                   std::uint64_t payload_bytes_max);

  /// Pages ascend strictly, and so do the links of a row, which may have none.
  ///   errors  kTooLarge (the row has more links than a block holds; the run does not fit what was
  ///           reserved, which finish() may say too), of storage: the run is lost
  Result<void> append(std::uint64_t page, std::span<const std::uint64_t> links);

  /// The run; nothing if there was no row. record_count is the number of links.
  Result<std::optional<format::RunRef>> finish();
  /// After finish() gave a run: the caller owns its extent from now on. Otherwise it is released.
  void give_back() { run_.give_back(); }

 private:
  explicit LinksWriter(container::RunWriter run) : run_(std::move(run)) {}
  Result<void> flush();

  container::RunWriter run_;
  std::vector<std::uint64_t> pages_;
  std::vector<std::uint32_t> degrees_;
  std::vector<std::uint64_t> links_;
  std::vector<std::byte> encoded_;
  std::vector<format::LinkIndexEntry> index_;
  format::LinkTotals totals_;
};

/// Finds single rows of a run. Threads: any number, each with rows of its own.
class LinksLookup {
 public:
  /// Reads the footer.
  static Result<LinksLookup> open(std::shared_ptr<const container::RunReader> reader,
                                  SegmentId segment);

  /// Decodes the row of `page` into `rows` at `row`, and returns whether the run has one.
  ///   errors  kSegmentInvalid, and those of RunReader
  ///   cost    a binary search in the block index, and one block (3 to 5 us) or, of a dense run, a
  ///           part of one (1 to 2 us)
  Result<bool> find(std::uint64_t page, format::LinkRows& rows, std::size_t& row) const;

  [[nodiscard]] const format::LinkRunFooter& footer() const { return footer_; }
  [[nodiscard]] const format::RunRef& run() const { return reader_->run(); }
  [[nodiscard]] bool is_dense() const { return decoder_ != nullptr; }
  /// The place of the last block that begins at or before `page`; of the first one if none does.
  /// Not of a dense run.
  Result<Extent> find_block(std::uint64_t page) const;
  /// The first page of a block, below block_count, by the index. Not of a dense run.
  Result<std::uint64_t> first_page(std::uint64_t block) const;
  /// `length_bytes` of the payload.
  Result<std::span<const std::byte>> bytes(std::uint64_t offset, std::uint64_t length_bytes) const {
    return reader_->bytes(offset, length_bytes);
  }
  /// An error of this run: `offset` in the payload.
  [[nodiscard]] tl::unexpected<Error> broken(const char* text, std::uint64_t offset) const;
  [[nodiscard]] tl::unexpected<Error> broken(const Error& error, std::uint64_t block_offset) const;

  // For a dense run only.
  /// The last group of the index that begins at or before `page`; the first one if none does.
  Result<std::uint64_t> find_group(std::uint64_t page) const;
  /// The blocks of a group, of which there is none behind the last.
  Result<format::DenseGroup> group(std::uint64_t number) const;
  /// Decodes a block from its bytes and kDenseSlackBytes more; one that goes on with the row before
  /// has pages 0 and is that row's.
  Result<void> decode(const format::DenseBlockPlace& place, std::span<const std::byte> bytes,
                      std::uint64_t last_page, format::LinkRows& rows) const;
  /// A block on its own, which may go on with a row, and the numbers that it consists of.
  Result<void> trace(const format::DenseBlockPlace& place, format::LinkRows& rows,
                     std::vector<format::DenseNumber>& numbers) const;
  /// Adds the links of a block that goes on with the last row.
  Result<void> append_piece(const format::DenseBlockPlace& place, std::span<const std::byte> bytes,
                            format::LinkRows& rows) const;

 private:
  LinksLookup(std::shared_ptr<const container::RunReader> reader, SegmentId segment)
      : reader_(std::move(reader)), segment_(segment) {}
  Result<std::uint64_t> block_offset(std::uint64_t block) const;
  Result<bool> find_dense(std::uint64_t page, format::LinkRows& rows) const;
  Result<std::span<const std::byte>> block_bytes(const format::DenseBlockPlace& place) const {
    return bytes(place.offset_bytes, place.length_bytes + format::kDenseSlackBytes);
  }

  std::shared_ptr<const container::RunReader> reader_;
  SegmentId segment_;
  format::LinkRunFooter footer_{};
  std::shared_ptr<const format::DenseDecoder> decoder_;  // of a dense run
};

/// Walks a run in the order of its pages, with sequential reads of a megabyte; every byte is
/// verified before it is decoded.
class LinksCursor {
 public:
  /// Begins with the first row at or behind `page`.
  static Result<LinksCursor> open(LinksLookup run, std::uint64_t page = 0);

  [[nodiscard]] bool at_end() const { return row_ == rows_.row_count(); }
  [[nodiscard]] std::uint64_t page() const { return rows_.page(row_); }
  /// Valid until the next advance.
  [[nodiscard]] std::span<const std::uint64_t> links() const { return rows_.links(row_); }
  Result<void> advance() { return ++row_ < rows_.row_count() ? Result<void>{} : load_block(); }
  /// All rows of the block that the cursor is in, those before it included.
  [[nodiscard]] const format::LinkRows& rows() const { return rows_; }
  Result<void> advance_block() { return load_block(); }

 private:
  explicit LinksCursor(LinksLookup run) : run_(std::move(run)) {}
  Result<void> load_block() { return run_.is_dense() ? load_dense_block() : load_short_block(); }
  Result<void> load_short_block();
  Result<void> load_dense_block();
  Result<void> load_group(std::uint64_t number);
  /// The next block of a dense run; nullptr behind the last.
  Result<const format::DenseBlockPlace*> peek();
  /// Goes on behind the block, and gives its bytes with slack.
  Result<std::span<const std::byte>> take(const format::DenseBlockPlace& place);
  Result<std::span<const std::byte>> window(std::uint64_t length_bytes);

  LinksLookup run_;
  std::uint64_t offset_ = 0;  // of the next block
  std::uint64_t group_number_ = 0;
  format::DenseGroup group_;
  std::vector<format::DenseBlockPlace> blocks_;  // of the group
  std::size_t block_ = 0;                        // the next one of these
  std::uint64_t window_offset_ = 0;
  std::span<const std::byte> window_;
  format::LinkRows rows_;
  std::size_t row_ = 0;
  std::optional<std::uint64_t> last_page_;
};

}  // namespace crawlstore::links
