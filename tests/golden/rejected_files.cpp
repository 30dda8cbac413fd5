// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files: each a valid one in which one rule is broken and, where a checksum
// would hide that, the checksums are made right again.
#include <map>

#include <crawlstore/error.h>

#include "format/root_extent.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

std::size_t footer(const Bytes& bytes) {
  return bytes.size() - sizeof(format::PartitionFooter);
}
/// The end of the lower bits of the first key block.
std::size_t lower_bits_end(const Bytes& b) {
  const auto key_count = format::load<std::uint16_t>(b.data() + 8);
  const auto upper_words = format::load<std::uint16_t>(b.data() + 10);
  const auto low_bits = std::to_integer<std::size_t>(b[12]) * (key_count - 1U);
  return 16 + 8U * upper_words + (low_bits + 63) / 64 * 8;
}

const std::map<std::size_t, std::string>& root_end_fields() {
  static const std::map<std::size_t, std::string> kNames{
      {0, "magic"},        {8, "format_version"},     {12, "reserved"},    {16, "uuid"},
      {32, "key_seed"},    {40, "created"},           {48, "generation"},  {56, "features_compat"},
      {64, "features_ro"}, {72, "features_incompat"}, {80, "commit_time"}, {88, "high_water"},
      {96, "root_offset"}, {104, "root_payload"}};
  return kNames;
}

/// The end of the root says something else than what leads to it, in the field at `place`.
void add_root_end(Maker& make, std::size_t place, const std::string& name) {
  CraftedFile file(make.valid("keys_and_pending"));
  file.assemble();
  const Extent extent = format::root_extent(file.superblock);
  const auto root = std::span(file.bytes).subspan(extent.offset_bytes, extent.length_bytes);
  root[root.size() - sizeof(format::RootEnd) + place] ^= std::byte{8};
  const auto checksum =
      format::checksum(root.first(root.size() - 8),
                       format::extent_seed(file.identity.uuid, format::ChecksumDomain::kRoot,
                                           {file.superblock.generation}, extent.offset_bytes));
  format::store(root.data() + root.size() - 8, checksum);
  file.superblock.root_checksum = checksum;
  file.write_superblocks();
  make.add("root_end_" + name, Errc::kDirectoryInvalid, "keys_and_pending", file);
}

/// The end of a run says something else than the directory, and all checksums are right.
void add_run_end(Maker& make, const std::string& name, const std::string& base, SegmentKind kind,
                 const std::function<void(format::RunEnd&)>& change) {
  CraftedFile file(make.valid(base));
  auto& entry = file.segment(kind);
  file.set_end(entry, change);
  file.assemble();
  make.add("run_end_" + name, Errc::kSegmentInvalid, base, file);
}

void add_run_ends(Maker& make) {
  const auto add = [&make](const std::string& name,
                           const std::function<void(format::RunEnd&)>& change) {
    add_run_end(make, name, "keys_and_pending", SegmentKind::kDrumPartition, change);
  };
  add("magic", [](auto& end) { ++end.magic; });
  add("kind", [](auto& end) { ++end.kind; });
  add("reserved", [](auto& end) { ++end.reserved; });
  add("segment", [](auto& end) { ++end.segment_id; });
  add("run", [](auto& end) { ++end.run_id; });
  add("owner", [](auto& end) { ++end.owner; });
  add("payload_bytes", [](auto& end) { ++end.payload_bytes; });
  add("record_count", [](auto& end) { ++end.record_count; });
  add("first_of_blob", [](auto& end) { end.first = 1; });
  add_run_end(make, "first_of_log", "keys_and_pending", SegmentKind::kDrumKeyLog,
              [](auto& end) { end.first = end.run_id; });
  add_run_end(make, "highest_first_of_log", "keys_and_pending", SegmentKind::kDrumKeyLog,
              [](auto& end) { end.first = ~std::uint64_t{0}; });
  add_run_end(make, "first_of_tiles", "graph", SegmentKind::kPageRecords,
              [](auto& end) { end.first = 1; });
}

