// SPDX-License-Identifier: Apache-2.0
#include "links/link_content.h"

#include <algorithm>

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

constexpr std::uint64_t kProgressBytes = 1024 * 1024;

/// Walks the blocks of a link run beside its index.
class LinkRunWalk {
 public:
  LinkRunWalk(const PayloadSource& payload, const format::LinkRunFooter& footer,
              const ContentProgress& progress)
      : footer_(footer),
        progress_(progress),
        rules_(footer),
        index_(payload,
               {footer.index_offset_bytes, footer.block_count * sizeof(format::LinkIndexEntry)},
               progress),
        blocks_(payload, {0, footer.index_offset_bytes}, progress) {}

  Result<void> walk() {
    std::uint64_t reported = 0;
    auto entry = entry_at(0);
    if (!entry) return tl::unexpected<Error>(entry.error());
    for (std::uint64_t i = 1; i <= footer_.block_count; ++i) {
      format::LinkIndexEntry next{0, footer_.index_offset_bytes};
      if (i < footer_.block_count) {
        CRAWLSTORE_TRY(const auto loaded, entry_at(i));
        next = loaded;
      }
      CRAWLSTORE_TRY(walk_block(*entry, next.offset_bytes));
      if (next.offset_bytes - reported >= kProgressBytes) {
        CRAWLSTORE_TRY(progress_(next.offset_bytes - reported));
        reported = next.offset_bytes;
      }
      entry = next;
    }
    CRAWLSTORE_TRY(check_totals());
    return progress_(footer_.index_offset_bytes - reported);
  }

 private:
  Result<format::LinkIndexEntry> entry_at(std::uint64_t i) {
    constexpr std::uint64_t kEntryBytes = sizeof(format::LinkIndexEntry);
    CRAWLSTORE_TRY(const auto bytes,
                   index_.at(footer_.index_offset_bytes + i * kEntryBytes, kEntryBytes));
    const auto entry = format::load_struct<format::LinkIndexEntry>(bytes);
    CRAWLSTORE_TRY(rules_.take(entry));
    return entry;
  }

  /// The block that the index names must end at `end`, where the next one begins.
  Result<void> walk_block(const format::LinkIndexEntry& entry, std::uint64_t end) {
    const std::uint64_t offset = entry.offset_bytes;
    if (end - offset < sizeof(format::LinkBlockHeader)) {
      return invalid("a link block is cut short", offset);
    }
    CRAWLSTORE_TRY(const auto header, blocks_.at(offset, sizeof(format::LinkBlockHeader)));
    const auto length =
        format::link_block_bytes(format::load_struct<format::LinkBlockHeader>(header));
    if (!length) return at_block(length.error(), offset);
    if (*length != end - offset) {
      return invalid("a block of a link run does not end where the index says", offset);
    }
    CRAWLSTORE_TRY(const auto bytes, blocks_.at(offset, *length));
    const std::span<const std::byte> block(bytes, *length);
    const auto decoded = format::decode_link_block(block, rows_);
    if (!decoded) return at_block(decoded.error(), offset);
    encoded_.clear();
    format::encode_link_block({rows_.pages(), rows_.degrees(), rows_.links()}, encoded_);
    if (!std::equal(encoded_.begin(), encoded_.end(), block.begin(), block.end())) {
      return invalid("a link block is not the shortest for its rows", offset);
    }
    return take_rows(entry, offset);
  }

  Result<void> take_rows(const format::LinkIndexEntry& entry, std::uint64_t offset) {
    if (rows_.page(0) != entry.first_page) {
      return invalid("the first page of a block is not the one the index says", offset);
    }
    if (row_count_ != 0 && rows_.page(0) <= last_page_) {
      return invalid("the pages of a link run do not ascend from block to block", offset);
    }
    last_page_ = rows_.pages().back();
    row_count_ += rows_.row_count();
    link_count_ += rows_.links().size();
    for (const std::uint64_t link : rows_.links()) target_max_ = std::max(target_max_, link);
    return {};
  }

  [[nodiscard]] Result<void> check_totals() const {
    if (row_count_ != footer_.row_count || link_count_ != footer_.link_count) {
      return invalid("the blocks of a link run hold other numbers of rows or links than its footer",
                     footer_.index_offset_bytes);
    }
    if (last_page_ != footer_.last_page || target_max_ != footer_.target_max) {
      return invalid("the last page or highest link of a link run is not that of its footer",
                     footer_.index_offset_bytes);
    }
    return {};
  }

  /// What a rule says is relative to the block.
  static Result<void> at_block(Error error, std::uint64_t offset) {
    error.offset += offset;
    return tl::unexpected<Error>(error);
  }

  const format::LinkRunFooter& footer_;
  const ContentProgress& progress_;
  format::LinkIndexRules rules_;
  PayloadWindow index_;
  PayloadWindow blocks_;
  format::LinkRows rows_;
  std::vector<std::byte> encoded_;
  std::uint64_t last_page_ = 0;
  std::uint64_t row_count_ = 0;
  std::uint64_t link_count_ = 0;
  std::uint64_t target_max_ = 0;
};

}  // namespace

Result<container::RunContentPtr> check_link_run(const PayloadSource& payload,
                                                const ContentProgress& progress) {
  const auto footer_bytes =
      std::min<std::uint64_t>(payload.length_bytes, sizeof(format::LinkRunFooter));
  CRAWLSTORE_TRY(const auto bytes,
                 payload.view({payload.length_bytes - footer_bytes, footer_bytes}));
  CRAWLSTORE_TRY(const auto footer,
                 format::parse_link_footer({bytes, footer_bytes}, payload.length_bytes));
  CRAWLSTORE_TRY(LinkRunWalk(payload, footer, progress).walk());
  CRAWLSTORE_TRY(progress(payload.length_bytes - footer.index_offset_bytes));
  auto content = std::make_unique<LinkContent>(footer.link_count);
  content->page_min = footer.first_page;
  content->page_max = footer.last_page;
  content->target_max = footer.target_max;
  return content;
}

}  // namespace crawlstore::links
