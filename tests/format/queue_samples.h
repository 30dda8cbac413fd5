// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small queue runs, and what breaks each of their rules.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "format/endian.h"
#include "format/format_samples.h"
#include "format/queue_run.h"

namespace crawlstore::testing {

using QueueGroups = std::vector<std::vector<format::QueueEntry>>;

/// A run of these fragments.
inline Bytes encoded_queue_run(const QueueGroups& groups) {
  Bytes payload;
  std::vector<format::QueueFragment> fragments;
  for (const auto& group : groups) {
    fragments.push_back(format::encode_queue_fragment(group, payload));
  }
  format::encode_queue_tail(fragments, *std::ranges::max_element(groups.back()), payload);
  return payload;
}

inline format::QueueEntry queue_entry(double priority, std::uint64_t page) {
  return {format::queue_order(priority), page};
}

/// Six entries of two fragments, of 2 + 1 and 8 + 1 bytes: 36 bytes, 4 of padding, 64 of index, 40
/// of footer: 144 bytes.
inline QueueGroups sample_queue_groups() {
  return {{queue_entry(1, 7), queue_entry(0.75, 5), queue_entry(1, 9)},
          {queue_entry(0.5, 300), queue_entry(-0.25, 301), queue_entry(0, 310)}};
}

/// The sample with another footer, or another first fragment in its index.
template <class Change>
Bytes with_queue_footer(Change change) {
  Bytes bytes = encoded_queue_run(sample_queue_groups());
  std::byte* const place = bytes.data() + bytes.size() - sizeof(format::QueueRunFooter);
  auto footer = format::load_struct<format::QueueRunFooter>(place);
  change(footer);
  format::store_struct(place, footer);
  return bytes;
}
template <class Change>
Bytes with_queue_fragment(Change change) {
  Bytes bytes = encoded_queue_run(sample_queue_groups());
  std::byte* const place = bytes.data() + bytes.size() - sizeof(format::QueueRunFooter) -
                           2 * sizeof(format::QueueFragment);
  auto fragment = format::load_struct<format::QueueFragment>(place);
  change(fragment);
  format::store_struct(place, fragment);
  return bytes;
}

/// The form in which entries are written.
struct QueueShape {
  std::uint64_t first_page = 0;
  std::uint8_t order_shift = 0;
  std::uint8_t order_bytes = 0;
  std::uint8_t page_bytes = 0;
};

/// A run of one fragment, whose lowest entry is the first one.
inline Bytes wide_queue_run(const std::vector<format::QueueEntry>& entries, const QueueShape& as) {
  const format::QueueFragment shape{.lowest_order = entries.front().order,
                                    .lowest_page = entries.front().page,
                                    .first_page = as.first_page,
                                    .entry_count = static_cast<std::uint32_t>(entries.size()),
                                    .order_shift = as.order_shift,
                                    .order_bytes = as.order_bytes,
                                    .page_bytes = as.page_bytes,
                                    .reserved = 0};
  Bytes payload(format::fragment_bytes(shape));
  std::byte* at = payload.data();
  for (const format::QueueEntry& entry : entries) {
    format::store_number(at, shape.order_bytes,
                         (entry.order - shape.lowest_order) >> shape.order_shift);
    format::store_number(at + shape.order_bytes, shape.page_bytes, entry.page - shape.first_page);
    at += format::entry_bytes(shape);
  }
  format::encode_queue_tail(std::span(&shape, 1), entries.back(), payload);
  return payload;
}

/// Payloads by name: what begins with "rule_N_" breaks rule N of queue.md#queue-runs, all others
/// keep all rules. The library and spec/queue_runs.py are both held to it.
inline std::map<std::string, Bytes> sample_queue_payloads() {
  using Footer = format::QueueRunFooter;
  using Fragment = format::QueueFragment;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Bytes sample = encoded_queue_run(sample_queue_groups());
  return {
      {"sample", sample},
      {"one", encoded_queue_run({{queue_entry(0, 0)}})},
      {"gone", encoded_queue_run({{queue_entry(0, 5), {format::kQueueGone, 3}}})},
      {"equal", encoded_queue_run({{queue_entry(1, 4), queue_entry(1, 4)}, {queue_entry(1, 4)}})},
      {"wide",
       encoded_queue_run({{queue_entry(-kInfinity, 0), queue_entry(kInfinity, (1ULL << 40U) - 1),
                           queue_entry(std::numeric_limits<double>::denorm_min(), 1)}})},
      {"rule_1_magic", with_queue_footer([](Footer& f) { f.magic ^= 1U; })},
      {"rule_1_reserved", with_queue_footer([](Footer& f) { f.reserved = 1; })},
      {"rule_1_length", Bytes(sample.begin() + 4, sample.end())},
      {"rule_1_none", with_queue_footer([](Footer& f) { f.fragment_count = 0; })},
      {"rule_1_many", with_queue_footer([](Footer& f) { f.fragment_count = ~0U; })},
      {"rule_1_order", with_queue_footer([](Footer& f) { f.highest_order = 1; })},
      {"rule_2_none", with_queue_fragment([](Fragment& f) { f.entry_count = 0; })},
      {"rule_2_many", with_queue_fragment([](Fragment& f) { f.entry_count = 65'537; })},
      {"rule_2_shift", with_queue_fragment([](Fragment& f) { f.order_shift = 64; })},
      {"rule_2_width", with_queue_fragment([](Fragment& f) { f.order_bytes = 9; })},
      {"rule_2_reserved", with_queue_fragment([](Fragment& f) { f.reserved = 1; })},
      {"rule_2_order", with_queue_fragment([](Fragment& f) { f.lowest_order = 1; })},
      {"rule_2_page", with_queue_fragment([](Fragment& f) { f.first_page = 1ULL << 40U; })},
      {"rule_3_order",
       with_queue_fragment([](Fragment& f) { f.lowest_order = format::queue_order(0.25); })},
      {"rule_3_highest",
       with_queue_footer([](Footer& f) { f.highest_order = format::queue_order(2); })},
      {"rule_4_count", with_queue_footer([](Footer& f) { ++f.entry_count; })},
      {"rule_5_length", with_queue_fragment([](Fragment& f) { f.order_bytes = 8; })},
      {"rule_6_padding", with(sample, 39, std::uint8_t{1})},
      {"rule_7_limit", with(sample, 0, std::uint16_t{0xFFFF})},
      {"rule_7_page", with_queue_fragment([](Fragment& f) { f.first_page = (1ULL << 40U) - 1; })},
      {"rule_8_lowest", with_queue_fragment([](Fragment& f) { --f.lowest_page; })},
      {"rule_8_highest", with_queue_footer([](Footer& f) { ++f.highest_page; })},
      {"rule_9_page",
       wide_queue_run({queue_entry(1, 7), queue_entry(1, 9)}, {.first_page = 6, .page_bytes = 1})},
      {"rule_9_pages", wide_queue_run({queue_entry(1, 7)}, {.first_page = 7, .page_bytes = 8})},
      {"rule_9_orders", wide_queue_run({queue_entry(1, 7), queue_entry(0.5, 7)},
                                       {.first_page = 7, .order_shift = 52, .order_bytes = 2})},
      {"rule_9_shift", wide_queue_run({queue_entry(1, 7), queue_entry(0.5, 7)},
                                      {.first_page = 7, .order_shift = 51, .order_bytes = 1})},
  };
}

/// The verdict of the parsers, and then of deep verification, on a payload: all entries.
inline Result<std::vector<format::QueueEntry>> check_queue_run(std::span<const std::byte> payload) {
  const auto footer_bytes = payload.last(std::min(payload.size(), sizeof(format::QueueRunFooter)));
  CRAWLSTORE_TRY(const auto footer, format::parse_queue_footer(footer_bytes, payload.size()));
  const std::size_t index_bytes = footer.fragment_count * sizeof(format::QueueFragment);
  const auto index_place = payload.first(payload.size() - footer_bytes.size()).last(index_bytes);
  CRAWLSTORE_TRY(const auto index, format::parse_queue_index(index_place, footer, payload.size()));
  const auto fragments = payload.first(payload.size() - footer_bytes.size() - index_bytes);
  CRAWLSTORE_TRY(format::check_queue_padding(index, fragments.subspan(index.offsets.back())));
  std::vector<format::QueueEntry> entries(index.entry_count);
  auto rest = std::span(entries);
  for (std::size_t i = 0; i < index.fragments.size(); ++i) {
    const auto out = rest.first(index.fragments[i].entry_count);
    const auto bytes = payload.subspan(index.offsets[i], index.offsets[i + 1] - index.offsets[i]);
    CRAWLSTORE_TRY(format::decode_queue_fragment(index, i, bytes, out));
    CRAWLSTORE_TRY(format::check_queue_fragment(index, i, out));
    rest = rest.subspan(out.size());
  }
  return entries;
}

}  // namespace crawlstore::testing
