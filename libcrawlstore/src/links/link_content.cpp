// SPDX-License-Identifier: Apache-2.0
#include "links/link_content.h"

#include <algorithm>

#include "container/blocked_run.h"
#include "format/dense_block.h"
#include "format/dense_index.h"
#include "format/endian.h"
#include "format/invalid.h"
#include "format/link_block.h"
#include "format/link_index.h"

namespace crawlstore::links {

using container::ContentProgress;
using container::PayloadSource;
using container::PayloadWindow;
using format::invalid;
namespace {

/// Moves the offset of a rule's error, which is relative to the block.
tl::unexpected<Error> at_block(Error error, std::uint64_t offset) {
  error.offset += offset;
  return tl::unexpected<Error>(error);
}

/// Compares the sums over all blocks with the footer.
Result<void> check_totals(const format::LinkTotals& found, const format::LinkRunFooter& footer) {
  if (found.row_count != footer.row_count || found.link_count != footer.link_count) {
    return invalid("the blocks of a link run hold other numbers of rows or links than its footer",
                   footer.index_offset_bytes);
  }
  if (found.last_page != footer.last_page || found.target_max != footer.target_max) {
    return invalid("the last page or highest link of a link run is not that of its footer",
                   footer.index_offset_bytes);
  }
  return {};
}

/// The blocks of a link run with codec 1, for check_blocked().
class LinkWalk {
 public:
  LinkWalk(const PayloadSource& payload, const format::LinkRunFooter& footer,
           const ContentProgress& progress)
      : footer_(footer),
        rules_(footer),
        index_(payload,
               {footer.index_offset_bytes, footer.block_count * sizeof(format::LinkIndexEntry)},
               progress),
        blocks_(payload, {0, footer.index_offset_bytes}, progress) {}

  Result<format::LinkIndexEntry> entry(std::uint64_t i) {
    if (i == footer_.block_count) return format::LinkIndexEntry{0, footer_.index_offset_bytes};
    constexpr std::uint64_t kEntryBytes = sizeof(format::LinkIndexEntry);
    CRAWLSTORE_TRY(const auto bytes,
                   index_.at(footer_.index_offset_bytes + i * kEntryBytes, kEntryBytes));
    const auto entry = format::load_struct<format::LinkIndexEntry>(bytes);
    CRAWLSTORE_TRY(rules_.take(entry));
    return entry;
  }

  Result<std::uint64_t> check_block(const format::LinkIndexEntry& entry, std::uint64_t end) {
    const Extent place{entry.offset_bytes, end - entry.offset_bytes};
    CRAWLSTORE_TRY(container::parse_block(
        blocks_, place, [&](auto bytes) { return decode(bytes, place.length_bytes); }));
    CRAWLSTORE_TRY(take_rows(entry, place.offset_bytes));
    return end;
  }

  Result<void> check_end() { return check_totals(totals_, footer_); }

 private:
  /// Decodes the block into rows_; `bytes` are all of `length`, or its front.
  Result<void> decode(std::span<const std::byte> bytes, std::uint64_t length) {
    if (bytes.size() < sizeof(format::LinkBlockHeader)) {
      return invalid("a link block is cut short");
    }
    CRAWLSTORE_TRY(
        const auto stored_length,
        format::link_block_bytes(format::load_struct<format::LinkBlockHeader>(bytes.data())));
    if (stored_length != length) {
      return invalid("a block of a link run does not end where the index says");
    }
    CRAWLSTORE_TRY(format::decode_link_block(bytes, rows_));
    encoded_.clear();
    format::encode_link_block({rows_.pages(), rows_.degrees(), rows_.links()}, encoded_);
    if (std::equal(encoded_.begin(), encoded_.end(), bytes.begin(), bytes.end())) return {};
    return invalid("a link block is not the shortest for its rows");
  }

  Result<void> take_rows(const format::LinkIndexEntry& entry, std::uint64_t offset) {
    if (rows_.page(0) != entry.first_page) {
      return invalid("the first page of a block is not the one the index says", offset);
    }
    if (totals_.row_count != 0 && rows_.page(0) <= totals_.last_page) {
      return invalid("the pages of a link run do not ascend from block to block", offset);
    }
    totals_.last_page = rows_.pages().back();
    totals_.row_count += rows_.row_count();
    totals_.link_count += rows_.links().size();
    for (const std::uint64_t link : rows_.links()) {
      totals_.target_max = std::max(totals_.target_max, link);
    }
    return {};
  }

  const format::LinkRunFooter& footer_;
  format::LinkIndexRules rules_;
  PayloadWindow index_;
  PayloadWindow blocks_;
  format::LinkRows rows_;
  std::vector<std::byte> encoded_;
  format::LinkTotals totals_;
};

/// Walks the blocks of a dense run beside its index.
class DenseRunWalk {
 public:
  DenseRunWalk(const PayloadSource& payload, const format::LinkRunFooter& footer,
               const ContentProgress& progress)
      : payload_(payload),
        footer_(footer),
        progress_(progress),
        index_(payload,
               {footer.index_offset_bytes,
                format::dense_group_count(footer) * sizeof(format::DenseIndexGroup)},
               progress),
        blocks_(payload, {0, format::dense_model_offset(footer)}, progress) {}

