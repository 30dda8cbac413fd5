// SPDX-License-Identifier: Apache-2.0
#include "item_block.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "lz4_block.h"
#include "queue_run.h"

namespace crawlstore::format {

namespace {

constexpr std::size_t kWholeBytes = sizeof(std::uint64_t);
constexpr std::uint16_t kRawBodies = static_cast<std::uint16_t>(AuxCodec::kRaw);
constexpr std::uint16_t kLz4Bodies = static_cast<std::uint16_t>(AuxCodec::kLz4);
/// The order of the lowest priority, and so the highest one.
constexpr std::uint64_t kOrderMax = 0xFFF0'0000'0000'0000;

constexpr bool is_item_order(std::uint64_t order) {
  return is_queue_order(order) && order != kQueueGone;
}

/// The least and the greatest number of a column.
struct NumberRange {
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint64_t highest = 0;

  void add(std::uint64_t number) {
    lowest = std::min(lowest, number);
    highest = std::max(highest, number);
  }
  [[nodiscard]] std::uint8_t bytes(unsigned shift = 0) const {
    return static_cast<std::uint8_t>(number_bytes((highest - lowest) >> shift));
  }
};

/// Returns the header of a block of these items, without codec: the shortest one, so there is one.
///   lengths  of the bodies, whose sum is `body_bytes`
ItemBlockHeader item_block_shape(std::span<const Item> items, const NumberRange& lengths,
                                 std::uint32_t body_bytes) {
  NumberRange times;
  NumberRange groups;
  NumberRange orders;
  NumberRange ids;
  std::uint64_t differing = 0;
  for (const Item& item : items) {
    times.add(item.time);
    groups.add(item.group);
    orders.add(item.order);
    ids.add(item.id);
    differing |= item.order ^ items.front().order;
  }
  if (times.highest == 0) groups = {0, 0};  // by group: the directory has them
  // Lower bits that are the same in two orders are 0 in their difference.
  const auto shift = differing == 0 ? 0U : static_cast<unsigned>(std::countr_zero(differing));
  return {.lowest_order = orders.lowest,
          .lowest_id = ids.lowest,
          .lowest_time = times.lowest,
          .lowest_group = static_cast<std::uint32_t>(groups.lowest),
          .shortest_body = static_cast<std::uint32_t>(lengths.lowest),
          .body_bytes = body_bytes,
          .order_shift = static_cast<std::uint8_t>(shift),
          .order_bytes = orders.bytes(shift),
          .id_bytes = ids.bytes(),
          .time_bytes = times.bytes(),
          .group_bytes = groups.bytes(),
          .length_bytes = lengths.bytes(),
          .codec = 0,
          .reserved = 0};
}

constexpr std::size_t item_width(const ItemBlockHeader& header) {
  return std::size_t{header.order_bytes} + header.id_bytes + header.time_bytes +
         header.group_bytes + header.length_bytes;
}

/// Writes a column and returns its end. Numbers are stored whole; what comes next takes the rest.
template <class Number>
std::byte* store_numbers(std::byte* at, std::size_t width, std::size_t count, Number number) {
  if (width == 0) return at;
  for (std::size_t i = 0; i < count; ++i, at += width) store<std::uint64_t>(at, number(i));
  return at;
}

/// Takes a column off the front of a block, which has it, and returns the highest number. `take`
/// gets each one, unless the column has no bytes.
template <class Take>
std::uint64_t take_numbers(std::span<const std::byte>& rest, std::size_t width, std::size_t count,
                           Take take) {
  if (width == 0) return 0;
  const std::byte* at = rest.data();
  // Numbers are loaded whole while there are bytes after them.
  const std::size_t whole_count =
      rest.size() < kWholeBytes ? 0 : std::min(count, (rest.size() - kWholeBytes) / width + 1);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * width);
  std::uint64_t highest = 0;
  for (std::size_t i = 0; i < count; ++i, at += width) {
    const std::uint64_t number =
        i < whole_count ? load<std::uint64_t>(at) & mask : load_number(at, width);
    take(i, number);
    highest = std::max(highest, number);
  }
  rest = rest.subspan(width * count);
  return highest;
}

/// Puts an LZ4 block in place of the last bytes of `out`, if that pays.
bool compress_last(std::size_t raw_bytes, std::vector<std::byte>& out) {
  const std::size_t room = raw_bytes / 8 * 7;
  if (room == 0) return false;
  const std::size_t start = out.size() - raw_bytes;
  out.resize(out.size() + room);
  const auto last = std::span(out).subspan(start);
  const std::size_t length = compress_lz4(last.first(raw_bytes), last.last(room - 1));
  if (length != 0) std::ranges::copy(last.last(room - 1).first(length), last.begin());
  out.resize(start + (length != 0 ? length : raw_bytes));
  return length != 0;
}

/// Returns nullptr, or the text that names the broken rule.
const char* check_item_header(const ItemBlockHeader& header, bool is_by_time) {
  if (header.reserved != 0) return "reserved bytes of an item block are not zero";
  if (header.order_shift > 63 || header.order_bytes > 8 || header.id_bytes > 8 ||
      header.time_bytes > 6 || header.group_bytes > 4 || header.length_bytes > 4) {
    return "a width of an item block is out of range";
  }
  if (header.codec != kRawBodies && header.codec != kLz4Bodies) {
    return "the codec of an item block is unknown";
  }
  if (header.body_bytes > kBlockBodyBytesMax) return "the bodies of an item block are too long";
  if (!is_item_order(header.lowest_order)) {
    return "the lowest order of an item block is of no priority";
  }
  if (header.lowest_id > kItemIdMax || header.lowest_group > kGroupMax ||
      header.lowest_time > kItemTimeMax || header.shortest_body > kItemBodyBytesMax) {
    return "a lowest number of an item block is out of range";
  }
  if (is_by_time && header.lowest_time == 0) return "an item block by time has time 0";
  if (!is_by_time && (header.lowest_time != 0 || header.lowest_group != 0 ||
                      header.time_bytes != 0 || header.group_bytes != 0)) {
    return "an item block by group has times or groups";
  }
  return nullptr;
}

/// Returns nullptr, or the text that names the broken rule.
const char* check_bodies_length(const ItemBlockHeader& header, std::uint64_t bodies_bytes) {
  if (header.codec == kRawBodies) {
    return bodies_bytes == header.body_bytes
               ? nullptr
               : "an item block does not have the length of its parts";
  }
  if (bodies_bytes >= header.body_bytes || bodies_bytes * kLz4ExpansionMax < header.body_bytes) {
    return "the bodies of an item block have a compressed length that cannot be";
  }
  return nullptr;
}

/// Takes the columns but that of lengths off the front of a block. Returns nullptr, or the text
/// that names what is out of range. No store to an item can change a header that is a copy, so a
/// compiler keeps it in registers.
const char* take_items(const ItemBlockHeader header, std::span<const std::byte>& rest,
                       std::span<Item> items) {
  std::ranges::fill(items, Item{.time = header.lowest_time,
                                .group = header.lowest_group,
                                .order = header.lowest_order,
                                .id = header.lowest_id});
  bool is_gone = false;
  const std::uint64_t order = take_numbers(
      rest, header.order_bytes, items.size(), [&](std::size_t i, std::uint64_t number) {
        items[i].order = header.lowest_order + (number << header.order_shift);
        is_gone |= items[i].order == kQueueGone;
      });
  if (is_gone || order > (kOrderMax - header.lowest_order) >> header.order_shift) {
    return "an order of an item block is of no priority";
  }
  const std::uint64_t id = take_numbers(
      rest, header.id_bytes, items.size(),
      [&](std::size_t i, std::uint64_t number) { items[i].id = header.lowest_id + number; });
  if (id > kItemIdMax - header.lowest_id) return "an id of an item block is out of range";
  const std::uint64_t time = take_numbers(
      rest, header.time_bytes, items.size(),
      [&](std::size_t i, std::uint64_t number) { items[i].time = header.lowest_time + number; });
  if (time > kItemTimeMax - header.lowest_time) return "a time of an item block is out of range";
  const std::uint64_t group = take_numbers(
      rest, header.group_bytes, items.size(), [&](std::size_t i, std::uint64_t number) {
        items[i].group = static_cast<std::uint32_t>(header.lowest_group + number);
      });
  if (group > kGroupMax - header.lowest_group) return "a group of an item block is out of range";
  return nullptr;
}

/// Takes the lengths off the front of what take_items() has left. Returns as it does.
const char* take_lengths(const ItemBlockHeader header, std::span<const std::byte>& rest,
                         std::span<std::uint32_t> ends) {
  std::uint64_t end = 0;
  const auto take = [&](std::size_t i, std::uint64_t number) {
    end += header.shortest_body + number;
    ends[i] = static_cast<std::uint32_t>(end);
  };
  const std::uint64_t longest = take_numbers(rest, header.length_bytes, ends.size(), take);
  if (header.length_bytes == 0) {
    for (std::size_t i = 0; i < ends.size(); ++i) take(i, 0);
  }
  if (longest > kItemBodyBytesMax - header.shortest_body) {
    return "the length of a body of an item block is out of range";
  }
  if (end != header.body_bytes) return "the body bytes of an item block are not those of its items";
  return nullptr;
}

/// Returns the bytes after the columns. The caller has proved that columns are there.
std::span<const std::byte> bodies_of(const ItemBlockHeader& header, std::size_t item_count,
                                     std::span<const std::byte> bytes) {
  return bytes.subspan(sizeof header + item_count * item_width(header));
}

/// Returns the header; the columns and the bodies that it tells of are there.
Result<ItemBlockHeader> parse_item_header(const ItemBlockFrame& frame,
                                          std::span<const std::byte> bytes) {
  CRAWLSTORE_ASSERT(frame.item_count != 0 && frame.item_count <= kBlockItemsMax);
  if (bytes.size() < sizeof(ItemBlockHeader)) {
    return invalid("an item block is shorter than its header", frame.offset);
  }
  const auto header = load_struct<ItemBlockHeader>(bytes.data());
  if (const char* broken = check_item_header(header, frame.is_by_time)) {
    return invalid(broken, frame.offset);
  }
  if (frame.item_count * item_width(header) > bytes.size() - sizeof header) {
    return invalid("an item block does not have the length of its parts", frame.offset);
  }
  if (const char* broken =
          check_bodies_length(header, bodies_of(header, frame.item_count, bytes).size())) {
    return invalid(broken, frame.offset);
  }
  return header;
}

}  // namespace

