// SPDX-License-Identifier: Apache-2.0
#include "item_run.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "leb128.h"

namespace crawlstore::format {

namespace {

constexpr std::uint64_t kItemWordBytes = 8;

/// Two numbers of a directory.
struct NumberPair {
  std::uint64_t gap = 0;
  std::uint64_t item_count = 0;
};

/// The highest bit of each byte of a word.
constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;

/// Returns the number of LEB128 bytes up to the lowest bit of `stops`, without the bits of others.
constexpr std::uint64_t joined_bits(std::uint64_t word, std::uint64_t stops) {
  word &= (stops ^ (stops - 1)) & ~kHighBits;
  word = (word & 0x007F'007F'007F'007F) | (word & 0x7F00'7F00'7F00'7F00) >> 1U;
  word = (word & 0x0000'3FFF'0000'3FFF) | (word & 0x3FFF'0000'3FFF'0000) >> 2U;
  return (word & 0x0000'0000'0FFF'FFFF) | (word & 0x0FFF'FFFF'0000'0000) >> 4U;
}

/// Takes two numbers off the front, as take_leb128() does: most lie in one word, and often in two
/// bytes. Where they do not, no branch depends on their lengths, which nothing foretells.
inline bool take_pair(std::span<const std::byte>& rest, NumberPair& pair) {
  const std::uint64_t word =
      rest.size() < kItemWordBytes ? ~std::uint64_t{0} : load<std::uint64_t>(rest.data());
  if ((word & 0x8080) == 0) {
    pair = {word & 0x7F, word >> 8U & 0x7F};
    rest = rest.subspan(2);
    return true;
  }
  const std::uint64_t stops = ~word & kHighBits;
  const std::uint64_t second_stops = stops & (stops - 1);
  if (second_stops == 0) {
    const auto gap = take_leb128(rest);
    const auto item_count = gap ? take_leb128(rest) : std::nullopt;
    if (!item_count) return false;
    pair = {*gap, *item_count};
    return true;
  }
  const auto first_end = static_cast<unsigned>(std::countr_zero(stops)) + 1;  // in bits, of 8
  const auto second_end = static_cast<unsigned>(std::countr_zero(second_stops)) + 1;
  pair.gap = joined_bits(word, stops);
  pair.item_count = joined_bits(word >> first_end, second_stops >> first_end);
  rest = rest.subspan(second_end / 8);
  // The shortest form has a bit in its last byte, unless that is the only one: one is added there.
  const unsigned gap_bytes = first_end / 8;
  const unsigned count_bytes = (second_end - first_end) / 8;
  const std::uint64_t gap_end = (pair.gap | (gap_bytes == 1 ? 1 : 0)) >> (gap_bytes * 7 - 7);
  const std::uint64_t count_end =
      (pair.item_count | (count_bytes == 1 ? 1 : 0)) >> (count_bytes * 7 - 7);
  return std::min(gap_end, count_end) != 0;
}

/// Returns nullptr, or the text that names the broken rule. Each part alone fits `payload_bytes`.
const char* check_item_footer(const ItemRunFooter& footer, std::uint64_t payload_bytes) {
  if (footer.magic != kItemRunMagic) return "the magic number of an item run is wrong";
  if (footer.reserved != 0) return "reserved bytes of an item run are not zero";
  if ((footer.flags & ~kItemsByTime) != 0) return "a flag of an item run is unknown";
  if (footer.block_count == 0) return "an item run has no blocks";
  if (footer.item_count == 0) return "an item run has no items";
  if (footer.block_bytes > payload_bytes || footer.directory_bytes > payload_bytes ||
      item_run_places(footer).footer + sizeof footer != payload_bytes) {
    return "the parts of an item run do not fit its length";
  }
  const bool is_by_time = footer.flags == kItemsByTime;
  if (is_by_time ? footer.group_count != 0 || footer.directory_bytes != 0
                 : footer.group_count == 0 || footer.group_count > footer.directory_bytes / 2) {
    return "the group count of an item run is out of range";
  }
  return nullptr;
}

}  // namespace

void ItemDirectory::add(std::uint32_t group, std::uint64_t item_count) {
  CRAWLSTORE_ASSERT(item_count != 0 && (groups.empty() || groups.back() < group));
  groups.push_back(group);
  begins.push_back(begins.back() + item_count);
}

std::optional<ItemRange> ItemDirectory::find_group(std::uint32_t group) const {
  const auto found = std::ranges::lower_bound(groups, group);
  if (found == groups.end() || *found != group) return std::nullopt;
  const auto place = static_cast<std::size_t>(found - groups.begin());
  return ItemRange{begins[place], begins[place + 1]};
}

void fill_groups(const ItemDirectory& directory, std::uint64_t first_item, std::span<Item> items) {
  CRAWLSTORE_ASSERT(first_item + items.size() <= directory.begins.back());
  const auto above = std::ranges::upper_bound(directory.begins, first_item);
  auto place = static_cast<std::size_t>(above - directory.begins.begin()) - 1;
  while (!items.empty()) {
    const auto left = directory.begins[place + 1] - first_item;
    const auto of_group = items.first(std::min<std::uint64_t>(left, items.size()));
    for (Item& item : of_group) item.group = directory.groups[place];
    items = items.subspan(of_group.size());
    first_item += of_group.size();
    ++place;
  }
}

std::size_t ItemIndex::block_of(std::uint64_t item) const {
  const auto above = std::ranges::upper_bound(first_items, item);
  return static_cast<std::size_t>(above - first_items.begin()) - 1;
}

void encode_item_tail(std::span<const ItemBlockPlace> blocks, const ItemDirectory& directory,
                      std::uint64_t body_bytes, std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!blocks.empty());
  const bool is_by_time = directory.groups.empty();
  ItemRunFooter footer{.item_count = 0,
                       .block_bytes = 0,
                       .directory_bytes = 0,
                       .body_bytes = body_bytes,
                       .group_count = static_cast<std::uint32_t>(directory.groups.size()),
                       .block_count = static_cast<std::uint32_t>(blocks.size()),
                       .flags = is_by_time ? kItemsByTime : 0,
                       .reserved = 0,
                       .magic = kItemRunMagic};
  for (const ItemBlockPlace& block : blocks) {
    footer.item_count += block.item_count;
    footer.block_bytes += block.stored_bytes;
  }
  CRAWLSTORE_ASSERT(is_by_time || directory.begins.back() == footer.item_count);
  const std::size_t directory_at = out.size();
  std::uint64_t next_group = 0;
  for (std::size_t i = 0; i < directory.groups.size(); ++i) {
    append_leb128(directory.groups[i] - next_group, out);
    append_leb128(directory.begins[i + 1] - directory.begins[i], out);
    next_group = directory.groups[i] + std::uint64_t{1};
  }
  footer.directory_bytes = out.size() - directory_at;
  const ItemRunPlaces places = item_run_places(footer);
  std::size_t at = out.size() + (places.index - places.padding);
  out.resize(at + blocks.size_bytes() + sizeof footer);
  for (const ItemBlockPlace& block : blocks) {
    store_struct(out.data() + at, block);
    at += sizeof block;
  }
  store_struct(out.data() + at, footer);
}

