// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a block is decoded only inside of [0, index_offset_bytes) of the payload, from bytes
// whose checksums matched; whatever the index says is bounded when it is used.
#include "links/plain_run.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "container/blocked_run.h"
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
  // One of two neighbouring blocks has more than half of the links, or the first has all the rows.
  const std::uint64_t block_count =
      std::min(row_count, 2 * link_count / kBlockLinks + row_count / kBlockRows + 1);
  constexpr std::uint64_t kRoundingBytes = 3 + 8;
  return number_bytes + block_count * (sizeof(format::LinkBlockHeader) + kRoundingBytes) +
         format::link_tail_bytes(block_count);
}

Result<LinksWriter> LinksWriter::start(container::SegmentWriter& writer,
                                       const format::RunLabel& label,
                                       std::uint64_t payload_bytes_max) {
  CRAWLSTORE_TRY(auto started, container::RunWriter::start(writer, label, payload_bytes_max));
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
  CRAWLSTORE_TRY(lookup.footer_,
                 container::read_footer(*lookup.reader_, format::parse_link_footer));
  if (lookup.footer_.codec == format::kDenseFamily) {
    const std::uint64_t place = format::dense_model_offset(lookup.footer_);
    CRAWLSTORE_TRY(const auto stored, lookup.bytes(place, format::kDenseModelBytes));
    const auto model = format::parse_dense_model(stored.first<format::kDenseModelBytes>());
    if (!model) return lookup.broken(model.error(), place);
    lookup.decoder_ = std::make_shared<const format::DenseDecoder>(*model);
  }
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
  if (is_dense()) {
    CRAWLSTORE_TRY(const bool found, find_dense(page, rows));
    if (found) row = rows.row_count() - 1;
    return found;
  }
  CRAWLSTORE_TRY(const auto place, find_block(page));
  CRAWLSTORE_TRY(const auto block, bytes(place.offset_bytes, place.length_bytes));
  const auto decoded = format::decode_link_block(block, rows, footer_.target_max);
  if (!decoded) return broken(decoded.error(), place.offset_bytes);
  row = rows.find(page);
  return row != rows.row_count();
}

Result<std::uint64_t> LinksLookup::find_group(std::uint64_t page) const {
  std::uint64_t low = 0;
  std::uint64_t high = format::dense_group_count(footer_);
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    CRAWLSTORE_TRY(const auto entry,
                   bytes(footer_.index_offset_bytes + middle * sizeof(format::DenseIndexGroup), 8));
    (format::load<std::uint64_t>(entry.data()) <= page ? low : high) = middle;
  }
  return low;
}

Result<format::DenseGroup> LinksLookup::group(std::uint64_t number) const {
  constexpr std::uint64_t kGroupBytes = sizeof(format::DenseIndexGroup);
  CRAWLSTORE_TRY(const auto stored,
                 bytes(footer_.index_offset_bytes + number * kGroupBytes, kGroupBytes));
  auto group = format::DenseGroup::parse(stored.first<kGroupBytes>(), footer_, number);
  if (!group) return broken(group.error(), 0);
  return group;
}

Result<void> LinksLookup::decode(const format::DenseBlockPlace& place,
                                 std::span<const std::byte> bytes, std::uint64_t last_page,
                                 format::LinkRows& rows) const {
  const auto decoded = format::decode_dense_block(
      bytes, *decoder_, {place.first_page, place.page_count, last_page, footer_.target_max}, rows);
  if (!decoded) return broken(decoded.error(), place.offset_bytes);
  return {};
}

Result<void> LinksLookup::trace(const format::DenseBlockPlace& place, format::LinkRows& rows,
                                std::vector<format::DenseNumber>& numbers) const {
  CRAWLSTORE_TRY(const auto bytes, block_bytes(place));
  const bool goes_on = place.page_count == 0;
  const format::DensePages pages{goes_on ? place.first_page - 1 : place.first_page,
                                 goes_on ? 1 : place.page_count};
  const auto traced = format::trace_dense_block(bytes, *decoder_, pages, rows, numbers);
  if (!traced) return broken(traced.error(), place.offset_bytes);
  return {};
}

Result<void> LinksLookup::append_piece(const format::DenseBlockPlace& place,
                                       std::span<const std::byte> bytes,
                                       format::LinkRows& rows) const {
  format::LinkRows piece;
  const std::uint64_t page = place.first_page - 1;
  CRAWLSTORE_TRY(decode({page, place.offset_bytes, 1, place.length_bytes}, bytes, page, piece));
  const std::size_t last = rows.row_count() - 1;
  const auto before = rows.links(last);
  if (piece.links().front() <= before.back() ||
      before.size() + piece.links().size() > format::kDenseRowLinksMax) {
    return broken("the links of a row of a dense run do not ascend, or are too many",
                  place.offset_bytes);
  }
  rows.append(piece.links());
  return {};
}