bool is_item(const Item& item) {
  return item.time <= kItemTimeMax && item.group <= kGroupMax && item.id <= kItemIdMax &&
         is_item_order(item.order);
}

EncodedItemBlock encode_item_block(std::span<const Item> items,
                                   std::span<const std::span<const std::byte>> bodies,
                                   AuxCodec codec, std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!items.empty() && items.size() <= kBlockItemsMax);
  CRAWLSTORE_ASSERT(bodies.size() == items.size());
  const std::size_t count = items.size();
  NumberRange lengths;
  std::size_t body_bytes = 0;
  for (const auto& body : bodies) {
    lengths.add(body.size());
    body_bytes += body.size();
  }
  CRAWLSTORE_ASSERT(lengths.highest <= kItemBodyBytesMax && body_bytes <= kBlockBodyBytesMax);
  ItemBlockHeader header = item_block_shape(items, lengths, static_cast<std::uint32_t>(body_bytes));
  const std::size_t start = out.size();
  const std::size_t bodies_at = start + sizeof header + count * item_width(header);
  out.resize(bodies_at + std::max(body_bytes, kWholeBytes));
  std::byte* at = out.data() + start + sizeof header;
  at = store_numbers(at, header.order_bytes, count, [&](std::size_t i) {
    return (items[i].order - header.lowest_order) >> header.order_shift;
  });
  at = store_numbers(at, header.id_bytes, count,
                     [&](std::size_t i) { return items[i].id - header.lowest_id; });
  at = store_numbers(at, header.time_bytes, count,
                     [&](std::size_t i) { return items[i].time - header.lowest_time; });
  at = store_numbers(at, header.group_bytes, count,
                     [&](std::size_t i) { return items[i].group - header.lowest_group; });
  at = store_numbers(at, header.length_bytes, count,
                     [&](std::size_t i) { return bodies[i].size() - header.shortest_body; });
  for (const auto& body : bodies) at = std::copy(body.begin(), body.end(), at);
  out.resize(bodies_at + body_bytes);
  if (codec == AuxCodec::kLz4 && compress_last(body_bytes, out)) header.codec = kLz4Bodies;
  store_struct(out.data() + start, header);
  return {.place = {.stored_bytes = static_cast<std::uint32_t>(out.size() - start),
                    .item_count = static_cast<std::uint32_t>(count)},
          .body_bytes = header.body_bytes};
}

