// SPDX-License-Identifier: Apache-2.0
#include "directory.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "checksum.h"
#include "directory_generated.h"
#include "flatbuffer_input.h"
#include "layout.h"
#include "name.h"

namespace crawlstore::format {

namespace {

/// nullptr, or the text that names the broken rule.
using Broken = const char*;

tl::unexpected<Error> invalid_directory(Broken text, const ParseLimits& limits) {
  return fail(Errc::kDirectoryInvalid, text, limits.base_offset);
}

/// `length_bytes` is a multiple of the unit, or rounded up by the caller.
Broken check_extent(std::uint64_t offset_bytes, std::uint64_t length_bytes,
                    const ParseLimits& limits) {
  if (offset_bytes % kUnitBytes != 0 || length_bytes % kUnitBytes != 0) {
    return "an extent is not aligned to the unit";
  }
  if (offset_bytes < kDataStart || offset_bytes > limits.high_water_bytes || length_bytes == 0 ||
      length_bytes > limits.high_water_bytes - offset_bytes) {
    return "an extent lies outside the data";
  }
  return nullptr;
}

Broken check_born(Generation born, const ParseLimits& limits) {
  return born.value == 0 || born > limits.generation ? "an extent is born outside of time"
                                                     : nullptr;
}

Broken check_piece(std::uint64_t offset_bytes, std::uint32_t payload_bytes, Generation born,
                   const ParseLimits& limits) {
  if (payload_bytes == 0 || payload_bytes > kTableBytesMax || payload_bytes % 8 != 0) {
    return "the length of a table is out of range";
  }
  const Broken broken = check_extent(offset_bytes, round_up(payload_bytes, kUnitBytes), limits);
  return broken != nullptr ? broken : check_born(born, limits);
}

Broken check_table_ref(const TableRef& ref, std::uint64_t first_free_id,
                       std::uint64_t next_segment_id, const ParseLimits& limits) {
  if (ref.segment_count == 0 || ref.segment_count > kTableSegmentsMax) {
    return "the segment count of a table is out of range";
  }
  if (ref.first_segment.value < first_free_id) {
    return "tables are not in ascending order of segment ids";
  }
  if (ref.first_segment.value >= next_segment_id ||
      ref.segment_count > next_segment_id - ref.first_segment.value) {
    return "a segment id is not below next_segment_id";
  }
  return check_piece(ref.offset_bytes, ref.payload_bytes, ref.born, limits);
}

Broken check_held(const HeldExtent& held, const ParseLimits& limits) {
  if (held.retired > limits.generation || held.born >= held.retired) {
    return "a held extent is retired outside of time";
  }
  const Broken broken = check_born(held.born, limits);
  return broken != nullptr
             ? broken
             : check_extent(held.extent.offset_bytes, held.extent.length_bytes, limits);
}

Broken copy_held(const flatbuffers::Vector<const fb::HeldExtent*>* from, const ParseLimits& limits,
                 std::vector<HeldExtent>& to) {
  if (!is_aligned(from)) {
    return "a vector is not aligned";
  }
  to.reserve(size_of(from));
  for (std::size_t i = 0; i < size_of(from); ++i) {
    const fb::HeldExtent& entry = *from->Get(static_cast<flatbuffers::uoffset_t>(i));
    to.push_back({{entry.offset_bytes(), entry.length_bytes()}, {entry.born()}, {entry.retired()}});
    if (const Broken broken = check_held(to.back(), limits)) {
      return broken;
    }
  }
  return nullptr;
}

Broken copy_tables(const fb::Root& from, const ParseLimits& limits, DirectoryRoot& root) {
  if (!is_aligned(from.tables())) {
    return "a vector is not aligned";
  }
  root.tables.reserve(size_of(from.tables()));
  std::uint64_t first_free_id = 1;
  for (std::size_t i = 0; i < size_of(from.tables()); ++i) {
    const fb::TableRef& entry = *from.tables()->Get(static_cast<flatbuffers::uoffset_t>(i));
    root.tables.push_back({entry.offset_bytes(),
                           {entry.born()},
                           entry.checksum(),
                           {entry.first_segment_id()},
                           entry.payload_bytes(),
                           entry.segment_count()});
    const TableRef& ref = root.tables.back();
    if (const Broken broken = check_table_ref(ref, first_free_id, root.next_segment_id, limits)) {
      return broken;
    }
    first_free_id = ref.first_segment.value + ref.segment_count;
  }
  return nullptr;
}

Broken copy_held_tables(const fb::Root& from, const ParseLimits& limits, DirectoryRoot& root) {
  if (!is_aligned(from.held_tables())) {
    return "a vector is not aligned";
  }
  root.held_tables.reserve(size_of(from.held_tables()));
  for (std::size_t i = 0; i < size_of(from.held_tables()); ++i) {
    const fb::HeldTableRef& entry =
        *from.held_tables()->Get(static_cast<flatbuffers::uoffset_t>(i));
    root.held_tables.push_back({entry.offset_bytes(),
                                {entry.born()},
                                entry.checksum(),
                                entry.payload_bytes(),
                                entry.entry_count()});
    const HeldTableRef& ref = root.held_tables.back();
    if (ref.entry_count == 0 || ref.entry_count > kHeldTableEntriesMax) {
      return "the entry count of a held table is out of range";
    }
    if (const Broken broken = check_piece(ref.offset_bytes, ref.payload_bytes, ref.born, limits)) {
      return broken;
    }
  }
  return nullptr;
}

Broken check_run(const RunRef& run, RunId previous, const ParseLimits& limits) {
  if (run.run_id <= previous) {
    return "runs are not in ascending order of run ids";
  }
  return check_run_ref(run, limits);
}

/// Checks the fields that depend on the kind: storage class, owner, name.
Broken check_kind(const SegmentEntry& segment, std::span<const KindRule> kinds) {
  const auto rule = std::find_if(kinds.begin(), kinds.end(), [&segment](const KindRule& it) {
    return it.kind == segment.kind;
  });
  if (rule == kinds.end()) return "the kind of a segment is unknown";
  if (segment.storage_class != rule->storage_class) {
    return "the storage class of a segment is not that of its kind";
  }
  const bool is_owner = rule->owner == SegmentKind{};
  if (is_owner == static_cast<bool>(segment.owner) || segment.owner == segment.id) {
    return "the owner of a segment is not what its kind asks for";
  }
  if ((is_owner || rule->is_named) == segment.name.empty()) {
    return "a segment that owns others has no name, or one that is owned has one";
  }
  return nullptr;
}

Broken copy_runs(const fb::Segment& from, const ParseLimits& limits, SegmentEntry& segment) {
  const std::size_t run_count = size_of(from.runs());
  if (!is_aligned(from.runs())) {
    return "a vector is not aligned";
  }
  const bool is_log = segment.storage_class == StorageClass::kLog;
  if (is_log ? run_count > kRunsPerLogMax : run_count != 1) {
    return "the run count of a segment is out of range";
  }
  segment.runs.reserve(run_count);
  RunId previous;
  for (std::size_t i = 0; i < run_count; ++i) {
    const fb::Run& run = *from.runs()->Get(static_cast<flatbuffers::uoffset_t>(i));
    segment.runs.push_back({run.offset_bytes(),
                            {run.born()},
                            {run.run_id()},
                            run.payload_bytes(),
                            run.record_count(),
                            run.checksum()});
    if (const Broken broken = check_run(segment.runs.back(), previous, limits)) {
      return broken;
    }
    previous = segment.runs.back().run_id;
  }
  return nullptr;
}

Broken copy_segment(const fb::Segment& from, SegmentId previous, const ParseLimits& limits,
                    SegmentEntry& segment) {
  segment.id = {from.id()};
  segment.kind = SegmentKind{from.kind()};
  segment.storage_class = StorageClass{from.storage_class()};
  segment.owner = {from.owner()};
  if (segment.id <= previous) {
    return "segments are not in ascending order of ids";
  }
  const std::string_view name = view_of(from.name());
  if (!is_valid_name(name)) {
    return "the name of a segment is not valid";
  }
  segment.name = name;
  const Broken broken = check_kind(segment, limits.kinds);
  return broken != nullptr ? broken : copy_runs(from, limits, segment);
}

/// Two references to one piece would let a small root unfold to a large directory.
Broken check_root_extents(const DirectoryRoot& root) {
  std::vector<Extent> extents;
  extents.reserve(root.tables.size() + root.held_tables.size() + root.held.size());
  for (const TableRef& ref : root.tables) {
    extents.push_back(ref.extent());
  }
  for (const HeldTableRef& ref : root.held_tables) {
    extents.push_back(ref.extent());
  }
  for (const HeldExtent& held : root.held) {
    extents.push_back(held.extent);
  }
  return check_disjoint(extents) ? nullptr : "two extents overlap";
}

/// The runs that a table names.
std::span<const RunRef> named_runs(const SegmentEntry& segment) {
  const std::span<const RunRef> all(segment.runs);
  return segment.storage_class == StorageClass::kTiled ? all.last(1) : all;
}

fb::HeldExtent to_fb(const HeldExtent& held) {
  return {held.extent.offset_bytes, held.extent.length_bytes, held.born.value, held.retired.value};
}

}  // namespace

const char* check_run_ref(const RunRef& run, const ParseLimits& limits) {
  if (run.payload_bytes == 0 || run.payload_bytes > kPayloadBytesMax) {
    return "the length of a payload is out of range";
  }
  const Broken broken = check_born(run.born, limits);
  return broken != nullptr
             ? broken
             : check_extent(run.offset_bytes, extent_bytes(run.payload_bytes), limits);
}

const RunRef* SegmentEntry::find_run(RunId run) const {
  const auto place =
      std::lower_bound(runs.begin(), runs.end(), run,
                       [](const RunRef& entry, RunId wanted) { return entry.run_id < wanted; });
  return place != runs.end() && place->run_id == run ? &*place : nullptr;
}

Extent RunRef::extent() const {
  return {offset_bytes, extent_bytes(payload_bytes)};
}
Extent TableRef::extent() const {
  return {offset_bytes, round_up(payload_bytes, kUnitBytes)};
}
Extent HeldTableRef::extent() const {
  return {offset_bytes, round_up(payload_bytes, kUnitBytes)};
}

std::vector<std::byte> encode_root(const DirectoryRoot& root) {
  std::vector<fb::TableRef> tables;
  tables.reserve(root.tables.size());
  for (const TableRef& ref : root.tables) {
    tables.emplace_back(ref.offset_bytes, ref.born.value, ref.checksum, ref.first_segment.value,
                        ref.payload_bytes, ref.segment_count);
  }
  std::vector<fb::HeldExtent> held;
  held.reserve(root.held.size());
  std::transform(root.held.begin(), root.held.end(), std::back_inserter(held), to_fb);
  std::vector<fb::HeldTableRef> held_tables;
  held_tables.reserve(root.held_tables.size());
  for (const HeldTableRef& ref : root.held_tables) {
    held_tables.emplace_back(ref.offset_bytes, ref.born.value, ref.checksum, ref.payload_bytes,
                             ref.entry_count);
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CreateRootDirect(builder, root.generation.value, root.next_segment_id,
                                      root.next_run_id, &tables, &held, &held_tables,
                                      root.taken_back.value));
  return padded_bytes(builder);
}

std::vector<std::byte> encode_table(std::span<const SegmentEntry> segments) {
  CRAWLSTORE_ASSERT(segments.size() <= kTableSegmentsMax);
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::Segment>> entries;
  entries.reserve(segments.size());
  std::vector<fb::Run> runs;
  for (const SegmentEntry& segment : segments) {
    runs.clear();
    for (const RunRef& run : named_runs(segment)) {
      runs.emplace_back(run.offset_bytes, run.born.value, run.run_id.value, run.payload_bytes,
                        run.record_count, run.checksum);
    }
    const char* name = segment.name.empty() ? nullptr : segment.name.c_str();
    entries.push_back(fb::CreateSegmentDirect(
        builder, segment.id.value, static_cast<std::uint16_t>(segment.kind),
        static_cast<std::uint8_t>(segment.storage_class), segment.owner.value, name, &runs));
  }
  builder.Finish(fb::CreateSegmentTableDirect(builder, &entries));
  return padded_bytes(builder);
}

std::vector<std::byte> encode_held_table(std::span<const HeldExtent> entries) {
  CRAWLSTORE_ASSERT(entries.size() <= kHeldTableEntriesMax);
  std::vector<fb::HeldExtent> held;
  held.reserve(entries.size());
  std::transform(entries.begin(), entries.end(), std::back_inserter(held), to_fb);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CreateHeldTableDirect(builder, &held));
  return padded_bytes(builder);
}