void add_slots(Maker& make) {
  // Each field is wrong by a bit, and the checksum right.
  for (const auto& [place, name] : root_end_fields()) add_root_end(make, place, name);
  const auto slot_of_previous = [](const Bytes& b) {
    return format::kSuperblockOffsets[1 - CraftedFile(b).superblock.generation % 2];
  };
  make.raw("superblock_slot_empty", Errc::kSuperblockDamaged, "keys_and_pending", [&](Bytes& b) {
    for (const auto offset : slot_of_previous(b)) {
      std::fill_n(b.begin() + static_cast<std::ptrdiff_t>(offset), 4096, std::byte{0});
    }
  });
  make.raw("superblock_slot_invalid", Errc::kSuperblockDamaged, "keys_and_pending", [&](Bytes& b) {
    for (const auto offset : slot_of_previous(b)) b[offset + 40] ^= std::byte{1};
  });
  make.raw("superblock_slot_lost_with_its_root", Errc::kSuperblockDamaged, "unfinished_commit",
           [&](Bytes& b) {
             for (const auto offset : slot_of_previous(b)) b[offset + 40] ^= std::byte{1};
           });
  for (const std::size_t place : {80U, 88U, 104U}) {
    // The only other slot of these files, so that the generation is reported as lost.
    CraftedFile file(make.valid("other_slot_tombstone"));
    for (const auto offset : slot_of_previous(file.bytes)) {
      auto tombstone = format::load_struct<format::Superblock>(file.bytes.data() + offset);
      reinterpret_cast<std::byte*>(&tombstone)[place] = std::byte{1};
      tombstone = format::seal_superblock(tombstone, file.identity.uuid, tombstone.slot_index,
                                          tombstone.copy_index);
      format::store_struct(file.bytes.data() + offset, tombstone);
    }
    make.add("tombstone_field_" + std::to_string(place), Errc::kSuperblockDamaged,
             "other_slot_tombstone", file);
  }
}