ItemRunPlaces item_run_places(const ItemRunFooter& footer) {
  ItemRunPlaces places;
  places.directory = footer.block_bytes;
  places.padding = places.directory + footer.directory_bytes;
  places.index = round_up(places.padding, kItemWordBytes);
  places.footer = places.index + footer.block_count * sizeof(ItemBlockPlace);
  return places;
}

Result<ItemRunFooter> parse_item_footer(std::span<const std::byte> footer_bytes,
                                        std::uint64_t payload_bytes) {
  if (footer_bytes.size() != sizeof(ItemRunFooter) || payload_bytes < sizeof(ItemRunFooter) ||
      payload_bytes > kPayloadBytesMax || payload_bytes % kItemWordBytes != 0) {
    return invalid("the length of an item run is out of range", 0);
  }
  const auto footer = load_struct<ItemRunFooter>(footer_bytes.data());
  if (const char* broken = check_item_footer(footer, payload_bytes)) {
    return invalid(broken, payload_bytes - sizeof footer);
  }
  return footer;
}

Result<ItemIndex> parse_item_index(std::span<const std::byte> index_bytes,
                                   const ItemRunFooter& footer) {
  CRAWLSTORE_ASSERT(index_bytes.size() == footer.block_count * sizeof(ItemBlockPlace));
  const ItemRunPlaces places = item_run_places(footer);
  ItemIndex index;
  index.is_by_time = footer.flags == kItemsByTime;
  index.offsets.reserve(footer.block_count + std::size_t{1});
  index.first_items.reserve(footer.block_count + std::size_t{1});
  std::uint64_t offset = 0;
  std::uint64_t first_item = 0;
  index.offsets.push_back(offset);
  index.first_items.push_back(first_item);
  for (std::uint64_t at = 0; at < index_bytes.size(); at += sizeof(ItemBlockPlace)) {
    const auto block = load_struct<ItemBlockPlace>(index_bytes.data() + at);
    if (block.item_count == 0 || block.item_count > kBlockItemsMax) {
      return invalid("the item count of an item block is out of range", places.index + at);
    }
    index.offsets.push_back(offset += block.stored_bytes);
    index.first_items.push_back(first_item += block.item_count);
  }
  if (first_item != footer.item_count) {
    return invalid("the item count of an item run is not that of its blocks", places.footer);
  }
  if (offset != footer.block_bytes) {
    return invalid("the block bytes of an item run are not those of its blocks", places.footer);
  }
  return index;
}