Result<bool> LinksLookup::find_dense(std::uint64_t page, format::LinkRows& rows) const {
  CRAWLSTORE_TRY(auto number, find_group(page));
  CRAWLSTORE_TRY(auto group, this->group(number));
  std::size_t block = group.find(page);
  const format::DenseBlockPlace place = group.block(block);
  if (page < place.first_page || page - place.first_page >= place.page_count) {
    return broken("the index of a dense link run does not ascend", place.offset_bytes);
  }
  if (place.length_bytes == 0) return false;
  CRAWLSTORE_TRY(const auto bytes, block_bytes(place));
  CRAWLSTORE_TRY(decode(place, bytes, page, rows));
  if (rows.row_count() == 0 || rows.pages().back() != page) return false;
  if (page - place.first_page + 1 != place.page_count) return true;
  while (true) {  // blocks that go on with the row
    if (++block == group.block_count()) {
      if (++number == format::dense_group_count(footer_)) return true;
      CRAWLSTORE_TRY(group, this->group(number));
      block = 0;
    }
    const format::DenseBlockPlace next = group.block(block);
    if (next.page_count != 0) return true;
    if (next.first_page != page + 1) {
      return broken("the index of a dense link run does not ascend", next.offset_bytes);
    }
    CRAWLSTORE_TRY(const auto piece, block_bytes(next));
    CRAWLSTORE_TRY(append_piece(next, piece, rows));
  }
}

Result<LinksCursor> LinksCursor::open(LinksLookup run, std::uint64_t page) {
  LinksCursor cursor(std::move(run));
  if (cursor.run_.is_dense()) {
    // Behind the last page are, if any, only blocks that go on with its row.
    const bool is_behind = page > cursor.run_.footer().last_page;
    CRAWLSTORE_TRY(const auto number, cursor.run_.find_group(page));
    CRAWLSTORE_TRY(cursor.load_group(number));
    cursor.block_ = is_behind ? cursor.blocks_.size() : cursor.group_.find(page);
  } else {
    CRAWLSTORE_TRY(const auto place, cursor.run_.find_block(page));
    cursor.offset_ = place.offset_bytes;
  }
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

Result<void> LinksCursor::load_short_block() {
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
  const auto decoded = format::decode_link_block(block, rows_, run_.footer().target_max);
  if (!decoded) return run_.broken(decoded.error(), offset_);
  if (last_page_ && rows_.page(0) <= *last_page_) {
    return run_.broken("the pages of a link run do not ascend from block to block", offset_);
  }
  offset_ += *length;
  return {};
}

Result<void> LinksCursor::load_group(std::uint64_t number) {
  const std::uint64_t end_page = group_.end_page();
  const std::uint64_t end_bytes = group_.end_bytes();
  const bool goes_on = number != 0 && number == group_number_ + 1 && !blocks_.empty();
  CRAWLSTORE_TRY(group_, run_.group(number));
  blocks_ = group_.blocks();
  group_number_ = number;
  block_ = 0;
  const format::DenseBlockPlace& first = blocks_.front();
  if (goes_on && (first.first_page != end_page || first.offset_bytes != end_bytes)) {
    return run_.broken("the index of a dense link run does not ascend", first.offset_bytes);
  }
  return {};
}

Result<const format::DenseBlockPlace*> LinksCursor::peek() {
  if (block_ == blocks_.size()) {
    if (group_number_ + 1 == format::dense_group_count(run_.footer())) return nullptr;
    CRAWLSTORE_TRY(load_group(group_number_ + 1));
  }
  return &blocks_[block_];
}

Result<std::span<const std::byte>> LinksCursor::take(const format::DenseBlockPlace& place) {
  ++block_;
  offset_ = place.offset_bytes;
  return window(place.length_bytes + format::kDenseSlackBytes);
}

Result<void> LinksCursor::load_dense_block() {
  row_ = 0;
  CRAWLSTORE_TRY(auto place, peek());
  while (place != nullptr && place->length_bytes == 0) {
    ++block_;
    CRAWLSTORE_TRY(place, peek());
  }
  if (place == nullptr) {
    rows_ = {};
    if (group_.end_page() == run_.footer().last_page + 1) return {};
    return run_.broken("the last page of a link run is not the one its footer says",
                       group_.end_bytes());
  }
  if (place->page_count == 0) {
    return run_.broken("a block of a dense link run has no row before it", place->offset_bytes);
  }
  CRAWLSTORE_TRY(const auto bytes, take(*place));
  CRAWLSTORE_TRY(run_.decode(*place, bytes, format::kPageMax, rows_));
  while (true) {
    CRAWLSTORE_TRY(const auto next, peek());
    if (next == nullptr || next->page_count != 0) return {};
    CRAWLSTORE_TRY(const auto piece, take(*next));
    CRAWLSTORE_TRY(run_.append_piece(*next, piece, rows_));
  }
}

}  // namespace crawlstore::links