Result<DirectoryRoot> parse_root(std::span<const std::byte> bytes, const ParseLimits& limits) {
  if (bytes.size() > kRootBytesMax) {
    return invalid_directory("the directory root is too long", limits);
  }
  const FlatbufferInput<fb::Root> input(bytes);
  if (input.root() == nullptr) {
    return invalid_directory("the directory root is not a FlatBuffer of its schema", limits);
  }
  const fb::Root& from = *input.root();
  DirectoryRoot root;
  root.generation = {from.generation()};
  root.next_segment_id = from.next_segment_id();
  root.next_run_id = from.next_run_id();
  if (root.generation != limits.generation) {
    return invalid_directory("the directory root is of another generation", limits);
  }
  if (root.next_segment_id == 0 || root.next_run_id == 0) {
    return invalid_directory("the next id is zero", limits);
  }
  root.taken_back = {from.taken_back()};
  if (root.taken_back >= root.generation) {
    return invalid_directory("a generation was taken back that had not been made", limits);
  }
  if (const Broken broken = copy_tables(from, limits, root)) {
    return invalid_directory(broken, limits);
  }
  if (const Broken broken = copy_held(from.held(), limits, root.held)) {
    return invalid_directory(broken, limits);
  }
  if (const Broken broken = copy_held_tables(from, limits, root)) {
    return invalid_directory(broken, limits);
  }
  if (const Broken broken = check_root_extents(root)) {
    return invalid_directory(broken, limits);
  }
  return root;
}

