// SPDX-License-Identifier: Apache-2.0
#include "queue_run.h"

#include <algorithm>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "pages_table.h"

namespace crawlstore::format {

namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);

constexpr std::uint64_t low_bits(std::size_t bytes) {
  return bytes == kNumberBytes ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

/// The form in which a fragment of these entries is written: the shortest way, so there is one.
QueueFragment shape_of(std::span<const QueueEntry> entries) {
  QueueEntry lowest = entries.front();
  std::uint64_t page_min = lowest.page;
  std::uint64_t page_max = lowest.page;
  std::uint64_t order_max = lowest.order;
  std::uint64_t differing = 0;
  for (const QueueEntry& entry : entries) {
    if (entry < lowest) lowest = entry;  // rare: no work for the others
    order_max = std::max(order_max, entry.order);
    page_min = std::min(page_min, entry.page);
    page_max = std::max(page_max, entry.page);
    differing |= entry.order ^ entries.front().order;
  }
  // The bits that are the same in two orders are 0 in their difference.
  const auto shift = differing == 0 ? 0 : std::countr_zero(differing);
  return {.lowest_order = lowest.order,
          .lowest_page = lowest.page,
          .first_page = page_min,
          .entry_count = static_cast<std::uint32_t>(entries.size()),
          .order_shift = static_cast<std::uint8_t>(shift),
          .order_bytes = static_cast<std::uint8_t>(
              number_bytes((order_max - lowest.order) >> static_cast<unsigned>(shift))),
          .page_bytes = static_cast<std::uint8_t>(number_bytes(page_max - page_min)),
          .reserved = 0};
}

/// nullptr, or the text that names the broken rule.
const char* check_fragment(const QueueFragment& fragment) {
  if (fragment.reserved != 0) return "reserved bytes of a queue fragment are not zero";
  if (fragment.entry_count == 0 || fragment.entry_count > kQueueFragmentEntriesMax) {
    return "the entry count of a queue fragment is out of range";
  }
  if (fragment.order_shift > 63 || fragment.order_bytes > kNumberBytes ||
      fragment.page_bytes > kNumberBytes) {
    return "a width of a queue fragment is out of range";
  }
  if (!is_queue_order(fragment.lowest_order)) {
    return "the lowest order of a queue fragment is of no priority";
  }
  if (fragment.first_page > kPageMax) return "the first page of a queue fragment is out of range";
  return nullptr;
}

}  // namespace

QueueFragment encode_queue_fragment(std::span<const QueueEntry> entries,
                                    std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!entries.empty() && entries.size() <= kQueueFragmentEntriesMax);
  const QueueFragment fragment = shape_of(entries);
  const std::size_t width = entry_bytes(fragment);
  const std::size_t start = out.size();
  // Numbers are stored whole; the next one, or the end, takes what is too much.
  out.resize(start + entries.size() * width + 2 * kNumberBytes);
  std::byte* at = out.data() + start;
  for (const QueueEntry& entry : entries) {
    store(at, (entry.order - fragment.lowest_order) >> fragment.order_shift);
    store(at + fragment.order_bytes, entry.page - fragment.first_page);
    at += width;
  }
  out.resize(start + entries.size() * width);
  return fragment;
}

void encode_queue_tail(std::span<const QueueFragment> fragments, const QueueEntry& highest,
                       std::vector<std::byte>& out) {
  QueueRunFooter footer{.entry_count = 0,
                        .highest_order = highest.order,
                        .highest_page = highest.page,
                        .fragment_count = static_cast<std::uint32_t>(fragments.size()),
                        .reserved = 0,
                        .magic = kQueueRunMagic};
  std::uint64_t bytes = 0;
  for (const QueueFragment& fragment : fragments) {
    footer.entry_count += fragment.entry_count;
    bytes += fragment_bytes(fragment);
  }
  const std::size_t start = out.size() + (round_up(bytes, kNumberBytes) - bytes);
  out.resize(start + fragments.size_bytes() + sizeof footer);
  std::byte* at = out.data() + start;
  for (const QueueFragment& fragment : fragments) {
    store_struct(at, fragment);
    at += sizeof fragment;
  }
  store_struct(at, footer);
}

Result<QueueRunFooter> parse_queue_footer(std::span<const std::byte> footer_bytes,
                                          std::uint64_t payload_bytes) {
  if (footer_bytes.size() != sizeof(QueueRunFooter) || payload_bytes < sizeof(QueueRunFooter) ||
      payload_bytes > kPayloadBytesMax || payload_bytes % kNumberBytes != 0) {
    return invalid("the length of a queue run is out of range", 0);
  }
  const std::uint64_t place = payload_bytes - sizeof(QueueRunFooter);
  const auto footer = load_struct<QueueRunFooter>(footer_bytes.data());
  if (footer.magic != kQueueRunMagic)
    return invalid("the magic number of a queue run is wrong", place);
  if (footer.reserved != 0) return invalid("reserved bytes of a queue run are not zero", place);
  if (footer.fragment_count == 0 || footer.fragment_count > place / sizeof(QueueFragment)) {
    return invalid("the fragment count of a queue run is out of range", place);
  }
  if (!is_queue_order(footer.highest_order)) {
    return invalid("the highest order of a queue run is of no priority", place);
  }
  return footer;
}

