// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with broken event runs. Messages are put together word by word, as
// spec/events.md#event-runs says, for no encoder writes them.
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t kUrlWord = 0x3A61;  // "a:"

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

/// The places of the words of a message; from kKind on, those of its first event.
enum Place : std::size_t { kBatch, kEvents, kTag, kKind, kIndex, kTime, kUrl, kHash, kLinks, kEnd };

void append(Bytes& bytes, std::uint64_t word) {
  bytes.resize(bytes.size() + 8);
  put<std::uint64_t>(bytes, bytes.size() - 8, word);
}

/// The message of a run changed; the run has no other.
void message(Maker& make, const std::string& name, const char* base,
             const std::function<void(Words&)>& change) {
  constexpr std::size_t kBegin = 32;
  make.payload(name, base, SegmentKind::kPageEvents, [&](Bytes& bytes) {
    Words words;
    for (std::size_t i = kBegin; i < bytes.size(); i += 8) {
      words.push_back(format::load<std::uint64_t>(&bytes[i]));
    }
    change(words);
    bytes.resize(kBegin);
    put<std::uint32_t>(bytes, 28, static_cast<std::uint32_t>(words.size()));
    for (const std::uint64_t word : words) append(bytes, word);
  });
}

void add_runs(Maker& make) {
  const auto run = [&make](const std::string& name, const std::function<void(Bytes&)>& change) {
    make.payload(name, "graph_of_one_edit", SegmentKind::kPageEvents, change);
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
    for (const std::uint64_t word : {std::uint64_t{2} << 32, struct_pointer(0, 0, 1), 0UL}) {
      append(b, word);
    }
  });
}

void add_messages(Maker& make) {
  const auto message = [&make](const std::string& name, const std::function<void(Words&)>& change) {
    testing::message(make, name, "graph_of_one_edit", change);
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

  message("event_kind", [](Words& w) { w[kKind] = 10; });
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
  message("event_redirect_to_two_pages", [](Words& w) {
    w[kKind] = 7;
    w[kLinks] = structs_pointer(0, 6);
    w.insert(w.end(), {tag(2, 2, 1), 0, 0, 0, 0, 0, 0});
  });
  message("event_links_of_gone", [](Words& w) {
    w[kKind] = 2;
    w[kLinks] = structs_pointer(0, 3);
    w.insert(w.end(), {tag(1, 2, 1), 0, 0, 0});
  });
}

/// Adds files for the names that an event gives its pages.
void add_names(Maker& make) {
  message(make, "event_url_where_pages_have_none", "graph_of_one_edit", [](Words& w) {
    w[kUrl] = bytes_pointer(2, 2);
    w.push_back(kUrlWord);
  });
  message(make, "event_url_of_a_link_where_pages_have_none", "graph_of_one_edit", [](Words& w) {
    w[kLinks] = structs_pointer(0, 3);
    w.insert(w.end(), {tag(1, 2, 1), 0, 0, bytes_pointer(0, 2), kUrlWord});
  });
  message(make, "event_index_where_pages_have_urls", "pages", [](Words& w) {
    w[kUrl] = 0;
    w[kIndex] = 1;
  });
  message(make, "event_index_of_a_link_where_pages_have_urls", "pages", [](Words& w) {
    const std::size_t link = kLinks + 2 + (w[kLinks] >> 2 & 0x3FFFFFFF);
    w[link] = 1;
    w[link + 2] = 0;
  });
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
