// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files whose directory breaks a rule of page databases, or whose page database
// does not fit its parts.
#include "format/key_block.h"
#include "format/partition_index.h"
#include "format/request_run.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

void add_directory(Maker& make) {
  const auto entry = [&make](const std::string& name, SegmentKind kind,
                             const std::function<void(format::SegmentEntry&)>& change) {
    make.directory(name, "pages", [&](CraftedFile& f) { change(f.segment(kind)); });
  };
  entry("directory_tiled_log", SegmentKind::kPageOrigins,
        [](auto& e) { e.storage_class = StorageClass::kTiled; });
  entry("directory_records_as_log", SegmentKind::kPageRecords,
        [](auto& e) { e.storage_class = StorageClass::kLog; });
  entry("directory_storage_class_unknown", SegmentKind::kPageRecords,
        [](auto& e) { e.storage_class = StorageClass{4}; });
  entry("directory_kind_23", SegmentKind::kPageEvents, [](auto& e) { e.kind = SegmentKind{23}; });
  entry("directory_pages_with_owner", SegmentKind::kPages, [](auto& e) { e.owner = {2}; });
  entry("directory_origins_without_owner", SegmentKind::kPageOrigins,
        [](auto& e) { e.owner = {0}; });
  entry("directory_origins_of_a_drum", SegmentKind::kPageOrigins, [](auto& e) { e.owner = {2}; });
  entry("directory_partition_of_pages", SegmentKind::kDrumPartition,
        [](auto& e) { e.owner = {1}; });
  entry("directory_links_of_origins", SegmentKind::kOutLinks, [](auto& e) { e.owner = {5}; });
  entry("directory_pages_without_name", SegmentKind::kPages, [](auto& e) { e.name.clear(); });
  entry("directory_name_of_records", SegmentKind::kPageRecords,
        [](auto& e) { e.name = "records"; });
  make.directory("directory_name_of_two_pages", "pages_none",
                 [](CraftedFile& f) { f.tables[0].back().name = f.tables[0].front().name; });
  entry("directory_pages_without_run", SegmentKind::kPages, [](auto& e) { e.runs.clear(); });
  entry("directory_pages_with_two_runs", SegmentKind::kPages, [](auto& e) {
    e.runs.push_back(e.runs.front());
    e.runs.back().run_id.value += 1;
  });
  make.directory("directory_log_of_257_runs", "pages", [](CraftedFile& f) {
    auto& log = f.segment(SegmentKind::kOutLinks);
    while (log.runs.size() < 257) {
      log.runs.push_back(log.runs.back());
      log.runs.back().run_id = {f.root.next_run_id++};
    }
  });
  make.directory("feature_bit_of_drums_missing", "pages",
                 [](auto& f) { f.superblock.features_incompat = format::kPagesFeature; });
  make.directory("feature_bit_of_pages_missing", "pages",
                 [](auto& f) { f.superblock.features_incompat = format::kDrumFeature; });
  make.directory("feature_bit_of_fresh_keys_missing", "pages_fresh_keys", [](auto& f) {
    f.superblock.features_incompat = format::kDrumFeature | format::kPagesFeature;
  });
  make.directory("feature_bit_of_contents_missing", "pages_contents",
                 [](auto& f) { f.superblock.features_incompat &= ~format::kContentsFeature; });
  make.directory("directory_fresh_keys_as_blob", "pages_fresh_keys", [](auto& f) {
    f.segment(SegmentKind::kFreshKeys).storage_class = StorageClass::kBlob;
  });
  make.directory("directory_fresh_keys_of_a_drum", "pages_fresh_keys",
                 [](auto& f) { f.segment(SegmentKind::kFreshKeys).owner = {2}; });
}

