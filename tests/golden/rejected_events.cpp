// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with broken event runs. Messages are put together word by word, as
// spec/format.md#event-runs says, for no encoder writes them.
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t struct_pointer(std::uint64_t offset, std::uint64_t data,
                                       std::uint64_t pointers) {
  return offset << 2 | data << 32 | pointers << 48;
}
/// The tag of a list of structs: a pointer with their number for the offset.
constexpr std::uint64_t tag(std::uint64_t count, std::uint64_t data, std::uint64_t pointers) {
  return struct_pointer(count, data, pointers);
}
constexpr std::uint64_t bytes_pointer(std::uint64_t offset, std::uint64_t length) {
  return 1 | offset << 2 | std::uint64_t{2} << 32 | length << 35;
}
constexpr std::uint64_t structs_pointer(std::uint64_t offset, std::uint64_t words) {
  return 1 | offset << 2 | std::uint64_t{7} << 32 | words << 35;
}

/// Where the words of the one event of batch_of() stand.
enum Place : std::size_t { kBatch, kEvents, kTag, kKind, kIndex, kTime, kUrl, kHash, kLinks, kEnd };

/// A message of one event: 3 words of data, 3 pointers, and what is behind them.
Words batch_of(const Words& behind = {}) {
  Words words{struct_pointer(0, 0, 1), structs_pointer(0, 6), tag(1, 3, 3), 0, 0, 0, 0, 0, 0};
  words.insert(words.end(), behind.begin(), behind.end());
  return words;
}

void append(Bytes& bytes, std::uint64_t word) {
  bytes.resize(bytes.size() + 8);
  put<std::uint64_t>(bytes, bytes.size() - 8, word);
}

/// A run of one message.
Bytes run_of(const Words& words, std::uint64_t record_count = 1) {
  Bytes bytes;
  append(bytes, 0x314E52544E564543);  // "CEVNTRN1"
  append(bytes, record_count);
  append(bytes, 0);
  append(bytes, std::uint64_t{words.size()} << 32);
  for (const std::uint64_t word : words) append(bytes, word);
  return bytes;
}

void add_runs(Maker& make) {
  const auto run = [&make](const std::string& name, const std::function<void(Bytes&)>& change) {
    make.payload(name, "pages", SegmentKind::kPageEvents, [&](Bytes& bytes) {
      bytes = run_of(batch_of());
      change(bytes);
    });
  };
  run("event_run_shorter_than_header", [](Bytes& b) { b.resize(16); });
  run("event_run_length_not_of_8", [](Bytes& b) { b.resize(b.size() + 4); });
  run("event_run_message_cut", [](Bytes& b) { b.resize(b.size() - 8); });
  run("event_run_magic", [](Bytes& b) { b[0] ^= std::byte{1}; });
  run("event_run_reserved", [](Bytes& b) { put<std::uint64_t>(b, 16, 1); });
  run("event_run_count_zero", [](Bytes& b) { put<std::uint64_t>(b, 8, 0); });
  run("event_run_count", [](Bytes& b) { put<std::uint64_t>(b, 8, 2); });
  run("event_run_of_two_segments", [](Bytes& b) { put<std::uint32_t>(b, 24, 1); });
  run("event_run_message_too_long", [](Bytes& b) { put<std::uint32_t>(b, 28, 67'108'864 / 8); });
  run("event_run_message_without_words", [](Bytes& b) {
    b.resize(32);
    put<std::uint32_t>(b, 28, 0);
  });
  run("event_run_message_without_events", [](Bytes& b) {
    const Bytes empty = run_of({struct_pointer(0, 0, 1), 0});
    b.insert(b.end(), empty.begin() + 24, empty.end());
  });
}