Result<void> decode_item_block(const ItemBlockFrame& frame, std::span<const std::byte> bytes,
                               ItemBlock& out) {
  CRAWLSTORE_TRY(const auto header, parse_item_header(frame, bytes));
  auto rest = bytes.subspan(sizeof header);
  out.header = header;
  out.items.resize(frame.item_count);
  out.body_ends.resize(frame.item_count);
  const char* broken = take_items(header, rest, out.items);
  if (broken == nullptr) broken = take_lengths(header, rest, out.body_ends);
  if (broken != nullptr) return invalid(broken, frame.offset);
  if (header.codec == kRawBodies) {
    out.bodies.assign(rest.begin(), rest.end());
    return {};
  }
  out.bodies.resize(header.body_bytes);
  if (!decompress_lz4(rest, out.bodies)) {
    return invalid("the compressed bodies of an item block are broken", frame.offset);
  }
  return {};
}

Result<void> decode_items(const ItemBlockFrame& frame, std::span<const std::byte> bytes,
                          std::vector<Item>& out) {
  CRAWLSTORE_TRY(const auto header, parse_item_header(frame, bytes));
  auto rest = bytes.subspan(sizeof header);
  out.resize(frame.item_count);
  if (const char* broken = take_items(header, rest, out)) return invalid(broken, frame.offset);
  return {};
}