void add_identity_and_superblock(Maker& make) {
  make.raw("identity_magic", Errc::kNotACrawlFile, "empty",
           [](Bytes& b) { b[1] = std::byte{'X'}; });
  make.raw("identity_empty_file", Errc::kNotACrawlFile, "empty", [](Bytes& b) { b.clear(); });
  make.raw("identity_cut", Errc::kTruncated, "empty", [](Bytes& b) { b.resize(100); });
  make.identity("identity_newer_version", Errc::kNewerVersion,
                [](auto& i) { i.format_version = format::kFormatVersion + 1; });
  make.identity("identity_older_version", Errc::kOlderVersion,
                [](auto& i) { i.format_version = format::kFormatVersion - 1; });
  make.identity("identity_byte_order", Errc::kIdentityDamaged,
                [](auto& i) { i.byte_order = 0x04030201; });
  make.identity("identity_unit", Errc::kIdentityDamaged, [](auto& i) { i.unit_bytes = 8192; });
  make.identity("identity_chunk", Errc::kIdentityDamaged, [](auto& i) { i.chunk_bytes = 4096; });
  make.identity("identity_reserved", Errc::kIdentityDamaged,
                [](auto& i) { i.reserved[7] = std::byte{1}; });
  make.raw("identity_checksum", Errc::kIdentityDamaged, "empty",
           [](Bytes& b) { b[20] ^= std::byte{1}; });

  make.raw("superblock_none_valid", Errc::kSuperblockDamaged, "empty", [](Bytes& b) {
    for (const auto& slot : format::kSuperblockOffsets) {
      for (const auto offset : slot) b[offset + 40] ^= std::byte{1};
    }
  });
  make.raw("superblock_all_empty", Errc::kSuperblockDamaged, "empty",
           [](Bytes& b) { std::fill_n(b.begin() + 16384, 65536, std::byte{0}); });
  make.raw("superblock_copies_swapped", Errc::kSuperblockDamaged, "empty", [](Bytes& b) {
    std::swap_ranges(b.begin() + 32768, b.begin() + 36864, b.begin() + 65536);
  });
  make.raw("superblock_of_another_slot", Errc::kSuperblockDamaged, "empty", [](Bytes& b) {
    std::swap_ranges(b.begin() + 16384, b.begin() + 20480, b.begin() + 32768);
    std::swap_ranges(b.begin() + 49152, b.begin() + 53248, b.begin() + 65536);
  });
  make.raw("gap_behind_identity", Errc::kSuperblockDamaged, "empty",
           [](Bytes& b) { b[5000] = std::byte{1}; });
  make.raw("gap_between_copies", Errc::kSuperblockDamaged, "empty",
           [](Bytes& b) { b[30000] = std::byte{1}; });
  make.raw("gap_before_data", Errc::kSuperblockDamaged, "empty",
           [](Bytes& b) { b[81919] = std::byte{1}; });
  make.raw("file_cut_before_superblocks", Errc::kTruncated, "empty",
           [](Bytes& b) { b.resize(16384); });
  make.raw("file_cut_behind_invalid_superblock", Errc::kTruncated, "keys_and_pending",
           [](Bytes& b) {
             b[16384 + 100] ^= std::byte{1};
             b.resize(32768 + 100);
           });
  make.raw("file_cut_behind_valid_superblock", Errc::kTruncated, "keys_and_pending",
           [](Bytes& b) { b.resize(49152); });
  make.raw("file_shorter_than_high_water", Errc::kTruncated, "keys_and_pending",
           [](Bytes& b) { b.resize(format::kDataStart + 4096); });
  make.superblock("feature_incompat_unknown", Errc::kUnknownFeature,
                  [](auto& s) { s.features_incompat |= 512; });
  make.superblock("feature_incompat_highest", Errc::kUnknownFeature,
                  [](auto& s) { s.features_incompat |= std::uint64_t{1} << 63; });
  make.superblock("superblock_generation_over_limit", Errc::kSuperblockDamaged,
                  [](auto& s) { s.generation = std::uint64_t{1} << 62; });
  make.superblock("root_offset_unaligned", Errc::kDirectoryInvalid,
                  [](auto& s) { s.root_offset_bytes += 8; });
  make.superblock("root_in_superblocks", Errc::kDirectoryInvalid,
                  [](auto& s) { s.root_offset_bytes = 4096; });
  make.superblock("root_behind_high_water", Errc::kDirectoryInvalid,
                  [](auto& s) { s.root_offset_bytes = s.high_water_bytes; });
  make.superblock("root_payload_not_of_8", Errc::kDirectoryInvalid,
                  [](auto& s) { s.root_payload_bytes -= 1; });
  make.superblock("root_payload_empty", Errc::kSuperblockDamaged,
                  [](auto& s) { s.root_payload_bytes = 0; });
  make.superblock("root_checksum", Errc::kDirectoryDamaged, [](auto& s) { s.root_checksum ^= 1; });
  make.superblock("high_water_unaligned", Errc::kDirectoryInvalid,
                  [](auto& s) { s.high_water_bytes -= 8; });
}

