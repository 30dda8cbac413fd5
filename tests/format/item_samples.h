// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small item runs, and what breaks each of their rules.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "format/endian.h"
#include "format/format_samples.h"
#include "format/item_run.h"
#include "format/queue_run.h"

namespace crawlstore::testing {

struct SampleItem {
  format::Item item;
  std::string body;
  bool operator==(const SampleItem&) const = default;
};
using SampleItems = std::vector<SampleItem>;

inline format::Item item_of(std::uint32_t group, double priority, std::uint64_t id,
                            std::uint64_t time = 0) {
  return {.time = time, .group = group, .order = format::queue_order(priority), .id = id};
}

inline format::EncodedItemBlock encode_sample_block(
    const SampleItems& items, Bytes& out, format::AuxCodec codec = format::AuxCodec::kLz4) {
  std::vector<format::Item> plain;
  std::vector<std::span<const std::byte>> bodies;
  for (const SampleItem& each : items) {
    plain.push_back(each.item);
    bodies.push_back(std::as_bytes(std::span(each.body)));
  }
  return format::encode_item_block(plain, bodies, codec, out);
}

/// The directory of items by group that are sorted; of items by time an empty one.
inline format::ItemDirectory directory_of(const SampleItems& items) {
  format::ItemDirectory directory;
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const SampleItem& each : items) {
    if (each.item.time == 0) ++counts[each.item.group];
  }
  for (const auto& [group, count] : counts) directory.add(group, count);
  return directory;
}

/// A run of these blocks.
inline Bytes encoded_item_run(const std::vector<SampleItems>& blocks) {
  Bytes payload;
  std::vector<format::ItemBlockPlace> places;
  SampleItems all;
  std::uint64_t body_bytes = 0;
  for (const SampleItems& block : blocks) {
    const auto encoded = encode_sample_block(block, payload);
    places.push_back(encoded.place);
    body_bytes += encoded.body_bytes;
    all.insert(all.end(), block.begin(), block.end());
  }
  format::encode_item_tail(places, directory_of(all), body_bytes, payload);
  return payload;
}

/// Five items of two groups in blocks of 62 and 57 bytes, 4 of directory, 5 of padding, 16 of
/// index, 56 of footer: 200 bytes.
inline std::vector<SampleItems> sample_item_blocks() {
  return {{{item_of(3, 1, 7), "ab"}, {item_of(3, 0.75, 5), "c"}, {item_of(3, 0.75, 9), "de"}},
          {{item_of(3, 0.5, 4), ""}, {item_of(10, 2, 12), "xyz"}}};
}

/// Three items in a block of 72 bytes, 8 of index, 56 of footer: 136 bytes.
inline SampleItems sample_timed_items() {
  return {{item_of(4, 1, 3, 1000), "a"},
          {item_of(4, 1, 8, 1000), ""},
          {item_of(2, 0.5, 1, 90'000), "bc"}};
}

/// Bodies of 96 bytes that shrink to a few.
inline SampleItems sample_long_items() {
  return {{item_of(0, 1, 1), std::string(60, 'a')}, {item_of(0, 1, 2), std::string(36, 'a')}};
}

/// `payload` with another struct at `offset`.
template <class Struct, class Change>
Bytes with_item_struct(Bytes payload, std::size_t offset, Change change) {
  auto value = format::load_struct<Struct>(payload.data() + offset);
  change(value);
  format::store_struct(payload.data() + offset, value);
  return payload;
}
template <class Change>
Bytes with_item_footer(const Bytes& payload, Change change) {
  return with_item_struct<format::ItemRunFooter>(
      payload, payload.size() - sizeof(format::ItemRunFooter), change);
}
/// The first block of a run is at its begin.
template <class Change>
Bytes with_item_header(const Bytes& payload, Change change) {
  return with_item_struct<format::ItemBlockHeader>(payload, 0, change);
}

/// A run of one block without compression, whose header is changed before its columns are written.
template <class Change>
Bytes rewritten_item_run(const SampleItems& items, Change change) {
  Bytes block;
  const auto encoded = encode_sample_block(items, block, format::AuxCodec::kRaw);
  auto header = format::load_struct<format::ItemBlockHeader>(block.data());
  change(header);
  Bytes payload(sizeof header);
  format::store_struct(payload.data(), header);
  const auto add_column = [&](std::size_t width, const auto& number) {
    for (const SampleItem& each : items) {
      payload.resize(payload.size() + width);
      format::store_number(payload.data() + payload.size() - width, width, number(each));
    }
  };
  add_column(header.order_bytes, [&](const SampleItem& each) {
    return (each.item.order - header.lowest_order) >> header.order_shift;
  });
  add_column(header.id_bytes,
             [&](const SampleItem& each) { return each.item.id - header.lowest_id; });
  add_column(header.time_bytes,
             [&](const SampleItem& each) { return each.item.time - header.lowest_time; });
  add_column(header.group_bytes, [&](const SampleItem& each) {
    return std::uint64_t{each.item.group} - header.lowest_group;
  });
  add_column(header.length_bytes,
             [&](const SampleItem& each) { return each.body.size() - header.shortest_body; });
  for (const SampleItem& each : items) {
    const Bytes body = bytes_of(each.body);
    payload.insert(payload.end(), body.begin(), body.end());
  }
  const format::ItemBlockPlace place{static_cast<std::uint32_t>(payload.size()),
                                     encoded.place.item_count};
  format::encode_item_tail(std::span(&place, 1), directory_of(items), encoded.body_bytes, payload);
  return payload;
}

/// The sample with another directory of as many bytes, or fewer and zeros.
inline Bytes with_item_directory(const Bytes& directory) {
  Bytes payload = encoded_item_run(sample_item_blocks());
  std::fill_n(payload.begin() + 119, 9, std::byte{0});
  std::ranges::copy(directory, payload.begin() + 119);
  return with_item_footer(payload,
                          [&](format::ItemRunFooter& f) { f.directory_bytes = directory.size(); });
}

/// A run whose bodies are the bytes of this LZ4 block.
inline Bytes with_lz4_bodies(const Bytes& lz4, std::uint32_t body_bytes) {
  format::ItemBlockHeader header{};
  header.lowest_order = format::queue_order(1);
  header.lowest_id = 1;
  header.shortest_body = body_bytes;
  header.body_bytes = body_bytes;
  header.codec = 1;
  Bytes payload = bytes_of_struct(header);
  payload.insert(payload.end(), lz4.begin(), lz4.end());
  const format::ItemBlockPlace place{static_cast<std::uint32_t>(payload.size()), 1};
  format::ItemDirectory directory;
  directory.add(0, 1);
  format::encode_item_tail(std::span(&place, 1), directory, body_bytes, payload);
  return payload;
}

/// Payloads by name: what begins with "rule_N_" breaks rule N of frontier.md#item-runs, all others
/// keep all rules. The library and spec/frontier_items.py are both held to it.
std::map<std::string, Bytes> sample_item_payloads();

/// Returns all items, or the error of the parsers or of deep verification.
Result<SampleItems> check_item_run(std::span<const std::byte> payload);

}  // namespace crawlstore::testing