Result<ItemDirectory> parse_item_directory(std::span<const std::byte> directory_bytes,
                                           const ItemRunFooter& footer) {
  CRAWLSTORE_ASSERT(directory_bytes.size() == footer.directory_bytes);
  ItemDirectory directory;
  directory.groups.resize(footer.group_count);
  directory.begins.resize(footer.group_count + std::size_t{1});
  auto rest = directory_bytes;
  std::uint64_t next_group = 0;
  std::uint64_t begin = 0;
  NumberPair pair;
  for (std::size_t i = 0; i < footer.group_count; ++i) {
    const std::uint64_t place = footer.block_bytes + (directory_bytes.size() - rest.size());
    if (!take_pair(rest, pair))
      return invalid("a number in the directory of an item run is broken", place);
    if (next_group > kGroupMax || pair.gap > kGroupMax - next_group) {
      return invalid("a group of an item run is out of range", place);
    }
    if (pair.item_count == 0 || pair.item_count > footer.item_count - begin) {
      return invalid("the item count of a group of an item run is out of range", place);
    }
    directory.groups[i] = static_cast<std::uint32_t>(next_group + pair.gap);
    next_group += pair.gap + 1;
    directory.begins[i + 1] = begin += pair.item_count;
  }
  const std::uint64_t end = footer.block_bytes + directory_bytes.size();
  if (!rest.empty()) return invalid("the directory of an item run is too long", end - rest.size());
  if (footer.group_count != 0 && begin != footer.item_count) {
    return invalid("the groups of an item run do not have its items", footer.block_bytes);
  }
  return directory;
}

Result<void> read_item_block(const ItemIndex& index, const ItemDirectory& directory,
                             std::size_t number, std::span<const std::byte> bytes, ItemBlock& out) {
  CRAWLSTORE_TRY(decode_item_block(index.frame(number), bytes, out));
  if (!index.is_by_time) fill_groups(directory, index.first_items[number], out.items);
  return {};
}

Result<void> check_item_padding(const ItemRunFooter& footer, std::span<const std::byte> padding) {
  if (is_zero(padding)) return {};
  return invalid("padding of an item run is not zero", item_run_places(footer).padding);
}

Result<void> check_item_body_bytes(const ItemRunFooter& footer, std::uint64_t sum) {
  if (sum == footer.body_bytes) return {};
  return invalid("the body bytes of an item run are not those of its blocks",
                 item_run_places(footer).footer);
}

}  // namespace crawlstore::format