void add_messages(Maker& make) {
  const auto message = [&make](const std::string& name, const std::function<void(Words&)>& change) {
    make.payload(name, "pages", SegmentKind::kPageEvents, [&](Bytes& bytes) {
      Words words = batch_of();
      change(words);
      bytes = run_of(words);
    });
  };
  message("event_pointer_outside", [](Words& w) { w[kUrl] = bytes_pointer(kEnd - kUrl - 1, 1); });
  message("event_pointer_before_the_segment",
          [](Words& w) { w[kUrl] = bytes_pointer((1U << 30) - 10, 1); });
  message("event_url_of_structs", [](Words& w) {
    w[kUrl] = structs_pointer(2, 0);
    w.push_back(tag(0, 0, 0));
  });
  message("event_url_is_a_struct", [](Words& w) { w[kUrl] = struct_pointer(0, 1, 0); });
  message("event_list_of_bytes", [](Words& w) { w[kEvents] = bytes_pointer(0, 48); });
  message("event_list_longer_than_its_words", [](Words& w) { w[kTag] = tag(2, 3, 3); });
  message("event_tag_is_a_list", [](Words& w) { w[kTag] |= 1; });
  message("event_root_is_a_list", [](Words& w) { w[kBatch] = structs_pointer(0, 1); });
  message("event_links_of_no_bytes", [](Words& w) {
    w[kLinks] = structs_pointer(0, 0);
    w.push_back(tag((1U << 29) - 1, 0, 0));
  });
  message("event_words_pointed_at_twice", [](Words& w) {
    constexpr std::size_t kLinkCount = 40;
    w[kLinks] = structs_pointer(0, kLinkCount);
    w.push_back(tag(kLinkCount, 0, 1));
    for (std::size_t i = 0; i < kLinkCount; ++i) {
      w.push_back(bytes_pointer(kLinkCount - 1 - i, 800));
    }
    w.resize(w.size() + 100);
  });

  message("event_kind", [](Words& w) { w[kKind] = 6; });
  message("event_time_negative", [](Words& w) { w[kTime] = ~std::uint64_t{0}; });
  message("event_score_infinite", [](Words& w) { w[kKind] = std::uint64_t{0x7F800000} << 32; });
  message("event_score_not_a_number", [](Words& w) { w[kKind] = std::uint64_t{0x7FC00000} << 32; });
  message("event_score_of_a_link", [](Words& w) {
    w[kLinks] = structs_pointer(0, 3);
    w.insert(w.end(), {tag(1, 2, 1), 0, 0x7F800000, 0});
  });
  message("event_hash_over_64", [](Words& w) {
    w[kHash] = bytes_pointer(1, 65);
    w.resize(w.size() + 9);
  });
  message("event_links_of_gone", [](Words& w) {
    w[kKind] = 2;
    w[kLinks] = structs_pointer(0, 3);
    w.insert(w.end(), {tag(1, 2, 1), 0, 0, 0});
  });
}

/// What an event names its pages by.
void add_names(Maker& make) {
  const auto waits = [&make](const std::string& name, const char* base, const Words& words) {
    make.directory(
        name, base,
        [&](CraftedFile& f) {
          auto& entry = f.segment(SegmentKind::kPages);
          auto table = *format::parse_pages_table(f.payload(entry));
          if (!table.events) {
            table.events = f.add_segment(SegmentKind::kPageEvents, entry.id).id;
          }
          table.event_count = 1;
          auto& pages = f.segment(SegmentKind::kPages);
          f.set_payload(pages, format::encode_pages_table(table));
          auto& log = f.segment(SegmentKind::kPageEvents);
          log.runs = {f.add_run(log.id, run_of(words), 1)};
        },
        Errc::kSegmentInvalid);
  };
  Words words = batch_of({0x3A61});  // "a:"
  words[kUrl] = bytes_pointer(2, 2);
  waits("event_url_where_pages_have_none", "graph", words);
  words[kUrl] = 0;
  words[kIndex] = 1;
  waits("event_index_where_pages_have_urls", "pages", words);
  words = batch_of({tag(1, 2, 1), 1, 0, 0});
  words[kLinks] = structs_pointer(0, 3);
  waits("event_index_of_a_link_where_pages_have_urls", "pages", words);
  words = batch_of({tag(1, 2, 1), 0, 0, bytes_pointer(0, 2), 0x3A61});
  words[kLinks] = structs_pointer(0, 3);
  waits("event_url_of_a_link_where_pages_have_none", "graph", words);
  make.directory(
      "event_run_records", "pages",
      [](auto& f) { f.segment(SegmentKind::kPageEvents).runs.front().record_count += 1; },
      Errc::kSegmentInvalid);
}

}  // namespace

void add_rejected_events(Maker& make) {
  add_runs(make);
  add_messages(make);
  add_names(make);
}

}  // namespace crawlstore::testing