void add_directory(Maker& make) {
  const std::string base = "keys_and_pending";
  const auto key_log = [](CraftedFile & f) -> auto& {
    return f.segment(SegmentKind::kDrumKeyLog);
  };
  const auto partition = [](CraftedFile & f) -> auto& {
    return f.segment(SegmentKind::kDrumPartition);
  };
  make.directory(
      "directory_generation", base, [](auto& f) { f.root.generation.value += 1; },
      Errc::kDirectoryInvalid);
  make.directory("directory_next_segment_id", base, [](auto& f) { f.root.next_segment_id = 1; });
  make.directory("directory_next_run_id", base, [](auto& f) { f.root.next_run_id = 1; });
  make.directory("directory_taken_back", base,
                 [](auto& f) { f.root.taken_back = f.root.generation; });
  make.directory("directory_ids_descend", base,
                 [](auto& f) { std::swap(f.tables[0][0], f.tables[0][1]); });
  make.directory("directory_id_zero", base, [](auto& f) { f.tables[0][0].id = {0}; });
  make.directory("directory_table_twice", base, [](auto& f) { f.tables.push_back(f.tables[0]); });
  make.directory("directory_table_empty", base, [](auto& f) { f.tables.push_back({}); });
  make.directory("directory_segment_id_not_below_next", base,
                 [](auto& f) { f.tables.back().back().id = {f.root.next_segment_id}; });
  make.references("directory_table_payload_not_of_8", base,
                  [](auto& root) { root.tables[0].payload_bytes -= 1; });
  make.references("directory_held_table_payload_not_of_8", "held_tables",
                  [](auto& root) { root.held_tables[0].payload_bytes -= 1; });
  make.references("directory_segment_count", base,
                  [](auto& root) { root.tables[0].segment_count -= 1; });
  make.references("directory_segment_count_zero", base,
                  [](auto& root) { root.tables[0].segment_count = 0; });
  make.references("directory_first_segment_id", "tables_several", [](auto& root) {
    root.next_segment_id += 1;
    root.tables.back().first_segment.value += 1;
  });
  make.references("directory_held_entry_count", "held_tables",
                  [](auto& root) { root.held_tables[0].entry_count -= 1; });
  make.directory("directory_extents_overlap", base, [&](auto& f) {
    key_log(f).runs[0].offset_bytes = partition(f).runs[0].offset_bytes;
  });
  make.directory("directory_extent_unaligned", base,
                 [&](auto& f) { partition(f).runs[0].offset_bytes += 512; });
  make.directory("directory_extent_in_superblocks", base,
                 [&](auto& f) { partition(f).runs[0].offset_bytes = 0; });
  make.directory("directory_extent_behind_end", base,
                 [&](auto& f) { partition(f).runs[0].offset_bytes = std::uint64_t{1} << 40; });
  make.directory("directory_extent_overflows", base,
                 [&](auto& f) { partition(f).runs[0].offset_bytes = ~std::uint64_t{4095}; });
  make.directory("directory_born_zero", base, [&](auto& f) { partition(f).runs[0].born = {0}; });
  make.directory("directory_born_in_future", base,
                 [&](auto& f) { partition(f).runs[0].born.value += 1000; });
}

/// The place of a table's vtable in a FlatBuffer: before it or after it.
std::size_t vtable_of(const Bytes& b, std::size_t table) {
  return static_cast<std::size_t>(static_cast<std::int64_t>(table) -
                                  format::load<std::int32_t>(b.data() + table));
}
std::size_t root_vtable(const Bytes& b) {
  return vtable_of(b, format::load<std::uint32_t>(b.data()));
}
/// The place of the offset to consumer 0 of a drum.
std::size_t first_consumer(const Bytes& b) {
  const std::size_t entry = root_vtable(b) + 4 + 2 * 7;
  const std::size_t field = format::load<std::uint32_t>(b.data()) +
                            std::size_t{format::load<std::uint16_t>(b.data() + entry)};
  return field + format::load<std::uint32_t>(b.data() + field) + 4;
}

