// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with a broken queue.
#include "format/queue_samples.h"
#include "format/queue_table.h"
#include "format/superblock.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

constexpr const char* kBase = "queues";
constexpr std::uint64_t kMinusZero = std::uint64_t{1} << 63U;

/// The queue that has runs.
format::SegmentEntry& queue_of(CraftedFile& file) {
  for (auto& table : file.tables) {
    for (auto& entry : table) {
      if (entry.kind == SegmentKind::kQueue && entry.name == "queue") return entry;
    }
  }
  return file.segment(SegmentKind::kQueue);
}

void add_table(Maker& make, const std::string& name, const std::function<void(Bytes&)>& change) {
  make.directory(
      name, kBase,
      [&](CraftedFile& file) {
        auto& entry = queue_of(file);
        Bytes bytes = file.payload(entry);
        change(bytes);
        file.set_payload(entry, bytes);
      },
      Errc::kSegmentInvalid);
}

template <class Change>
void add_header(Maker& make, const std::string& name, const Change& change) {
  add_table(make, name, [&](Bytes& bytes) {
    auto header = format::load_struct<format::QueueTableHeader>(bytes.data());
    change(header);
    format::store_struct(bytes.data(), header);
  });
}

template <class Change>
void add_cut(Maker& make, const std::string& name, const Change& change) {
  add_table(make, name, [&](Bytes& bytes) {
    std::byte* const at = bytes.data() + sizeof(format::QueueTableHeader);
    auto cut = format::load_struct<format::QueueRunCut>(at);
    change(cut);
    format::store_struct(at, cut);
  });
}

/// The second run of the log, which has several fragments.
void add_run(Maker& make, const std::string& name, const std::function<void(Bytes&)>& change) {
  make.directory(
      name, kBase,
      [&](CraftedFile& file) {
        auto& log = file.segment(SegmentKind::kQueueEntries);
        Bytes bytes = file.payload(log, 1);
        change(bytes);
        file.set_payload(log, bytes, 1);
      },
      Errc::kSegmentInvalid);
}

template <class Change>
void add_footer(Maker& make, const std::string& name, const Change& change) {
  add_run(make, name, [&](Bytes& bytes) {
    std::byte* const place = bytes.data() + bytes.size() - sizeof(format::QueueRunFooter);
    auto footer = format::load_struct<format::QueueRunFooter>(place);
    change(footer);
    format::store_struct(place, footer);
  });
}

template <class Change>
void add_fragment(Maker& make, const std::string& name, const Change& change) {
  add_run(make, name, [&](Bytes& bytes) {
    std::byte* const place = bytes.data() + bytes.size() - sizeof(format::QueueRunFooter) -
                             sizeof(format::QueueFragment);
    auto fragment = format::load_struct<format::QueueFragment>(place);
    change(fragment);
    format::store_struct(place, fragment);
  });
}

void add_tables(Maker& make) {
  using Header = format::QueueTableHeader;
  using Cut = format::QueueRunCut;
  add_header(make, "queue_magic", [](Header& h) { h.magic ^= 1U; });
  add_header(make, "queue_run_count", [](Header& h) { ++h.run_count; });
  add_table(make, "queue_shorter_than_a_header", [](Bytes& b) { b.resize(24); });
  add_header(make, "queue_without_log", [](Header& h) { h.entries = 0; });
  add_table(make, "queue_of_entries_without_runs", [](Bytes& b) {
    b.resize(sizeof(Header));
    format::store_struct(b.data(), Header{format::kQueueTableMagic, 0, 1, 1, 0, 0});
  });
  add_header(make, "queue_of_another_log", [](Header& h) { h.entries += 1000; });
  add_header(make, "queue_entry_count", [](Header& h) { ++h.entry_count; });
  add_header(make, "queue_page_count", [](Header& h) { --h.page_count; });
  add_header(make, "queue_of_more_pages_than_entries",
             [](Header& h) { h.page_count = h.entry_count + 1; });
  add_header(make, "queue_change_run_count", [](Header& h) { ++h.change_run_count; });
  add_table(make, "queue_changes_descend", [](Bytes& b) {
    auto header = format::load_struct<Header>(b.data());
    ++header.change_run_count;
    format::store_struct(b.data(), header);
    const auto last = b.size() - sizeof(std::uint64_t);
    b.insert(b.end(), b.begin() + static_cast<std::ptrdiff_t>(last), b.end());
  });
  add_table(make, "queue_changes_of_another_run", [](Bytes& b) {
    format::store(b.data() + b.size() - sizeof(std::uint64_t), std::uint64_t{999});
  });
  add_cut(make, "queue_runs_descend", [](Cut& c) { c.run_id += 1000; });
  add_cut(make, "queue_of_another_run", [](Cut& c) { --c.run_id; });
  add_cut(make, "queue_cut_of_minus_zero", [](Cut& c) { c.cut_order = kMinusZero; });
  add_cut(make, "queue_cut_of_page_over_2_40",
          [](Cut& c) { c.cut_page = std::uint64_t{1} << 40U; });
}