void add_tables(Maker& make) {
  const auto pages = [&make](const std::string& name,
                             const std::function<void(format::PagesTable&)>& change,
                             const char* base = "pages") { make.pages(name, base, change); };
  const auto bytes = [&make](const std::string& name, const std::function<void(Bytes&)>& change) {
    make.payload(name, "pages", SegmentKind::kPages, change);
  };
  bytes("pages_not_a_flatbuffer", [](Bytes& b) { std::fill(b.begin(), b.end(), std::byte{0xFF}); });
  bytes("pages_length_not_of_8", [](Bytes& b) { b.resize(b.size() + 4); });
  bytes("pages_flag_unknown", [](Bytes& b) {
    const auto table = format::load<std::uint32_t>(b.data());
    const auto vtable = table - format::load<std::uint32_t>(&b[table]);
    put<std::uint32_t>(b, table + format::load<std::uint16_t>(&b[vtable + 4]), 5);
  });
  pages("pages_over_2_to_40", [](auto& t) { t.page_count = (std::uint64_t{1} << 40) + 1; });
  pages("pages_crawled_over_pages", [](auto& t) { t.crawled_count = t.page_count + 1; });
  pages("pages_crawled_and_elsewhere_over_pages",
        [](auto& t) { t.elsewhere_count = t.page_count - t.crawled_count + 1; });
  pages(
      "pages_links_without_pages", [](auto& t) { t.link_count = 1; }, "pages_none");
  pages("pages_keys_without_urls", [](auto& t) { t.has_urls = false; });
  pages("pages_normalizer_not_valid", [](auto& t) { t.normalizer = "a\x7F"; });
  pages(
      "pages_normalizer_without_urls", [](auto& t) { t.normalizer = "raw"; }, "graph");
  pages("pages_urls_without_keys", [](auto& t) { t.keys = {0}; });
  pages("pages_without_origins", [](auto& t) { t.origins = {0}; });
  pages(
      "pages_origins_without_pages", [](auto& t) { t.origins = {9}; }, "pages_none");
  pages(
      "pages_origins_without_urls", [](auto& t) { t.origins = {9}; }, "graph");
  pages("pages_without_records", [](auto& t) { t.records = {0}; });
  pages(
      "pages_records_without_pages", [](auto& t) { t.records = {9}; }, "pages_none");
  pages("pages_events_without_count", [](auto& t) { t.event_count = 0; });
  pages(
      "pages_event_count_without_events", [](auto& t) { t.event_count = 1; }, "pages_none");
  pages("pages_links_without_out_links", [](auto& t) { t.out_links = {0}; });
  pages("pages_links_without_in_links", [](auto& t) { t.in_links = {0}; });
  pages("pages_segment_named_twice", [](auto& t) { t.gone_links = t.in_links; });

  pages("pages_origins_missing", [](auto& t) { t.origins = {7777}; });
  pages("pages_gone_links_missing", [](auto& t) { t.gone_links = {7777}; });
  pages("pages_events_missing", [](auto& t) { t.events = {7777}; });
  pages("pages_links_of_another_kind", [](auto& t) { std::swap(t.out_links, t.in_links); });
  pages("pages_segment_not_named", [](auto& t) { t.gone_links = {0}; });
  make.directory(
      "pages_segment_of_another", "pages_none",
      [](CraftedFile& f) {
        const SegmentId log = f.add_segment(SegmentKind::kGoneLinks, {3}).id;
        auto& entry = f.segment(SegmentKind::kPages);
        auto table = *format::parse_pages_table(f.payload(entry));
        table.gone_links = log;
        f.set_payload(entry, format::encode_pages_table(table));
      },
      Errc::kSegmentInvalid);
  pages("pages_keys_missing", [](auto& t) { t.keys = {7777}; });
  pages("pages_keys_of_another_kind", [](auto& t) { t.keys = {3}; });
  make.directory(
      "pages_keys_of_another_name", "pages",
      [](CraftedFile& f) { f.segment(SegmentKind::kDrum).name = "others"; }, Errc::kSegmentInvalid);
  pages("pages_more_than_origins", [](auto& t) { t.page_count += 1; });
  pages(
      "pages_more_than_records", [](auto& t) { t.page_count += 1; }, "graph");
  pages(
      "pages_fewer_than_records", [](auto& t) { t.page_count -= 1; }, "graph");
  pages("pages_crawled_count", [](auto& t) { t.crawled_count -= 1; });
  pages("pages_elsewhere_count", [](auto& t) { t.elsewhere_count = 1; });
  pages("pages_event_count", [](auto& t) { t.event_count += 1; });
}