void add_flatbuffers(Maker& make) {
  const std::string base = "keys_and_pending";
  const auto root = [&](const std::string& name, const std::function<void(Bytes&)>& change) {
    CraftedFile file(make.valid(base));
    file.assemble(change);
    make.add(name, Errc::kDirectoryInvalid, base, file);
  };
  root("directory_root_not_a_flatbuffer",
       [](Bytes& b) { std::fill(b.begin(), b.end(), std::byte{0xFF}); });
  root("directory_root_table_ends_outside", [](Bytes& b) {
    const auto rest = b.size() - format::load<std::uint32_t>(b.data());
    put<std::uint16_t>(b, root_vtable(b) + 2, static_cast<std::uint16_t>(rest + 1));
  });
  root("directory_root_table_too_short",
       [](Bytes& b) { put<std::uint16_t>(b, root_vtable(b) + 2, 3); });
  const auto drum = [&](const std::string& name, const std::function<void(Bytes&)>& change) {
    make.payload(name, base, SegmentKind::kDrum, change);
  };
  drum("drum_not_a_flatbuffer", [](Bytes& b) { std::fill(b.begin(), b.end(), std::byte{0xFF}); });
  drum("drum_table_ends_outside",
       [](Bytes& b) { put<std::uint16_t>(b, root_vtable(b) + 2, 0xFFFF); });
  // All fields of consumer 0 have their defaults, so it could do without a vtable, or a place.
  drum("drum_vtable_too_short", [](Bytes& b) {
    const std::size_t place = first_consumer(b);
    const std::size_t table = place + format::load<std::uint32_t>(b.data() + place);
    put<std::uint16_t>(b, vtable_of(b, table), 0);
  });
  drum("drum_consumer_at_offset_zero",
       [](Bytes& b) { put<std::uint32_t>(b, first_consumer(b), 0); });
}

void add_references(Maker& make) {
  const std::string base = "keys_and_pending";
  const auto key_log = [](CraftedFile & f) -> auto& {
    return f.segment(SegmentKind::kDrumKeyLog);
  };
  const auto partition = [](CraftedFile & f) -> auto& {
    return f.segment(SegmentKind::kDrumPartition);
  };
  make.directory("directory_held_overlaps_live", base, [&](auto& f) {
    f.root.held.push_back({partition(f).runs[0].extent(), {1}, f.root.generation});
  });
  make.directory("directory_held_retired_before_born", base, [](auto& f) {
    f.root.held.push_back({{f.append(Bytes(4096)), 4096}, {2}, {1}});
  });
  make.directory("directory_held_retired_in_future", base, [](auto& f) {
    f.root.held.push_back({{f.append(Bytes(4096)), 4096}, {1}, f.root.generation.next()});
  });
  make.directory("directory_held_empty_extent", base, [](auto& f) {
    f.root.held.push_back({{f.append(Bytes(4096)), 0}, {1}, {2}});
  });
  make.directory("directory_kind_unknown", base,
                 [&](auto& f) { partition(f).kind = SegmentKind{99}; });
  make.directory("directory_storage_class_of_another_kind", base,
                 [&](auto& f) { partition(f).storage_class = StorageClass::kLog; });
  make.directory("directory_owner_missing", base, [&](auto& f) { partition(f).owner = {0}; });
  make.directory("directory_owner_unknown", base, [&](auto& f) { partition(f).owner = {9999}; });
  make.directory("directory_drum_with_owner", base,
                 [](auto& f) { f.segment(SegmentKind::kDrum).owner = {2}; });
  make.directory("directory_drum_without_name", base,
                 [](auto& f) { f.segment(SegmentKind::kDrum).name = ""; });
  make.directory("directory_name_not_utf8", base,
                 [](auto& f) { f.segment(SegmentKind::kDrum).name = "\xFF"; });
  make.directory("directory_name_with_control", base,
                 [](auto& f) { f.segment(SegmentKind::kDrum).name = "a\nb"; });
  make.directory("directory_name_of_a_log", base, [&](auto& f) { key_log(f).name = "log"; });
  make.directory("directory_name_twice", "tables_several", [](auto& f) {
    const auto other = std::find_if(f.tables[1].begin(), f.tables[1].end(), [](const auto& entry) {
      return entry.kind == SegmentKind::kDrum;
    });
    other->name = f.segment(SegmentKind::kDrum).name;
  });
  make.directory("directory_blob_without_run", base, [&](auto& f) { partition(f).runs.clear(); });
  make.directory("directory_blob_with_two_runs", base,
                 [&](auto& f) { partition(f).runs.push_back(partition(f).runs[0]); });
  make.directory("directory_runs_descend", "runs_many",
                 [&](auto& f) { std::swap(key_log(f).runs[0], key_log(f).runs[1]); });
  make.directory("directory_payload_empty", base,
                 [&](auto& f) { partition(f).runs[0].payload_bytes = 0; });
  make.directory("directory_without_feature_bit", base,
                 [](auto& f) { f.superblock.features_incompat = 0; });
  make.directory(
      "chunk_checksum", base, [&](auto& f) { partition(f).runs[0].checksum ^= 1; },
      Errc::kChunkDamaged);
  make.directory(
      "chunk_payload_byte", base,
      [&](auto& f) { f.bytes[partition(f).runs[0].offset_bytes + 3] ^= std::byte{1}; },
      Errc::kChunkDamaged);
  make.directory(
      "chunk_behind_the_tree", base,
      [&](auto& f) { f.bytes[partition(f).runs[0].extent().end_bytes() - 1] ^= std::byte{1}; },
      Errc::kChunkDamaged);
  make.directory(
      "chunk_of_another_run", base,
      [&](auto& f) { std::swap(key_log(f).runs[0].checksum, partition(f).runs[0].checksum); },
      Errc::kChunkDamaged);
}

