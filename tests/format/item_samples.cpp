// SPDX-License-Identifier: Apache-2.0
#include "format/item_samples.h"

#include <limits>
#include <optional>

namespace crawlstore::testing {

namespace {

using Footer = format::ItemRunFooter;
using Header = format::ItemBlockHeader;
using Place = format::ItemBlockPlace;
using Payloads = std::map<std::string, Bytes>;

Bytes sample() {
  return encoded_item_run(sample_item_blocks());
}
Bytes timed() {
  return encoded_item_run({sample_timed_items()});
}

/// The sample by group with another entry for its first block.
template <class Change>
Bytes with_place(Change change) {
  return with_item_struct<Place>(sample(), 128, change);
}

Bytes numbers_as_bytes(std::initializer_list<int> numbers) {
  Bytes bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

void add_good(Payloads& to) {
  to["sample"] = sample();
  to["timed"] = timed();
  to["one"] = encoded_item_run({{{item_of(0, 0, 0), ""}}});
  to["lz4"] = encoded_item_run({sample_long_items()});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  to["wide"] =
      encoded_item_run({{{item_of(0, kInfinity, format::kItemIdMax), std::string(300, 'x')},
                         {item_of(0, 1e-300, 0), ""},
                         {item_of(format::kGroupMax, -kInfinity, 1), "12"}}});
  to["wide_timed"] =
      encoded_item_run({{{item_of(0, kInfinity, 0, 1), ""},
                         {item_of(format::kGroupMax, -2, 1, format::kItemTimeMax), "1"}}});
}

void add_footers(Payloads& to) {
  const Bytes whole = sample();
  to["rule_1_length"] = Bytes(whole.begin() + 4, whole.end());
  to["rule_1_magic"] = with_item_footer(whole, [](Footer& f) { f.magic ^= 1U; });
  to["rule_1_reserved"] = with_item_footer(whole, [](Footer& f) { f.reserved = 1; });
  to["rule_1_flag"] = with_item_footer(whole, [](Footer& f) { f.flags = 2; });
  to["rule_1_items"] = with_item_footer(whole, [](Footer& f) { f.item_count = 0; });
  to["rule_1_blocks"] = with_item_footer(whole, [](Footer& f) { f.block_count = 0; });
  to["rule_1_parts"] = with_item_footer(whole, [](Footer& f) { f.block_bytes += 8; });
  to["rule_1_many"] = with_item_footer(whole, [](Footer& f) { f.block_count = ~0U; });
  to["rule_1_long"] = with_item_footer(whole, [](Footer& f) { f.directory_bytes = ~0ULL; });
  to["rule_2_none"] = with_item_footer(whole, [](Footer& f) { f.group_count = 0; });
  to["rule_2_many"] = with_item_footer(whole, [](Footer& f) { f.group_count = ~0U; });
  to["rule_2_timed"] = with_item_footer(timed(), [](Footer& f) { f.group_count = 1; });
  to["rule_2_longer"] = with_item_footer(whole, [](Footer& f) { f.group_count = 1; });
  to["rule_2_cut"] = with_item_directory(numbers_as_bytes({3, 4, 6, 0x81}));
  to["rule_2_long_number"] = with_item_directory(numbers_as_bytes({3, 4, 0x86, 0, 1}));
  to["rule_2_no_items"] = with_item_directory(numbers_as_bytes({3, 5, 6, 0}));
  to["rule_2_sum"] = with_item_directory(numbers_as_bytes({3, 3, 6, 1}));
  to["rule_2_more"] = with_item_directory(numbers_as_bytes({3, 4, 6, 2}));
  to["rule_2_group"] =
      with_item_directory(numbers_as_bytes({3, 4, 0xFB, 0xFF, 0xFF, 0xFF, 0x0F, 1}));
  to["rule_3_none"] = with_place([](Place& p) { p.item_count = 0; });
  to["rule_3_many"] = with_place([](Place& p) { p.item_count = 4097; });
  to["rule_3_items"] = with_item_footer(timed(), [](Footer& f) { ++f.item_count; });
  to["rule_3_bytes"] = with_place([](Place& p) { --p.stored_bytes; });
  to["rule_3_bodies"] = with_item_footer(whole, [](Footer& f) { ++f.body_bytes; });
  to["rule_7_padding"] = with(whole, 127, std::uint8_t{1});
}

void add_headers(Payloads& to) {
  const Bytes whole = sample();
  to["rule_4_reserved"] = with_item_header(whole, [](Header& h) { h.reserved = 1; });
  to["rule_4_shift"] = with_item_header(whole, [](Header& h) { h.order_shift = 64; });
  to["rule_4_width"] = with_item_header(whole, [](Header& h) { h.id_bytes = 9; });
  to["rule_4_time_width"] = with_item_header(timed(), [](Header& h) { h.time_bytes = 7; });
  to["rule_4_codec"] = with_item_header(whole, [](Header& h) { h.codec = 2; });
  to["rule_4_bodies"] = with_item_header(whole, [](Header& h) { h.body_bytes = 131'073; });
  to["rule_4_length"] = with_item_header(whole, [](Header& h) { ++h.body_bytes; });
  to["rule_4_columns"] = with_item_header(whole, [](Header& h) { h.order_bytes = 8; });
  to["rule_4_sum"] = with(whole, 48 + 6, std::uint8_t{0});
  to["rule_4_short"] = with_item_struct<Place>(with_place([](Place& p) { p.stored_bytes = 47; }),
                                               136, [](Place& p) { p.stored_bytes += 15; });
  to["rule_4_lz4"] = with_lz4_bodies(numbers_as_bytes({0x1F, 'a', 1, 0, 0}), 40);
  to["rule_4_offset"] =
      with_lz4_bodies(numbers_as_bytes({0x1F, 'a', 0, 0, 10, 0x50, 'b', 'b', 'b', 'b', 'b'}), 35);
  to["rule_4_expansion"] = with_lz4_bodies(numbers_as_bytes({0x10}), 256);
  to["rule_4_no_gain"] = with_lz4_bodies(numbers_as_bytes({0x20, 'a', 'b'}), 2);
}

void add_items(Payloads& to) {
  const Bytes whole = sample();
  to["rule_5_order"] = with_item_header(whole, [](Header& h) { h.lowest_order = 1; });
  to["rule_5_gone"] =
      encoded_item_run({{{item_of(0, 0, 1), ""}, {{.order = format::kQueueGone, .id = 1}, ""}}});
  to["rule_5_nan"] =
      encoded_item_run({{{item_of(0, 1, 1), ""}, {{.order = ~std::uint64_t{0}, .id = 1}, ""}}});
  to["rule_5_sum"] =
      with(with_item_header(whole, [](Header& h) { h.order_shift = 63; }), 49, std::uint8_t{2});
  to["rule_5_id"] = encoded_item_run({{{item_of(0, 1, 1), ""}, {item_of(0, 1, 1ULL << 63U), ""}}});
  to["rule_5_lowest_id"] = with_item_header(whole, [](Header& h) { h.lowest_id = 1ULL << 63U; });
  to["rule_5_time"] =
      encoded_item_run({{{item_of(0, 1, 1, 1), ""}, {item_of(0, 1, 2, 1ULL << 48U), ""}}});
  to["rule_5_time_0"] = with_item_header(timed(), [](Header& h) { h.lowest_time = 0; });
  to["rule_5_group"] =
      encoded_item_run({{{item_of(0, 1, 1, 1), ""}, {item_of(0xFFFF'FFFF, 1, 2, 1), ""}}});
  to["rule_5_timed"] = with_item_header(whole, [](Header& h) { h.lowest_time = 1; });
  to["rule_5_grouped"] = with_item_header(whole, [](Header& h) { h.lowest_group = 1; });
  to["rule_5_body"] = with_lz4_bodies(Bytes(300), 65'537);
  to["rule_5_length"] =
      with(rewritten_item_run({{item_of(0, 1, 1), ""}}, [](Header& h) { h.length_bytes = 4; }), 48,
           std::uint32_t{0xFFFF'FFFF});
  to["rule_6_order"] = encoded_item_run({{{item_of(0, 1, 1), ""}, {item_of(0, 2, 2), ""}}});
  to["rule_6_equal"] = encoded_item_run({{{item_of(0, 1, 1), "a"}, {item_of(0, 1, 1), "b"}}});
  to["rule_6_blocks"] = encoded_item_run({{{item_of(0, 1, 2), ""}}, {{item_of(0, 1, 1), ""}}});
  to["rule_6_timed"] = encoded_item_run({{{item_of(0, 1, 1, 8), ""}, {item_of(0, 1, 2, 7), ""}}});
}

void add_long_ways(Payloads& to) {
  const SampleItems items = sample_item_blocks().front();
  const SampleItems by_time = sample_timed_items();
  to["rule_8_order"] = rewritten_item_run({items[0]}, [](Header& h) {
    --h.lowest_order;
    h.order_bytes = 1;
  });
  to["rule_8_id"] = rewritten_item_run(items, [](Header& h) { --h.lowest_id; });
  to["rule_8_time"] = rewritten_item_run(by_time, [](Header& h) { --h.lowest_time; });
  to["rule_8_group"] = rewritten_item_run(by_time, [](Header& h) { --h.lowest_group; });
  to["rule_8_body"] = rewritten_item_run(items, [](Header& h) { --h.shortest_body; });
  to["rule_8_shift"] = rewritten_item_run(items, [](Header& h) { --h.order_shift; });
  to["rule_8_no_shift"] = rewritten_item_run({items[0]}, [](Header& h) { h.order_shift = 1; });
  to["rule_8_orders"] = rewritten_item_run(items, [](Header& h) { ++h.order_bytes; });
  to["rule_8_ids"] = rewritten_item_run(items, [](Header& h) { h.id_bytes = 8; });
  to["rule_8_times"] = rewritten_item_run(by_time, [](Header& h) { ++h.time_bytes; });
  to["rule_8_groups"] = rewritten_item_run(by_time, [](Header& h) { ++h.group_bytes; });
  to["rule_8_lengths"] = rewritten_item_run(items, [](Header& h) { ++h.length_bytes; });
}

}  // namespace

std::map<std::string, Bytes> sample_item_payloads() {
  Payloads payloads;
  add_good(payloads);
  add_footers(payloads);
  add_headers(payloads);
  add_items(payloads);
  add_long_ways(payloads);
  return payloads;
}

Result<SampleItems> check_item_run(std::span<const std::byte> payload) {
  const auto footer_bytes = payload.last(std::min(payload.size(), sizeof(Footer)));
  CRAWLSTORE_TRY(const auto footer, format::parse_item_footer(footer_bytes, payload.size()));
  const auto places = format::item_run_places(footer);
  const auto part = [&](std::uint64_t begin, std::uint64_t end) {
    return payload.subspan(begin, end - begin);
  };
  CRAWLSTORE_TRY(const auto index,
                 format::parse_item_index(part(places.index, places.footer), footer));
  CRAWLSTORE_TRY(const auto directory,
                 format::parse_item_directory(part(places.directory, places.padding), footer));
  CRAWLSTORE_TRY(format::check_item_padding(footer, part(places.padding, places.index)));
  SampleItems items;
  format::ItemBlock block;
  std::optional<format::Item> before;
  std::uint64_t body_bytes = 0;
  for (std::size_t i = 0; i < index.block_count(); ++i) {
    const auto bytes = part(index.offsets[i], index.offsets[i + 1]);
    CRAWLSTORE_TRY(format::read_item_block(index, directory, i, bytes, block));
    CRAWLSTORE_TRY(format::check_item_block(index.frame(i), bytes, block, before));
    before = block.items.back();
    body_bytes += block.header.body_bytes;
    for (std::size_t k = 0; k < block.items.size(); ++k) {
      SampleItem item{block.items[k], {}};
      for (const std::byte byte : block.body(k)) item.body += static_cast<char>(byte);
      items.push_back(std::move(item));
    }
  }
  CRAWLSTORE_TRY(format::check_item_body_bytes(footer, body_bytes));
  return items;
}

}  // namespace crawlstore::testing
