// SPDX-License-Identifier: Apache-2.0
#include "link_index.h"

#include <cstring>

#include "base/assert.h"
#include "dense_index.h"
#include "endian.h"
#include "invalid.h"
#include "link_block.h"

namespace crawlstore::format {

namespace {

/// nullptr, or the text that names the broken rule.
const char* check_short_footer(const LinkRunFooter& footer, std::uint64_t payload_bytes) {
  if (footer.block_count == 0 ||
      footer.block_count > payload_bytes / (sizeof(LinkBlockHeader) + sizeof(LinkIndexEntry))) {
    return "the block count of a link run is out of range";
  }
  const std::uint64_t tail_bytes = link_tail_bytes(footer.block_count);
  if (tail_bytes > payload_bytes || footer.index_offset_bytes != payload_bytes - tail_bytes ||
      footer.index_offset_bytes < footer.block_count * sizeof(LinkBlockHeader)) {
    return "the index of a link run is out of place";
  }
  // Selectors take 2 bits a row and a link.
  if (footer.row_count < footer.block_count || footer.row_count > footer.index_offset_bytes * 4 ||
      footer.link_count > footer.index_offset_bytes * 4) {
    return "a count of a link run is out of range";
  }
  return nullptr;
}

const char* check_footer(const LinkRunFooter& footer, std::uint64_t payload_bytes) {
  if (footer.magic != kLinkRunMagic) return "the magic number of a link run is wrong";
  if (footer.codec != kLinkFamily && footer.codec != kDenseFamily) {
    return "the codec of a link run is unknown";
  }
  if (footer.reserved != std::array<std::uint16_t, 3>{}) {
    return "reserved bytes of a link run are not zero";
  }
  if (const char* broken = footer.codec == kLinkFamily
                               ? check_short_footer(footer, payload_bytes)
                               : check_dense_footer(footer, payload_bytes)) {
    return broken;
  }
  if (footer.first_page > footer.last_page || footer.last_page > kPageMax ||
      footer.target_max > kPageMax || (footer.link_count == 0 && footer.target_max != 0)) {
    return "the pages of a link run are out of range";
  }
  if (footer.row_count - 1 > footer.last_page - footer.first_page) {
    return "a count of a link run is out of range";
  }
  return nullptr;
}

}  // namespace

void encode_link_tail(std::span<const LinkIndexEntry> index, const LinkTotals& totals,
                      std::uint64_t blocks_bytes, std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!index.empty());
  const LinkRunFooter footer{.row_count = totals.row_count,
                             .link_count = totals.link_count,
                             .block_count = index.size(),
                             .index_offset_bytes = blocks_bytes,
                             .first_page = index.front().first_page,
                             .last_page = totals.last_page,
                             .target_max = totals.target_max,
                             .codec = kLinkFamily,
                             .reserved = {},
                             .magic = kLinkRunMagic};
  const std::size_t start = out.size();
  out.resize(start + link_tail_bytes(index.size()));
  std::memcpy(out.data() + start, index.data(), index.size_bytes());
  store_struct(out.data() + out.size() - sizeof footer, footer);
}

Result<LinkRunFooter> parse_link_footer(std::span<const std::byte> footer_bytes,
                                        std::uint64_t payload_bytes) {
  if (footer_bytes.size() != sizeof(LinkRunFooter) || payload_bytes < sizeof(LinkRunFooter) ||
      payload_bytes > kPayloadBytesMax || payload_bytes % 8 != 0) {
    return invalid("the length of a link run is out of range", 0);
  }
  const auto footer = load_struct<LinkRunFooter>(footer_bytes.data());
  if (const char* broken = check_footer(footer, payload_bytes)) {
    return invalid(broken, payload_bytes - sizeof footer);
  }
  return footer;
}

Result<void> LinkIndexRules::take(const LinkIndexEntry& entry) {
  const bool is_first = count_ == 0;
  const std::uint64_t place = footer_.index_offset_bytes + count_ * sizeof entry;
  ++count_;
  const bool pages_ascend =
      is_first ? entry.first_page == footer_.first_page : entry.first_page > last_.first_page;
  if (!pages_ascend || entry.first_page > footer_.last_page) {
    return invalid("the first pages of a link run do not ascend", place);
  }
  const bool offsets_ascend =
      is_first ? entry.offset_bytes == 0
               : entry.offset_bytes >= last_.offset_bytes + sizeof(LinkBlockHeader);
  if (!offsets_ascend || entry.offset_bytes % 8 != 0 ||
      entry.offset_bytes >= footer_.index_offset_bytes) {
    return invalid("the block offsets of a link run do not ascend", place + 8);
  }
  last_ = entry;
  return {};
}

}  // namespace crawlstore::format
