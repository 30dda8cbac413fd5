// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a block is decoded only inside of [0, index_offset_bytes) of the payload, from bytes
// whose checksums matched; whatever the index says is bounded when it is used.
#include "links/links_run.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "format/endian.h"

namespace crawlstore::links {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 20;
/// Entries of an index that are searched in one view.
constexpr std::uint64_t kViewedEntries = format::kChunkBytes / sizeof(format::LinkIndexEntry);

}  // namespace

std::uint64_t link_run_bytes_max(std::uint64_t row_count, std::uint64_t link_count,
                                 std::uint64_t number_max) {
  const bool fits_short = number_max < std::uint64_t{1} << 31;
  const std::uint64_t numbers = link_count + 2 * row_count;
  const std::uint64_t number_bytes = fits_short ? numbers * 4 + numbers / 4 : numbers * 8;
  // Of two blocks side by side one has more than half of the links, or the first all the rows.
  const std::uint64_t block_count =
      std::min(row_count, 2 * link_count / kBlockLinks + row_count / kBlockRows + 1);
  constexpr std::uint64_t kRoundingBytes = 3 + 8;
  return number_bytes + block_count * (sizeof(format::LinkBlockHeader) + kRoundingBytes) +
         format::link_tail_bytes(block_count);
}

Result<LinksWriter> LinksWriter::start(container::SegmentWriter& writer, SegmentId segment,
                                       RunId run, std::uint64_t payload_bytes_max) {
  CRAWLSTORE_TRY(auto started,
                 container::RunWriter::start(writer, segment, run, payload_bytes_max));
  return LinksWriter(std::move(started));
}

Result<void> LinksWriter::append(std::uint64_t page, std::span<const std::uint64_t> links) {
  CRAWLSTORE_ASSERT(page <= format::kPageMax &&
                    (links.empty() || links.back() <= format::kPageMax));
  CRAWLSTORE_ASSERT(totals_.row_count == 0 || page > totals_.last_page);
  CRAWLSTORE_DCHECK(std::adjacent_find(links.begin(), links.end(), std::greater_equal<>()) ==
                    links.end());
  if (links.size() > format::kLinkBlockLinksMax) {
    return fail(Errc::kTooLarge, "a page has more links than a block holds");
  }
  const bool is_full = links_.size() + links.size() > kBlockLinks || pages_.size() == kBlockRows;
  if (is_full && !pages_.empty()) CRAWLSTORE_TRY(flush());
  pages_.push_back(page);
  degrees_.push_back(static_cast<std::uint32_t>(links.size()));
  links_.insert(links_.end(), links.begin(), links.end());
  ++totals_.row_count;
  totals_.link_count += links.size();
  totals_.last_page = page;
  if (!links.empty()) totals_.target_max = std::max(totals_.target_max, links.back());
  return {};
}

Result<void> LinksWriter::flush() {
  index_.push_back({pages_.front(), run_.payload_bytes()});
  encoded_.clear();
  format::encode_link_block({pages_, degrees_, links_}, encoded_);
  pages_.clear();
  degrees_.clear();
  links_.clear();
  return run_.append(encoded_);
}

Result<std::optional<format::RunRef>> LinksWriter::finish() {
  if (totals_.row_count == 0) return std::optional<format::RunRef>{};
  CRAWLSTORE_TRY(flush());
  encoded_.clear();
  format::encode_link_tail(index_, totals_, run_.payload_bytes(), encoded_);
  CRAWLSTORE_TRY(run_.append(encoded_));
  CRAWLSTORE_TRY(const auto run, run_.finish(totals_.link_count));
  return std::optional(run);
}

tl::unexpected<Error> LinksLookup::broken(const char* text, std::uint64_t offset) const {
  return fail(Errc::kSegmentInvalid, text, run().offset_bytes + offset, segment_);
}

tl::unexpected<Error> LinksLookup::broken(const Error& error, std::uint64_t block_offset) const {
  return broken(error.text, block_offset + error.offset);
}

Result<LinksLookup> LinksLookup::open(std::shared_ptr<const container::RunReader> reader,
                                      SegmentId segment) {
  LinksLookup lookup(std::move(reader), segment);
  const std::uint64_t payload_bytes = lookup.run().payload_bytes;
  const auto length = std::min<std::uint64_t>(payload_bytes, sizeof(format::LinkRunFooter));
  CRAWLSTORE_TRY(const auto bytes, lookup.bytes(payload_bytes - length, length));
  const auto footer = format::parse_link_footer(bytes, payload_bytes);
  if (!footer) return lookup.broken(footer.error(), 0);
  lookup.footer_ = *footer;
  return lookup;
}

