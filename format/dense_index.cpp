// SPDX-License-Identifier: Apache-2.0
#include "dense_index.h"

#include <algorithm>

#include "base/assert.h"
#include "dense_block.h"
#include "endian.h"
#include "invalid.h"

namespace crawlstore::format {

void DenseIndex::add(const DenseBlockPlace& block) {
  if (block_count_ == 0) end_page_ = block.first_page;
  const std::size_t entry = block_count_++ % kDenseGroupBlocks;
  if (entry == 0) groups_.push_back({end_page_, blocks_bytes_, {}, {}});
  CRAWLSTORE_ASSERT(block.page_count <= kDenseBlockPages && block.length_bytes <= 0xffff);
  groups_.back().page_counts[entry] = static_cast<std::uint8_t>(block.page_count);
  groups_.back().block_bytes[entry] = static_cast<std::uint16_t>(block.length_bytes);
  end_page_ += block.page_count;
  blocks_bytes_ += block.length_bytes;
}

void DenseIndex::encode_tail(const DenseLengths& model, const LinkTotals& totals,
                             std::vector<std::byte>& out) const {
  CRAWLSTORE_ASSERT(block_count_ != 0);
  const std::uint64_t padding_bytes = (8 - blocks_bytes_ % 8) % 8;
  const LinkRunFooter footer{.row_count = totals.row_count,
                             .link_count = totals.link_count,
                             .block_count = block_count_,
                             .index_offset_bytes = blocks_bytes_ + padding_bytes + kDenseModelBytes,
                             .first_page = groups_.front().first_page,
                             .last_page = totals.last_page,
                             .target_max = totals.target_max,
                             .codec = kDenseFamily,
                             .reserved = {},
                             .magic = kLinkRunMagic};
  out.resize(out.size() + padding_bytes);
  encode_dense_model(model, out);
  const auto index = std::as_bytes(std::span(groups_));
  out.insert(out.end(), index.begin(), index.end());
  const std::size_t place = out.size();
  out.resize(place + sizeof footer);
  store_struct(out.data() + place, footer);
}

const char* check_dense_footer(const LinkRunFooter& footer, std::uint64_t payload_bytes) {
  if (footer.block_count == 0 || footer.block_count > payload_bytes) {
    return "the block count of a link run is out of range";
  }
  const std::uint64_t tail_bytes =
      dense_group_count(footer) * sizeof(DenseIndexGroup) + sizeof footer;
  if (tail_bytes > payload_bytes || footer.index_offset_bytes != payload_bytes - tail_bytes ||
      footer.index_offset_bytes < kDenseModelBytes) {
    return "the index of a link run is out of place";
  }
  if (footer.row_count == 0 || footer.row_count > footer.block_count * kDenseBlockRows ||
      footer.link_count < footer.row_count ||
      footer.link_count > footer.block_count * kDensePieceLinks) {
    return "a count of a link run is out of range";
  }
  return nullptr;
}

Result<DenseGroup> DenseGroup::parse(std::span<const std::byte, sizeof(DenseIndexGroup)> bytes,
                                     const LinkRunFooter& footer, std::uint64_t number) {
  DenseGroup group;
  const DenseIndexGroup& stored = group.stored_ = load_struct<DenseIndexGroup>(bytes.data());
  const std::uint64_t place = footer.index_offset_bytes + number * sizeof stored;
  const std::uint64_t blocks_end = dense_model_offset(footer);
  group.block_count_ = static_cast<std::size_t>(
      std::min<std::uint64_t>(kDenseGroupBlocks, footer.block_count - number * kDenseGroupBlocks));
  std::uint32_t page_count = 0;
  std::uint32_t length_bytes = 0;
  for (std::size_t i = 0; i < kDenseGroupBlocks; ++i) {
    page_count += stored.page_counts[i];
    length_bytes += stored.block_bytes[i];
  }
  group.end_page_ = stored.first_page + page_count;
  group.end_bytes_ = stored.offset_bytes + length_bytes;
  for (std::size_t i = 0; i < kDenseGroupBlocks; ++i) {
    const bool says_something = (stored.page_counts[i] | stored.block_bytes[i]) != 0;
    if (says_something == (i < group.block_count_)) continue;
    return says_something
               ? invalid("an unused entry of a dense link run's index is not zero", place)
               : invalid("a block of a dense link run has neither pages nor bytes", place + 16 + i);
  }
  if (stored.first_page > footer.last_page + 1 || stored.offset_bytes > blocks_end ||
      group.end_page_ > footer.last_page + 1 || group.end_bytes_ > blocks_end) {
    return invalid("the index of a dense link run is out of range", place);
  }
  return group;
}

DenseBlockPlace DenseGroup::block(std::size_t number) const {
  std::uint32_t pages_before = 0;
  std::uint32_t bytes_before = 0;
  for (std::size_t i = 0; i < number; ++i) {
    pages_before += stored_.page_counts[i];
    bytes_before += stored_.block_bytes[i];
  }
  return {stored_.first_page + pages_before, stored_.offset_bytes + bytes_before,
          stored_.page_counts[number], stored_.block_bytes[number]};
}

std::vector<DenseBlockPlace> DenseGroup::blocks() const {
  std::vector<DenseBlockPlace> places;
  places.reserve(block_count_);
  DenseBlockPlace place{stored_.first_page, stored_.offset_bytes, 0, 0};
  for (std::size_t i = 0; i < block_count_; ++i) {
    place.first_page += place.page_count;
    place.offset_bytes += place.length_bytes;
    place.page_count = stored_.page_counts[i];
    place.length_bytes = stored_.block_bytes[i];
    places.push_back(place);
  }
  return places;
}

std::size_t DenseGroup::find(std::uint64_t page) const {
  std::uint64_t first_page = stored_.first_page;
  std::size_t found = 0;
  for (std::size_t i = 0; i < block_count_ && first_page <= page; ++i) {
    found = i;
    first_page += stored_.page_counts[i];
  }
  return found;
}

}  // namespace crawlstore::format