  Result<void> walk() {
    const std::uint64_t model_offset = format::dense_model_offset(footer_);
    CRAWLSTORE_TRY(const auto stored, payload_.view({model_offset, format::kDenseModelBytes}));
    const auto model = format::parse_dense_model(
        std::span(stored, format::kDenseModelBytes).first<format::kDenseModelBytes>());
    if (!model) return at_block(model.error(), model_offset);
    const format::DenseDecoder decoder(*model);
    std::uint64_t end_page = footer_.first_page;
    std::uint64_t end_bytes = 0;
    for (std::uint64_t i = 0; i < format::dense_group_count(footer_); ++i) {
      CRAWLSTORE_TRY(const auto group, group_at(i));
      const std::vector<format::DenseBlockPlace> blocks = group.blocks();
      const format::DenseBlockPlace& first = blocks.front();
      if (first.first_page != end_page || first.offset_bytes != end_bytes) {
        return invalid("the groups of a dense link run's index do not follow each other",
                       footer_.index_offset_bytes + i * sizeof(format::DenseIndexGroup));
      }
      for (const format::DenseBlockPlace& block : blocks) {
        CRAWLSTORE_TRY(walk_block(block, decoder));
      }
      CRAWLSTORE_TRY(progress_(group.end_bytes() - end_bytes));
      end_page = group.end_page();
      end_bytes = group.end_bytes();
    }
    CRAWLSTORE_TRY(check_end(end_page, end_bytes));
    CRAWLSTORE_TRY(check_totals(totals_, footer_));
    return progress_(footer_.index_offset_bytes - end_bytes);
  }

 private:
  Result<format::DenseGroup> group_at(std::uint64_t number) {
    constexpr std::uint64_t kGroupBytes = sizeof(format::DenseIndexGroup);
    CRAWLSTORE_TRY(const auto bytes,
                   index_.at(footer_.index_offset_bytes + number * kGroupBytes, kGroupBytes));
    return format::DenseGroup::parse(std::span(bytes, kGroupBytes).first<kGroupBytes>(), footer_,
                                     number);
  }

  Result<void> walk_block(const format::DenseBlockPlace& place,
                          const format::DenseDecoder& decoder) {
    const bool goes_on = place.page_count == 0;
    const bool is_gap = place.length_bytes == 0;
    if ((is_gap && totals_.row_count == 0) || (goes_on && !ends_with_row_)) {
      return invalid("a block of a dense link run has no row before it", place.offset_bytes);
    }
    ends_with_row_ = !is_gap;
    if (is_gap) return {};
    CRAWLSTORE_TRY(const auto stored, blocks_.at(place.offset_bytes, place.length_bytes));
    block_.assign(stored, stored + place.length_bytes);
    block_.resize(place.length_bytes + format::kDenseSlackBytes);
    const std::uint64_t first_page = goes_on ? place.first_page - 1 : place.first_page;
    const auto decoded = format::decode_dense_block(
        block_, decoder, {first_page, goes_on ? 1 : place.page_count}, rows_);
    if (!decoded) return at_block(decoded.error(), place.offset_bytes);
    return take_rows(goes_on, place.offset_bytes);
  }

  Result<void> take_rows(bool goes_on, std::uint64_t offset) {
    const auto last = rows_.links(rows_.row_count() - 1);
    row_links_ = (goes_on ? row_links_ : 0) + last.size();
    if ((goes_on && last.front() <= last_link_) || row_links_ > format::kDenseRowLinksMax) {
      return invalid("the links of a row of a dense run do not ascend, or are too many", offset);
    }
    last_link_ = last.back();
    totals_.last_page = rows_.pages().back();
    totals_.row_count += goes_on ? 0 : rows_.row_count();
    totals_.link_count += rows_.links().size();
    for (std::size_t row = 0; row < rows_.row_count(); ++row) {
      totals_.target_max = std::max(totals_.target_max, rows_.links(row).back());
    }
    return {};
  }

  /// The pages end with a row. Before the model stand zeros, as few as there can be.
  Result<void> check_end(std::uint64_t end_page, std::uint64_t end_bytes) {
    if (end_page != footer_.last_page + 1 || !ends_with_row_) {
      return invalid("the blocks of a dense link run do not end with its last page", end_bytes);
    }
    const std::uint64_t zeros = format::dense_model_offset(footer_) - end_bytes;
    bool is_clean = zeros < 8;
    if (is_clean && zeros != 0) {
      CRAWLSTORE_TRY(const auto bytes, blocks_.at(end_bytes, zeros));
      is_clean = std::all_of(bytes, bytes + zeros, [](std::byte it) { return it == std::byte{}; });
    }
    if (is_clean) return {};
    return invalid("between the blocks and the model of a dense link run is more than zeros",
                   end_bytes);
  }

  const PayloadSource& payload_;
  const format::LinkRunFooter& footer_;
  const ContentProgress& progress_;
  PayloadWindow index_;
  PayloadWindow blocks_;
  std::vector<std::byte> block_;  // with zeros behind it
  format::LinkRows rows_;
  format::LinkTotals totals_;
  bool ends_with_row_ = false;   // the blocks so far
  std::uint64_t row_links_ = 0;  // of the last row
  std::uint64_t last_link_ = 0;
};

}  // namespace

Result<container::RunContentPtr> check_link_run(const PayloadSource& payload,
                                                const ContentProgress& progress) {
  CRAWLSTORE_TRY(const auto footer, container::read_footer(payload, format::parse_link_footer));
  if (footer.codec == format::kDenseFamily) {
    CRAWLSTORE_TRY(DenseRunWalk(payload, footer, progress).walk());
    CRAWLSTORE_TRY(progress(payload.length_bytes - footer.index_offset_bytes));
  } else {
    LinkWalk walk(payload, footer, progress);
    CRAWLSTORE_TRY(
        container::check_blocked(walk, footer.block_count, payload.length_bytes, progress));
  }
  auto content = std::make_unique<LinkContent>(footer.link_count);
  content->page_min = footer.first_page;
  content->page_max = footer.last_page;
  content->target_max = footer.target_max;
  return content;
}

}  // namespace crawlstore::links