void add_drum(Maker& make) {
  const std::string base = "keys_and_pending";
  make.drum("drum_key_bytes", base, [](auto& t) { t.key_bytes = 12; });
  make.drum("drum_key_bytes_of_partition", base, [](auto& t) { t.key_bytes = 16; });
  make.drum("drum_key_bytes_of_key_run", "one_pending", [](auto& t) { t.key_bytes = 16; });
  make.drum("drum_rabin_keys_of_16_bytes", "urls_xxh3_128",
            [](auto& t) { t.key_scheme = KeyScheme::kUrlRabin; });
  make.drum("drum_page_keys_of_8_bytes", base, [](auto& t) { t.key_scheme = KeyScheme::kPage; });
  make.drum("drum_key_scheme", base, [](auto& t) { t.key_scheme = KeyScheme{7}; });
  make.drum("drum_value_bytes", base, [](auto& t) { t.value_bytes = -2; });
  make.drum("drum_without_buckets", base, [](auto& t) { t.buckets.clear(); });
  make.drum("drum_first_bucket_not_at_zero", base, [](auto& t) { t.buckets[0].first_key = 1; });
  make.drum("drum_buckets_descend", base, [](auto& t) { t.buckets[1].first_key = 0; });
  make.drum("drum_keys_without_partition", base, [](auto& t) { t.buckets[0].partition = {0}; });
  make.drum("drum_pending_without_log", base, [](auto& t) { t.buckets[0].key_log = {0}; });
  make.drum("drum_auxes_without_keys", "aux_uniform", [](auto& t) {
    for (auto& bucket : t.buckets) {
      bucket.key_log = {0};
      bucket.pending_count = 0;
    }
  });
  make.drum("drum_key_count", base, [](auto& t) { t.buckets[0].key_count += 1; });
  make.drum("drum_pending_count", base, [](auto& t) { t.buckets[0].pending_count += 1; });
  make.drum("drum_segment_named_twice", base,
            [](auto& t) { t.buckets[1].partition = t.buckets[0].partition; });
  make.drum("drum_results_without_count", "results_wait",
            [](auto& t) { t.consumers[1].result_count = 0; });
  make.drum("drum_value_bytes_of_partition", base, [](auto& t) { t.value_bytes = 8; });
  make.drum("drum_value_bytes_of_key_run", "one_pending", [](auto& t) { t.value_bytes = 8; });
  make.drum("drum_partition_of_another_kind", base,
            [](auto& t) { std::swap(t.buckets[0].partition, t.buckets[0].key_log); });
  make.drum("drum_partition_missing", base, [](auto& t) { t.buckets[0].partition = {7777}; });
  make.drum("drum_keys_outside_bucket", base, [](auto& t) {
    std::swap(t.buckets[0].partition, t.buckets[1].partition);
    std::swap(t.buckets[0].key_count, t.buckets[1].key_count);
  });
  make.drum("drum_requests_outside_bucket", "buckets_64", [](auto& t) {
    std::swap(t.buckets[0].key_log, t.buckets[1].key_log);
    std::swap(t.buckets[0].pending_count, t.buckets[1].pending_count);
  });
  make.drum("drum_sequences_not_below_next", base, [](auto& t) { t.next_sequence = 1; });
  make.directory(
      "drum_sequence_in_two_buckets", base,
      [](auto& f) {
        std::vector<format::SegmentEntry*> logs;
        for (auto& entry : f.tables[0]) {
          if (entry.kind == SegmentKind::kDrumKeyLog) logs.push_back(&entry);
        }
        Bytes payload = f.payload(*logs.at(1));
        const Bytes other = f.payload(*logs.at(0));  // which has one more
        put(payload, 16, format::load<std::uint64_t>(other.data() + 16) + 1);
        f.set_payload(*logs.at(1), payload);
      },
      Errc::kSegmentInvalid);
  make.drum("drum_normalizer_not_valid", "urls", [](auto& t) { t.normalizer = "a\x01"; });
  make.drum("drum_normalizer_of_opaque_keys", base, [](auto& t) { t.normalizer = "raw"; });
  make.drum("drum_consumer_zero_missing", base, [](auto& t) { t.consumers.clear(); });
  make.drum("drum_consumer_name_twice", "operations_and_consumers", [](auto& t) {
    t.consumers.push_back(t.consumers.back());
    t.consumers.back().id.value += 1;
  });
  make.drum("drum_consumer_unknown", "operations_and_consumers",
            [](auto& t) { t.consumers.pop_back(); });
  make.drum("drum_result_count", "results_wait", [](auto& t) { t.consumers[0].result_count += 1; });
  make.drum("drum_segment_not_named", "results_wait", [](auto& t) {
    t.consumers[1].results = {0};
    t.consumers[1].result_count = 0;
  });
}