void add_key_drums(Maker& make) {
  make.drum("pages_keys_by_the_user", "pages", [](auto& t) { t.key_scheme = KeyScheme::kOpaque; });
  make.drum("pages_keys_of_8_bytes", "pages_none", [](auto& t) {
    t.key_scheme = KeyScheme::kOpaque;
    t.key_bytes = 8;
  });
  make.drum("pages_keys_with_other_values", "pages_none", [](auto& t) { t.value_bytes = 8; });
  make.drum("drum_of_page_keys_without_pages", "wide_keys",
            [](auto& t) { t.key_scheme = KeyScheme::kPage; });
  const std::vector<std::uint64_t> key{7};
  const Bytes value(format::kPageValueBytes);
  make.directory(
      "pages_keys_with_requests", "pages_none",
      [&](CraftedFile& f) {
        format::KeyRun run;
        run.value_bytes = format::kPageValueBytes;
        run.uniform_tag = make_tag(format::Operation::kUpdate, {0});
        run.keys = run.tails = key;
        run.values = value;
        Bytes payload;
        format::encode_key_run(run, payload);
        auto& log = f.add_segment(SegmentKind::kDrumKeyLog, {2});
        log.runs.push_back(f.add_run(log.id, payload, 1));
        auto& drum = f.segment(SegmentKind::kDrum);
        auto table = *format::parse_drum_table(f.payload(drum));
        table.buckets[0].key_log = f.tables.back().back().id;
        table.buckets[0].pending_count = 1;
        table.next_sequence = 1;
        f.set_payload(drum, format::encode_drum_table(table));
      },
      Errc::kSegmentInvalid);
  make.directory(
      "pages_keys_with_answers", "pages_none",
      [&](CraftedFile& f) {
        const std::vector<std::uint64_t> sequence{0};
        const std::vector<std::uint16_t> tag{make_tag(format::Operation::kCheck, {0})};
        const std::vector<std::uint8_t> verdict{0};
        const std::vector<std::uint32_t> aux{0};
        format::ResultRun run;
        run.value_bytes = format::kPageValueBytes;
        run.keys = run.tails = key;
        run.sequences = sequence;
        run.tags = tag;
        run.verdicts = verdict;
        run.aux_lengths = aux;
        run.values = value;
        Bytes payload;
        format::encode_result_run(run, payload);
        auto& log = f.add_segment(SegmentKind::kDrumResults, {2});
        log.runs.push_back(f.add_run(log.id, payload, 1));
        auto& drum = f.segment(SegmentKind::kDrum);
        auto table = *format::parse_drum_table(f.payload(drum));
        table.consumers[0].results = f.tables.back().back().id;
        table.consumers[0].result_count = 1;
        table.next_sequence = 1;
        f.set_payload(drum, format::encode_drum_table(table));
      },
      Errc::kSegmentInvalid);
}

struct Key {
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  Bytes value;
};

/// The keys of a partition of one block, and back.
std::vector<Key> keys_of(const Bytes& payload) {
  const auto footer = *format::parse_partition_footer(
      std::span(payload).last(sizeof(format::PartitionFooter)), payload.size());
  const auto block = *format::parse_key_block(std::span(payload).first(footer.index_offset_bytes),
                                              footer.value_bytes, footer.key_bytes);
  format::BlockNumbers heads{};
  format::BlockNumbers tails{};
  if (!format::decode_keys(block, heads, tails)) std::abort();
  std::vector<Key> keys;
  for (std::uint32_t i = 0; i < block.key_count; ++i) {
    const auto value = format::value_at(block, i, footer.value_bytes);
    keys.push_back({heads[i], tails[i], {value.begin(), value.end()}});
  }
  return keys;
}
Bytes partition_of(const std::vector<Key>& keys) {
  std::vector<std::uint64_t> heads;
  std::vector<std::uint64_t> tails;
  Bytes values;
  for (const Key& key : keys) {
    heads.push_back(key.head);
    tails.push_back(key.tail);
    values.insert(values.end(), key.value.begin(), key.value.end());
  }
  Bytes payload;
  format::encode_wide_key_block(heads, tails, {format::kPageValueBytes, values, {}}, payload);
  format::encode_partition_tail({{heads.front()}, {0}, {tails.front()}}, keys.size(), heads.back(),
                                format::kPageValueBytes, payload.size(), payload);
  return payload;
}