Result<Item> read_item(const ItemBlockFrame& frame, std::span<const std::byte> bytes,
                       std::uint32_t number) {
  CRAWLSTORE_ASSERT(number < frame.item_count);
  CRAWLSTORE_TRY(const auto header, parse_item_header(frame, bytes));
  const std::byte* column = bytes.data() + sizeof header;
  const auto take = [&](std::size_t width) {
    const std::uint64_t found = load_number(column + number * width, width);
    column += frame.item_count * width;
    return found;
  };
  const std::uint64_t order = take(header.order_bytes);
  const std::uint64_t id = take(header.id_bytes);
  const std::uint64_t time = take(header.time_bytes);
  const std::uint64_t group = take(header.group_bytes);
  const Item item{.time = header.lowest_time + time,
                  .group = static_cast<std::uint32_t>(header.lowest_group + group),
                  .order = header.lowest_order + (order << header.order_shift),
                  .id = header.lowest_id + id};
  if (order > (kOrderMax - header.lowest_order) >> header.order_shift ||
      id > kItemIdMax - header.lowest_id || group > kGroupMax - header.lowest_group ||
      !is_item(item)) {
    return invalid("an item of an item block is out of range", frame.offset);
  }
  return item;
}

Result<std::vector<std::byte>> read_item_body(const ItemBlockFrame& frame,
                                              std::span<const std::byte> bytes,
                                              std::uint32_t number) {
  CRAWLSTORE_TRY(const auto header, parse_item_header(frame, bytes));
  const std::byte* const lengths =
      bytes.data() + sizeof header +
      frame.item_count * (item_width(header) - std::size_t{header.length_bytes});
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i <= number; ++i) {
    begin += length;
    length =
        header.shortest_body + load_number(lengths + i * header.length_bytes, header.length_bytes);
  }
  if (begin + length > header.body_bytes) {
    return invalid("the body bytes of an item block are not those of its items", frame.offset);
  }
  auto bodies = bodies_of(header, frame.item_count, bytes);
  std::vector<std::byte> room;
  if (header.codec == kLz4Bodies) {
    room.resize(header.body_bytes);
    if (!decompress_lz4(bodies, room)) {
      return invalid("the compressed bodies of an item block are broken", frame.offset);
    }
    bodies = room;
  }
  const auto body = bodies.subspan(begin, length);
  return std::vector<std::byte>(body.begin(), body.end());
}

Result<void> check_item_block(const ItemBlockFrame& frame, std::span<const std::byte> bytes,
                              const ItemBlock& block, const std::optional<Item>& before) {
  const ItemBlockHeader& header = block.header;
  if (header.codec == kLz4Bodies &&
      has_lz4_offset_of_zero(bodies_of(header, block.items.size(), bytes))) {
    return invalid("the compressed bodies of an item block are broken", frame.offset);
  }
  const auto descends = [](const Item& a, const Item& b) { return a >= b; };
  if ((before && *before >= block.items.front()) ||
      std::ranges::adjacent_find(block.items, descends) != block.items.end()) {
    return invalid("the items of a run do not ascend", frame.offset);
  }
  NumberRange lengths;
  for (std::size_t i = 0; i < block.items.size(); ++i) lengths.add(block.body(i).size());
  ItemBlockHeader shape = item_block_shape(block.items, lengths, header.body_bytes);
  shape.codec = header.codec;
  if (std::bit_cast<std::array<std::byte, sizeof shape>>(shape) !=
      std::bit_cast<std::array<std::byte, sizeof header>>(header)) {
    return invalid("an item block is not written the shortest way", frame.offset);
  }
  return {};
}

}  // namespace crawlstore::format
