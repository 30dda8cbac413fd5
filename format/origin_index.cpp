// SPDX-License-Identifier: Apache-2.0
#include "origin_index.h"

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"

namespace crawlstore::format {

namespace {

constexpr std::uint64_t kNumberBytesMax = 8;

const char* check_numbers(const OriginFooter& footer, std::uint64_t payload_bytes) {
  if (footer.magic != kOriginRunMagic) {
    return "the magic number of an origin run is wrong";
  }
  if (footer.codec > static_cast<std::uint16_t>(OriginCodec::kZstd) || footer.reserved != 0) {
    return "the codec or reserved bytes of an origin run are wrong";
  }
  if (footer.dictionary_bytes > kOriginDictionaryBytesMax ||
      (footer.dictionary_bytes != 0 && codec_of(footer) == OriginCodec::kRaw)) {
    return "the dictionary of an origin run has a length that cannot be";
  }
  if (footer.block_count == 0 || footer.block_count > payload_bytes / sizeof(OriginBlockHeader)) {
    return "the block count of an origin run is out of range";
  }
  if (footer.page_count < footer.block_count ||
      footer.page_count > footer.block_count * kOriginBlockPagesMax ||
      footer.page_count > ~std::uint64_t{0} - footer.first_page) {
    return "the page count of an origin run is out of range";
  }
  if (footer.url_bytes > payload_bytes * kFrameExpansionMax) {
    return "the URLs of an origin run have a length that cannot be";
  }
  return nullptr;
}

const char* check_place(const OriginFooter& footer, std::uint64_t payload_bytes) {
  if (footer.entry_page_bytes > kNumberBytesMax || footer.entry_offset_bytes > kNumberBytesMax) {
    return "the index of an origin run has numbers that are too long";
  }
  const std::uint64_t index_bytes = footer.block_count * entry_bytes(footer);  // < 2^48
  const std::uint64_t blocks_bytes = footer.block_count * sizeof(OriginBlockHeader);
  if (footer.index_offset_bytes > payload_bytes ||
      round_up(footer.index_offset_bytes + index_bytes, 8) + sizeof footer != payload_bytes ||
      footer.index_offset_bytes < footer.dictionary_bytes + blocks_bytes) {
    return "the index of an origin run is out of place";
  }
  return nullptr;
}

}  // namespace

void encode_origin_tail(std::span<const OriginEntry> entries, OriginFooter footer,
                        std::uint64_t blocks_end, std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!entries.empty());
  footer.block_count = entries.size();
  footer.index_offset_bytes = blocks_end;
  footer.entry_page_bytes = static_cast<std::uint8_t>(number_bytes(entries.back().page));
  footer.entry_offset_bytes = static_cast<std::uint8_t>(number_bytes(entries.back().offset_bytes));
  footer.reserved = 0;
  footer.magic = kOriginRunMagic;
  const std::uint64_t padded = round_up(origin_index_end(footer), 8) - blocks_end;
  std::size_t place = out.size();
  out.resize(place + padded + sizeof footer);
  store_struct(out.data() + out.size() - sizeof footer, footer);
  for (const OriginEntry& entry : entries) {
    store_number(out.data() + place, footer.entry_page_bytes, entry.page);
    place += footer.entry_page_bytes;
    store_number(out.data() + place, footer.entry_offset_bytes, entry.offset_bytes);
    place += footer.entry_offset_bytes;
  }
}

Result<OriginFooter> parse_origin_footer(std::span<const std::byte> footer_bytes,
                                         std::uint64_t payload_bytes) {
  if (footer_bytes.size() != sizeof(OriginFooter) || payload_bytes < sizeof(OriginFooter) ||
      payload_bytes > kPayloadBytesMax || payload_bytes % 8 != 0) {
    return invalid("the length of an origin run is out of range", 0);
  }
  const auto footer = load_struct<OriginFooter>(footer_bytes.data());
  const char* broken = check_numbers(footer, payload_bytes);
  if (broken == nullptr) broken = check_place(footer, payload_bytes);
  if (broken != nullptr) return invalid(broken, payload_bytes - sizeof footer);
  return footer;
}

Extent origin_entry_place(const OriginFooter& footer, std::uint64_t i) {
  return {footer.index_offset_bytes + i * entry_bytes(footer), entry_bytes(footer)};
}

OriginEntry load_origin_entry(const OriginFooter& footer, const std::byte* entry) {
  return {load_number(entry, footer.entry_page_bytes),
          load_number(entry + footer.entry_page_bytes, footer.entry_offset_bytes)};
}

std::uint64_t origin_index_end(const OriginFooter& footer) {
  return footer.index_offset_bytes + footer.block_count * entry_bytes(footer);
}

Result<void> OriginIndexRules::take(const OriginEntry& entry, std::uint64_t page_count,
                                    std::uint64_t block_bytes) {
  if (entry.page != page_ || entry.offset_bytes != offset_bytes_) {
    return invalid("an entry in the index of an origin run is not that of its block",
                   origin_entry_place(footer_, count_).offset_bytes);
  }
  ++count_;
  page_ += page_count;
  offset_bytes_ += block_bytes;
  last_ = entry;
  return {};
}

Result<void> OriginIndexRules::finish(std::span<const std::byte> padding) const {
  if (count_ != footer_.block_count || page_ != footer_.page_count ||
      offset_bytes_ != footer_.index_offset_bytes) {
    return invalid("the blocks of an origin run are not those that its footer counts",
                   footer_.index_offset_bytes);
  }
  if (number_bytes(last_.page) != footer_.entry_page_bytes ||
      number_bytes(last_.offset_bytes) != footer_.entry_offset_bytes) {
    return invalid("the index of an origin run is wider than it must be",
                   footer_.index_offset_bytes);
  }
  if (!is_zero(padding)) {
    return invalid("padding of an origin run is not zero", origin_index_end(footer_));
  }
  return {};
}

}  // namespace crawlstore::format