/// The values are the index in 5 bytes, then the witness in 4.
void add_page_keys(Maker& make) {
  const auto keys = [&make](const std::string& name,
                            const std::function<void(std::vector<Key>&)>& change) {
    make.payload(name, "pages", SegmentKind::kDrumPartition, [&](Bytes& bytes) {
      auto all = keys_of(bytes);
      change(all);
      bytes = partition_of(all);
    });
  };
  keys("page_key_index_of_no_page", [](auto& all) { all[0].value[0] = std::byte{6}; });
  keys("page_key_index_of_5_bytes", [](auto& all) { all[0].value[4] = std::byte{1}; });
  keys("page_key_index_twice", [](auto& all) { all[1].value = all[0].value; });
  keys("page_key_of_another_page", [](auto& all) { std::swap(all[0].value, all[1].value); });
  keys("page_key_head", [](auto& all) { all.back().head ^= 1; });
  keys("page_key_tail", [](auto& all) { all.back().tail ^= 1; });
  keys("page_key_witness", [](auto& all) { all.back().value[8] ^= std::byte{1}; });
}

/// A page database that names other fresh keys.
void add_fresh_key_names(Maker& make) {
  const auto pages = [&make](const std::string& name,
                             const std::function<void(format::PagesTable&)>& change,
                             const char* base) { make.pages(name, base, change); };
  pages(
      "pages_fresh_keys_without_keys", [](auto& t) { t.fresh_keys = {9}; }, "graph");
  pages(
      "pages_fresh_keys_named_twice", [](auto& t) { t.fresh_keys = t.origins; }, "pages");
  pages(
      "pages_fresh_keys_missing", [](auto& t) { t.fresh_keys = {7777}; }, "pages");
  pages(
      "pages_fresh_keys_of_another_kind", [](auto& t) { std::swap(t.fresh_keys, t.origins); },
      "pages_fresh_keys");
  pages(
      "pages_fresh_keys_not_named", [](auto& t) { t.fresh_keys = {0}; }, "pages_fresh_keys");
}

/// Keys beside the DRUM of keys, which obey the same rules.
void add_fresh_keys(Maker& make) {
  const auto keys = [&make](const std::string& name,
                            const std::function<void(std::vector<Key>&, CraftedFile&)>& change) {
    make.directory(
        name, "pages_fresh_keys",
        [&](CraftedFile& f) {
          auto& log = f.segment(SegmentKind::kFreshKeys);
          auto all = keys_of(f.payload(log));
          change(all, f);
          f.set_payload(log, partition_of(all));
        },
        Errc::kSegmentInvalid);
  };
  keys("fresh_key_index_of_no_page", [](auto& all, auto&) { all[0].value[0] = std::byte{99}; });
  keys("fresh_key_index_twice", [](auto& all, auto&) { all[1].value = all[0].value; });
  keys("fresh_key_head", [](auto& all, auto&) { all.back().head ^= 1; });
  keys("fresh_key_witness", [](auto& all, auto&) { all.back().value[8] ^= std::byte{1}; });
  keys("fresh_key_is_in_the_drum", [](auto& all, CraftedFile& f) {
    all[0] = keys_of(f.payload(f.segment(SegmentKind::kDrumPartition))).front();
    std::sort(all.begin(), all.end(), [](const Key& a, const Key& b) {
      return std::pair(a.head, a.tail) < std::pair(b.head, b.tail);
    });
  });
  const auto log = [&make](const std::string& name,
                           const std::function<void(CraftedFile&, format::SegmentEntry&)>& change) {
    make.directory(
        name, "pages_fresh_keys",
        [&](CraftedFile& f) { change(f, f.segment(SegmentKind::kFreshKeys)); },
        Errc::kSegmentInvalid);
  };
  log("fresh_key_in_two_runs", [](CraftedFile& f, format::SegmentEntry& entry) {
    const Bytes first = f.payload(entry);
    f.set_payload(entry, first, 1);
    entry.runs[1].record_count = entry.runs[0].record_count;
  });
  log("fresh_keys_record_count",
      [](CraftedFile&, format::SegmentEntry& entry) { entry.runs[0].record_count += 1; });
  log("fresh_keys_lost", [](CraftedFile&, format::SegmentEntry& entry) { entry.runs.pop_back(); });
  log("fresh_keys_magic", [](CraftedFile& f, format::SegmentEntry& entry) {
    Bytes bytes = f.payload(entry);
    bytes.back() ^= std::byte{1};
    f.set_payload(entry, bytes);
  });
  log("fresh_keys_with_other_values", [](CraftedFile& f, format::SegmentEntry& entry) {
    const std::vector<std::uint64_t> head{7};
    Bytes payload;
    format::encode_wide_key_block(head, head, {8, Bytes(8), {}}, payload);
    format::encode_partition_tail({{7}, {0}, {7}}, 1, 7, 8, payload.size(), payload);
    f.set_payload(entry, payload);
    entry.runs[0].record_count = 1;
  });
  log("fresh_keys_of_8_bytes", [](CraftedFile& f, format::SegmentEntry& entry) {
    const std::vector<std::uint64_t> key{7};
    Bytes payload;
    format::encode_key_block(key, format::kPageValueBytes, Bytes(format::kPageValueBytes), {},
                             payload);
    format::encode_partition_tail({{7}, {0}, {}}, 1, 7, format::kPageValueBytes, payload.size(),
                                  payload);
    f.set_payload(entry, payload);
    entry.runs[0].record_count = 1;
  });
}