Result<std::vector<SegmentEntry>> parse_table(std::span<const std::byte> bytes,
                                              const ParseLimits& limits) {
  if (bytes.size() > kTableBytesMax) {
    return invalid_directory("a table is too long", limits);
  }
  const FlatbufferInput<fb::SegmentTable> input(bytes, kTableSegmentsMax,
                                                &fb::SegmentTable::segments);
  if (input.root() == nullptr) {
    return invalid_directory("a table is not a FlatBuffer of its schema", limits);
  }
  const auto* from = input.root()->segments();
  std::vector<SegmentEntry> segments(size_of(from));
  SegmentId previous;
  std::size_t copied_bytes = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const fb::Segment& entry = *from->Get(static_cast<flatbuffers::uoffset_t>(i));
    // References may share what they point to: without this a small table could unfold to a lot.
    copied_bytes += view_of(entry.name()).size() + size_of(entry.runs()) * sizeof(fb::Run);
    if (copied_bytes > bytes.size()) {
      return invalid_directory("parts of a table overlap", limits);
    }
    if (const Broken broken = copy_segment(entry, previous, limits, segments[i])) {
      return invalid_directory(broken, limits);
    }
    previous = segments[i].id;
  }
  return segments;
}

Result<std::vector<HeldExtent>> parse_held_table(std::span<const std::byte> bytes,
                                                 const ParseLimits& limits) {
  if (bytes.size() > kTableBytesMax) {
    return invalid_directory("a held table is too long", limits);
  }
  const FlatbufferInput<fb::HeldTable> input(bytes);
  if (input.root() == nullptr) {
    return invalid_directory("a held table is not a FlatBuffer of its schema", limits);
  }
  if (size_of(input.root()->entries()) > kHeldTableEntriesMax) {
    return invalid_directory("the entry count of a held table is out of range", limits);
  }
  std::vector<HeldExtent> entries;
  if (const Broken broken = copy_held(input.root()->entries(), limits, entries)) {
    return invalid_directory(broken, limits);
  }
  return entries;
}

Result<void> check_disjoint(std::vector<Extent>& extents) {
  std::sort(extents.begin(), extents.end());
  std::uint64_t end_bytes = 0;
  for (const Extent& extent : extents) {
    if (extent.offset_bytes < end_bytes) {
      return fail(Errc::kDirectoryInvalid, "two extents overlap", extent.offset_bytes);
    }
    end_bytes = extent.end_bytes();
  }
  return {};
}

}  // namespace crawlstore::format