Result<std::uint64_t> LinksLookup::first_page(std::uint64_t block) const {
  CRAWLSTORE_TRY(const auto entry,
                 bytes(footer_.index_offset_bytes + block * sizeof(format::LinkIndexEntry), 8));
  return format::load<std::uint64_t>(entry.data());
}

Result<std::uint64_t> LinksLookup::block_offset(std::uint64_t block) const {
  if (block == footer_.block_count) return footer_.index_offset_bytes;
  const std::uint64_t place =
      footer_.index_offset_bytes + block * sizeof(format::LinkIndexEntry) + 8;
  CRAWLSTORE_TRY(const auto entry, bytes(place, 8));
  return format::load<std::uint64_t>(entry.data());
}

Result<Extent> LinksLookup::find_block(std::uint64_t page) const {
  std::uint64_t low = 0;
  std::uint64_t high = footer_.block_count;
  while (high - low > kViewedEntries) {
    const std::uint64_t middle = low + (high - low) / 2;
    CRAWLSTORE_TRY(const auto first, first_page(middle));
    (first <= page ? low : high) = middle;
  }
  constexpr std::uint64_t kEntryBytes = sizeof(format::LinkIndexEntry);
  const std::uint64_t view_begin = low;
  CRAWLSTORE_TRY(const auto view,
                 bytes(footer_.index_offset_bytes + low * kEntryBytes, (high - low) * kEntryBytes));
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto first =
        format::load<std::uint64_t>(view.data() + (middle - view_begin) * kEntryBytes);
    (first <= page ? low : high) = middle;
  }
  CRAWLSTORE_TRY(const auto begin, block_offset(low));
  CRAWLSTORE_TRY(const auto end, block_offset(low + 1));
  if (end > footer_.index_offset_bytes || begin >= end || begin % 8 != 0) {
    return broken("the block offsets of a link run do not ascend",
                  footer_.index_offset_bytes + low * kEntryBytes + 8);
  }
  return Extent{begin, end - begin};
}

Result<bool> LinksLookup::find(std::uint64_t page, format::LinkRows& rows, std::size_t& row) const {
  if (page < footer_.first_page || page > footer_.last_page) return false;
  CRAWLSTORE_TRY(const auto place, find_block(page));
  CRAWLSTORE_TRY(const auto block, bytes(place.offset_bytes, place.length_bytes));
  const auto decoded = format::decode_link_block(block, rows);
  if (!decoded) return broken(decoded.error(), place.offset_bytes);
  row = rows.find(page);
  return row != rows.row_count();
}

Result<LinksCursor> LinksCursor::open(LinksLookup run, std::uint64_t page) {
  CRAWLSTORE_TRY(const auto place, run.find_block(page));
  LinksCursor cursor(std::move(run), place.offset_bytes);
  CRAWLSTORE_TRY(cursor.load_block());
  while (!cursor.at_end() && cursor.page() < page) CRAWLSTORE_TRY(cursor.advance());
  return cursor;
}

/// At least `length_bytes` from the next block on, which must be there.
Result<std::span<const std::byte>> LinksCursor::window(std::uint64_t length_bytes) {
  const std::uint64_t blocks_bytes = run_.footer().index_offset_bytes;
  if (length_bytes > blocks_bytes - offset_) {
    return run_.broken("a link block is cut short", offset_);
  }
  if (offset_ < window_offset_ || offset_ + length_bytes > window_offset_ + window_.size()) {
    const auto length = std::min(std::max(length_bytes, kWindowBytes), blocks_bytes - offset_);
    CRAWLSTORE_TRY(const auto view, run_.bytes(offset_, length));
    window_ = view;
    window_offset_ = offset_;
  }
  return window_.subspan(offset_ - window_offset_, length_bytes);
}

Result<void> LinksCursor::load_block() {
  if (rows_.row_count() != 0) last_page_ = rows_.pages().back();
  row_ = 0;
  if (offset_ == run_.footer().index_offset_bytes) {
    if (last_page_ != run_.footer().last_page) {
      return run_.broken("the last page of a link run is not the one its footer says", offset_);
    }
    rows_ = {};
    return {};
  }
  CRAWLSTORE_TRY(const auto start, window(sizeof(format::LinkBlockHeader)));
  const auto length =
      format::link_block_bytes(format::load_struct<format::LinkBlockHeader>(start.data()));
  if (!length) return run_.broken(length.error(), offset_);
  CRAWLSTORE_TRY(const auto block, window(*length));
  const auto decoded = format::decode_link_block(block, rows_);
  if (!decoded) return run_.broken(decoded.error(), offset_);
  if (last_page_ && rows_.page(0) <= *last_page_) {
    return run_.broken("the pages of a link run do not ascend from block to block", offset_);
  }
  offset_ += *length;
  return {};
}

}  // namespace crawlstore::links