/// An index of contents that breaks a rule.
void add_contents(Maker& make) {
  const auto table = [&make](const std::string& name,
                             const std::function<void(format::PagesTable&)>& change) {
    make.pages(name, "pages_contents", change);
  };
  table("pages_contents_without_index", [](auto& t) { t.has_contents = false; });
  table("pages_contents_missing", [](auto& t) { t.contents = {7777}; });
  table("pages_contents_named_twice", [](auto& t) { t.contents = t.origins; });
  table("pages_contents_not_named", [](auto& t) { t.contents = {0}; });
  const auto log = [&make](const std::string& name,
                           const std::function<void(CraftedFile&, format::SegmentEntry&)>& change) {
    make.directory(
        name, "pages_contents",
        [&](CraftedFile& f) { change(f, f.segment(SegmentKind::kPageContents)); },
        Errc::kSegmentInvalid);
  };
  const auto one_key = [](CraftedFile& f, format::SegmentEntry& entry, std::uint64_t page,
                          std::int32_t value_bytes) {
    const std::vector<std::uint64_t> head{7};
    const std::vector<std::uint64_t> tail{page};
    const auto bytes = static_cast<std::size_t>(value_bytes);
    Bytes payload;
    format::encode_wide_key_block(head, tail, {value_bytes, Bytes(bytes), {}}, payload);
    format::encode_partition_tail({{7}, {0}, {page}}, 1, 7, value_bytes, payload.size(), payload);
    f.set_payload(entry, payload, 1);
    entry.runs[1].record_count = 1;
  };
  log("content_of_no_page", [&](auto& f, auto& entry) { one_key(f, entry, 99, 0); });
  log("contents_with_values", [&](auto& f, auto& entry) { one_key(f, entry, 0, 8); });
  log("content_in_two_runs", [](CraftedFile& f, format::SegmentEntry& entry) {
    const Bytes first = f.payload(entry);
    f.set_payload(entry, first, 1);
    entry.runs[1].record_count = entry.runs[0].record_count;
  });
  log("content_lost", [](CraftedFile&, format::SegmentEntry& entry) { entry.runs.pop_back(); });
}

}  // namespace

void add_rejected_pages(Maker& make) {
  add_directory(make);
  add_tables(make);
  add_key_drums(make);
  add_page_keys(make);
  add_fresh_key_names(make);
  add_fresh_keys(make);
  add_contents(make);
}

}  // namespace crawlstore::testing