void add_partition(Maker& make) {
  const auto part = [&make](const std::string& name, const std::function<void(Bytes&)>& change,
                            const std::string& base = "block_full_plus_one") {
    make.payload(name, base, SegmentKind::kDrumPartition, change);
  };
  part("partition_magic", [](Bytes& b) { b[b.size() - 1] ^= std::byte{1}; });
  part("partition_codec", [](Bytes& b) { put<std::uint16_t>(b, footer(b) + 42, 2); });
  part("partition_key_bytes", [](Bytes& b) { put<std::uint16_t>(b, footer(b) + 40, 17); });
  part("partition_value_bytes", [](Bytes& b) { put<std::int32_t>(b, footer(b) + 44, -2); });
  part("partition_reserved", [](Bytes& b) { put<std::uint64_t>(b, footer(b) + 48, 1); });
  part("partition_key_count", [](Bytes& b) { add<std::uint64_t>(b, footer(b), 1); });
  part("partition_block_count", [](Bytes& b) { add<std::uint64_t>(b, footer(b) + 8, 1); });
  part("partition_key_count_over_blocks",
       [](Bytes& b) { put<std::uint64_t>(b, footer(b), 2 * 512 + 1); });
  part("partition_without_blocks", [](Bytes& b) { put<std::uint64_t>(b, footer(b) + 8, 0); });
  part("partition_key_range", [](Bytes& b) {
    put<std::uint64_t>(b, footer(b) + 32, format::load<std::uint64_t>(&b[footer(b) + 24]) + 1);
  });
  part(
      "partition_padding", [](Bytes& b) { b[footer(b) - 1] = std::byte{1}; }, "keys_and_pending");
  part("partition_index_offset", [](Bytes& b) { add<std::uint64_t>(b, footer(b) + 16, 8); });
  part("partition_first_key", [](Bytes& b) { add<std::uint64_t>(b, footer(b) + 24, 1); });
  part("partition_last_key", [](Bytes& b) { add<std::uint64_t>(b, footer(b) + 32, 1); });
  part("partition_index_key", [](Bytes& b) { add<std::uint64_t>(b, footer(b) - 16, 1); });
  part("partition_index_descends", [](Bytes& b) { put<std::uint64_t>(b, footer(b) - 16, 0); });
  part("partition_block_offset", [](Bytes& b) { add<std::uint32_t>(b, footer(b) - 4, 1); });
  part("partition_shorter_than_footer", [](Bytes& b) { b.resize(32); });
  part("block_key_count_zero", [](Bytes& b) { put<std::uint16_t>(b, 8, 0); });
  part("block_key_count_over_512", [](Bytes& b) { put<std::uint16_t>(b, 8, 513); });
  part("block_low_bits", [](Bytes& b) { b[12] = std::byte{64}; });
  part("block_reserved", [](Bytes& b) { b[14] = std::byte{1}; });
  part("block_shares_head", [](Bytes& b) { b[13] = std::byte{1}; });
  part(
      "block_shares_no_head", [](Bytes& b) { b[13] = std::byte{0}; }, "wide_keys");
  part(
      "block_shares_head_twice", [](Bytes& b) { b[13] = std::byte{2}; }, "wide_keys");
  part(
      "partition_index_tail",
      [](Bytes& b) {
        const auto blocks = format::load<std::uint64_t>(&b[footer(b) + 8]);
        const auto index = format::load<std::uint64_t>(&b[footer(b) + 16]);
        add<std::uint64_t>(b, index + 8 * blocks, 1);
      },
      "wide_keys");
  part("block_upper_bits_missing", [](Bytes& b) { put<std::uint64_t>(b, 16, 0); });
  part("block_upper_words", [](Bytes& b) { add<std::uint16_t>(b, 10, 1); });
  part("block_upper_words_over_64", [](Bytes& b) { put<std::uint16_t>(b, 10, 65); });
  part("block_lower_bits_unused", [](Bytes& b) { b[lower_bits_end(b) - 1] |= std::byte{0x80}; });
  part(
      "block_padding_of_values", [](Bytes& b) { b[lower_bits_end(b) + 7] = std::byte{1}; },
      "values_fixed_1");
  part("block_first_key", [](Bytes& b) { add<std::uint64_t>(b, 0, 1); });
  part("block_key_overflows", [](Bytes& b) { put<std::uint64_t>(b, 0, ~std::uint64_t{0}); });
  part(
      "block_value_length", [](Bytes& b) { put<std::uint32_t>(b, lower_bits_end(b), 0x7FFFFFFF); },
      "values_variable_empty");
}