Result<QueueIndex> parse_queue_index(std::span<const std::byte> index_bytes,
                                     const QueueRunFooter& footer, std::uint64_t payload_bytes) {
  CRAWLSTORE_ASSERT(index_bytes.size() == footer.fragment_count * sizeof(QueueFragment));
  const std::uint64_t footer_offset = payload_bytes - sizeof(QueueRunFooter);
  const std::uint64_t index_offset = footer_offset - index_bytes.size();
  QueueIndex index;
  index.highest = {footer.highest_order, footer.highest_page};
  index.fragments.resize(footer.fragment_count);
  index.offsets.assign(1, 0);
  index.offsets.reserve(footer.fragment_count + std::size_t{1});
  QueueEntry before;
  for (std::size_t i = 0; i < index.fragments.size(); ++i) {
    const std::uint64_t at = i * sizeof(QueueFragment);
    const auto fragment = load_struct<QueueFragment>(index_bytes.data() + at);
    if (const char* broken = check_fragment(fragment)) return invalid(broken, index_offset + at);
    if (lowest_of(fragment) < before || index.highest < lowest_of(fragment)) {
      return invalid("the fragments of a queue run do not ascend", index_offset + at);
    }
    before = lowest_of(fragment);
    index.fragments[i] = fragment;
    index.entry_count += fragment.entry_count;
    index.offsets.push_back(index.offsets.back() + fragment_bytes(fragment));
  }
  if (index.entry_count != footer.entry_count) {
    return invalid("the entry count of a queue run is not that of its fragments", footer_offset);
  }
  if (round_up(index.offsets.back(), kNumberBytes) != index_offset) {
    return invalid("the fragments of a queue run do not fit its length", footer_offset);
  }
  return index;
}

Result<void> decode_queue_fragment(const QueueIndex& index, std::size_t number,
                                   std::span<const std::byte> bytes, std::span<QueueEntry> out) {
  const QueueFragment& fragment = index.fragments[number];
  const QueueEntry lowest = lowest_of(fragment);
  const QueueEntry limit = index.limit(number);
  const std::size_t width = entry_bytes(fragment);
  CRAWLSTORE_ASSERT(out.size() == fragment.entry_count && bytes.size() == fragment_bytes(fragment));
  const std::uint64_t order_max = (limit.order - lowest.order) >> fragment.order_shift;
  const std::uint64_t page_max = kPageMax - fragment.first_page;
  const std::byte* at = bytes.data();
  bool is_outside = false;
  const auto take = [&](QueueEntry& entry, std::uint64_t order, std::uint64_t page) {
    entry = {lowest.order + (order << fragment.order_shift), fragment.first_page + page};
    is_outside |= order > order_max || page > page_max || entry < lowest || limit < entry;
    at += width;
  };
  // Numbers are loaded whole while there are bytes behind them.
  const std::size_t narrow_count =
      width == 0 ? out.size() : std::min<std::size_t>(out.size(), 2 * kNumberBytes / width + 1);
  const std::uint64_t order_mask = low_bits(fragment.order_bytes);
  const std::uint64_t page_mask = low_bits(fragment.page_bytes);
  for (QueueEntry& entry : out.first(out.size() - narrow_count)) {
    take(entry, load<std::uint64_t>(at) & order_mask,
         load<std::uint64_t>(at + fragment.order_bytes) & page_mask);
  }
  for (QueueEntry& entry : out.last(narrow_count)) {
    take(entry, load_number(at, fragment.order_bytes),
         load_number(at + fragment.order_bytes, fragment.page_bytes));
  }
  if (is_outside) {
    return invalid("an entry lies outside of its queue fragment", index.offsets[number]);
  }
  return {};
}

Result<void> check_queue_padding(const QueueIndex& index, std::span<const std::byte> padding) {
  if (is_zero(padding)) return {};
  return invalid("padding of a queue run is not zero", index.offsets.back());
}

Result<void> check_queue_fragment(const QueueIndex& index, std::size_t number,
                                  std::span<const QueueEntry> entries) {
  const std::uint64_t place = index.offsets[number];
  const QueueFragment shape = shape_of(entries);
  const QueueFragment& fragment = index.fragments[number];
  if (lowest_of(shape) != lowest_of(fragment)) {
    return invalid("the lowest entry of a queue fragment is not in it", place);
  }
  if (shape.first_page != fragment.first_page || shape.order_shift != fragment.order_shift ||
      shape.order_bytes != fragment.order_bytes || shape.page_bytes != fragment.page_bytes) {
    return invalid("a queue fragment is not written the shortest way", place);
  }
  if (number + 1 == index.fragments.size() && *std::ranges::max_element(entries) != index.highest) {
    return invalid("the highest entry of a queue run is not in its last fragment", place);
  }
  return {};
}

}  // namespace crawlstore::format