void add_runs(Maker& make) {
  using Footer = format::QueueRunFooter;
  using Fragment = format::QueueFragment;
  add_footer(make, "queue_run_magic", [](Footer& f) { f.magic ^= 1U; });
  add_footer(make, "queue_run_reserved", [](Footer& f) { f.reserved = 1; });
  add_footer(make, "queue_run_of_no_fragments", [](Footer& f) { f.fragment_count = 0; });
  add_footer(make, "queue_run_highest_order", [](Footer& f) { f.highest_order = 1; });
  add_footer(make, "queue_run_highest_is_not_there", [](Footer& f) { ++f.highest_page; });
  add_footer(make, "queue_run_entry_count", [](Footer& f) { ++f.entry_count; });
  add_fragment(make, "queue_fragment_of_no_entries", [](Fragment& f) { f.entry_count = 0; });
  add_fragment(make, "queue_fragment_shift", [](Fragment& f) { f.order_shift = 64; });
  add_fragment(make, "queue_fragment_width", [](Fragment& f) { f.page_bytes = 9; });
  add_fragment(make, "queue_fragment_reserved", [](Fragment& f) { f.reserved = 1; });
  add_fragment(make, "queue_fragment_lowest_order", [](Fragment& f) { f.lowest_order = 1; });
  add_fragment(make, "queue_fragment_first_page",
               [](Fragment& f) { f.first_page = std::uint64_t{1} << 40U; });
  add_fragment(make, "queue_fragment_of_pages_over_2_40",
               [](Fragment& f) { f.first_page = (std::uint64_t{1} << 40U) - 1; });
  add_fragment(make, "queue_fragments_descend",
               [](Fragment& f) { f.lowest_order = format::queue_order(1e6); });
  add_fragment(make, "queue_fragment_of_other_length", [](Fragment& f) { ++f.order_bytes; });
  add_fragment(make, "queue_fragment_lowest_is_not_there", [](Fragment& f) { --f.lowest_page; });
  add_run(make, "queue_run_padding", [](Bytes& b) {
    const auto footer = format::load_struct<Footer>(b.data() + b.size() - sizeof(Footer));
    b[b.size() - sizeof(Footer) - footer.fragment_count * sizeof(Fragment) - 1] = std::byte{1};
  });
}

/// The run of five entries, none of which has left, with others.
template <class Change>
void add_entries(Maker& make, const std::string& name, const Change& change) {
  make.directory(
      name, kBase,
      [&](CraftedFile& file) {
        auto& log = file.segment(SegmentKind::kQueueEntries);
        const auto run = std::ranges::find(log.runs, 5U, &format::RunRef::record_count);
        const auto number = static_cast<std::size_t>(run - log.runs.begin());
        std::vector<format::QueueEntry> entries =
            check_queue_run(file.payload(log, number)).value();
        change(entries);
        file.set_payload(log, encoded_queue_run({entries}), number);
      },
      Errc::kSegmentInvalid);
}

}  // namespace

void add_rejected_queues(Maker& make) {
  add_tables(make);
  add_runs(make);
  add_entries(make, "queue_entry_of_no_priority",
              [](auto& entries) { entries.back().order = format::kQueueGone; });
  add_entries(make, "queue_without_an_entry_of_a_changed_page",
              [](auto& entries) { ++entries.back().order; });
  make.directory(
      "queue_record_count", kBase,
      [](CraftedFile& file) {
        ++file.segment(SegmentKind::kQueueEntries).runs.front().record_count;
      },
      Errc::kSegmentInvalid);
  make.directory("directory_queue_without_name", kBase,
                 [](CraftedFile& file) { queue_of(file).name.clear(); });
  make.directory("directory_queues_of_one_name", kBase,
                 [](CraftedFile& file) { queue_of(file).name = "empty"; });
  make.directory("directory_queue_entries_without_owner", kBase,
                 [](CraftedFile& file) { file.segment(SegmentKind::kQueueEntries).owner = {}; });
  make.directory("feature_bit_of_queues_missing", kBase,
                 [](CraftedFile& file) { file.superblock.features_incompat = 0; });
}

}  // namespace crawlstore::testing