void add_previous(Maker& make) {
  // For the previous generation the same run is damaged, which must not hide it.
  make.raw(
      "partition_invalid_with_previous", Errc::kSegmentInvalid, "keys_and_pending", [](Bytes& b) {
        CraftedFile file(b);
        auto& partition = file.segment(SegmentKind::kDrumPartition);
        Bytes payload = file.payload(partition);
        put<std::uint64_t>(payload, footer(payload) + 48, 1);
        file.set_payload(partition, payload);
        file.assemble();
        const auto& other = format::kSuperblockOffsets[1 - file.superblock.generation % 2];
        for (const std::uint64_t offset : other) {
          std::copy_n(b.begin() + static_cast<std::ptrdiff_t>(offset), format::kSuperblockBytes,
                      file.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        }
        b = std::move(file.bytes);
      });
}

}  // namespace

std::vector<GoldenFile> rejected_files() {
  Maker make;
  add_identity_and_superblock(make);
  add_slots(make);
  add_run_ends(make);
  add_directory(make);
  add_flatbuffers(make);
  add_references(make);
  add_drum(make);
  add_partition(make);
  add_previous(make);
  add_rejected_runs(make);
  add_rejected_pages(make);
  add_rejected_tiles(make);
  add_rejected_links(make);
  add_rejected_dense_links(make);
  add_rejected_origins(make);
  add_rejected_events(make);
  add_rejected_scores(make);
  add_rejected_values(make);
  add_rejected_queues(make);
  add_rejected_frontiers(make);
  return std::move(make.files);
}

}  // namespace crawlstore::testing
