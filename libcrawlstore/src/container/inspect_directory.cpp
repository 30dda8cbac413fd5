// SPDX-License-Identifier: Apache-2.0
#include "container/inspect_directory.h"

#include <algorithm>

#include "container/tile_tree.h"
#include "format/endian.h"
#include "format/layout.h"
#include "format/root_extent.h"

namespace crawlstore::container {
namespace {

using format::ChecksumDomain;

bool holds(Extent extent, std::uint64_t offset) {
  return offset >= extent.offset_bytes && offset - extent.offset_bytes < extent.length_bytes;
}

std::string indexed(const char* list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

}  // namespace

DirectoryDescriber::DirectoryDescriber(Storage& storage, const Uuid& uuid,
                                       const format::Superblock& superblock, const KindSet& kinds)
    : storage_(storage), uuid_(uuid), superblock_(superblock), kinds_(kinds) {
  if (const auto placed = format::check_root_place(superblock); !placed) {
    root_piece_ = {{}, {}, placed.error().text};
    return;
  }
  const Extent extent = format::root_extent(superblock);
  root_piece_ = read_extent(extent);
  if (root_piece_.problem == nullptr) {
    const auto& bytes = root_piece_.payload;
    root_end_ = {bytes.end() - sizeof(format::RootEnd), bytes.end()};
    if (!format::is_root_whole(bytes, uuid, superblock)) {
      root_piece_.problem = "the checksum does not match";
    } else if (const auto end = format::check_root_end(bytes, uuid, superblock); !end) {
      root_piece_.problem = end.error().text;
    }
    root_piece_.payload.resize(superblock.root_payload_bytes);
  }
  auto parsed = format::parse_root(root_piece_.payload, limits(extent));
  if (parsed) {
    root_ = std::move(*parsed);
  } else if (root_piece_.problem == nullptr) {
    root_piece_.problem = parsed.error().text;
  }
}

format::ParseLimits DirectoryDescriber::limits(Extent extent) const {
  return {
      {superblock_.generation}, superblock_.high_water_bytes, extent.offset_bytes, kinds_.rules()};
}

DirectoryDescriber::Piece DirectoryDescriber::read_extent(Extent extent) const {
  Piece piece{extent, {}, nullptr};
  const auto size = storage_.size();
  if (!size || extent.offset_bytes > *size || extent.length_bytes > *size - extent.offset_bytes) {
    piece.problem = "the file ends before this";
    return piece;
  }
  piece.payload.resize(extent.length_bytes);
  const auto got = storage_.read(extent.offset_bytes, piece.payload);
  if (!got || *got < piece.payload.size()) {
    piece.payload.clear();
    piece.problem = "this cannot be read";
  }
  return piece;
}

DirectoryDescriber::Piece DirectoryDescriber::read_piece(Extent extent, std::uint64_t payload_bytes,
                                                         ChecksumDomain domain, Generation born,
                                                         std::uint64_t checksum) const {
  Piece piece = read_extent(extent);
  if (piece.problem != nullptr) return piece;
  const auto seed = format::extent_seed(uuid_, domain, born, extent.offset_bytes);
  if (format::checksum(piece.payload, seed) != checksum) {
    piece.problem = "the checksum does not match";
  }
  piece.payload.resize(payload_bytes);
  return piece;
}

DirectoryDescriber::Piece DirectoryDescriber::read_table(const format::TableRef& ref) const {
  return read_piece(ref.extent(), ref.payload_bytes, ChecksumDomain::kTable, ref.born,
                    ref.checksum);
}

DirectoryDescriber::Piece DirectoryDescriber::read_held_table(
    const format::HeldTableRef& ref) const {
  return read_piece(ref.extent(), ref.payload_bytes, ChecksumDomain::kHeldTable, ref.born,
                    ref.checksum);
}

std::vector<format::SegmentEntry> DirectoryDescriber::segments_of(
    const format::TableRef& ref) const {
  return format::parse_table(read_table(ref).payload, limits(ref.extent()))
      .value_or(std::vector<format::SegmentEntry>{});
}

std::vector<format::SegmentEntry> DirectoryDescriber::loaded_segments_of(
    const format::TableRef& ref, bool& whole) const {
  auto segments = segments_of(ref);
  whole = !segments.empty();
  TileLoader loader(storage_, uuid_, superblock_.high_water_bytes);
  for (auto& entry : segments) whole = loader.load(entry).has_value() && whole;
  return segments;
}

std::vector<format::HeldExtent> DirectoryDescriber::held_of(const format::HeldTableRef& ref) const {
  return format::parse_held_table(read_held_table(ref).payload, limits(ref.extent()))
      .value_or(std::vector<format::HeldExtent>{});
}

bool DirectoryDescriber::is_whole() const {
  if (!root_ || root_piece_.problem != nullptr) return false;
  for (const auto& ref : root_->tables) {
    bool whole = false;
    (void)loaded_segments_of(ref, whole);
    if (!whole || read_table(ref).problem != nullptr) return false;
  }
  for (const auto& ref : root_->held_tables) {
    if (read_held_table(ref).problem != nullptr || held_of(ref).empty()) return false;
  }
  return true;
}

void DirectoryDescriber::describe_root(Description& out) const {
  const std::size_t mark = out.mark();
  out.open("root", "struct", root_piece_.extent,
           "generation " + std::to_string(superblock_.generation));
  if (!root_piece_.payload.empty()) {
    out.add_fields(format::describe_root(root_piece_.payload, out.entries_max()),
                   root_piece_.extent.offset_bytes);
  }
  if (!root_end_.empty()) {
    const Extent place{root_piece_.extent.end_bytes() - root_end_.size(), root_end_.size()};
    out.open("end", "struct", place);
    out.add_fields(format::describe_root_end(root_end_), place.offset_bytes);
    out.close();
  }
  out.close();
  if (root_piece_.problem != nullptr) out.note(mark, Error::kNoOffset, root_piece_.problem);
}

void DirectoryDescriber::describe_table(Description& out, const format::TableRef& ref,
                                        std::size_t index) const {
  const Piece piece = read_table(ref);
  const std::size_t mark = out.mark();
  out.open(indexed("table", index), "struct", piece.extent);
  if (!piece.payload.empty()) {
    out.add_fields(format::describe_table(piece.payload, out.entries_max(), kinds_.rules()),
                   ref.offset_bytes);
  }
  out.close();
  const auto parsed = format::parse_table(piece.payload, limits(piece.extent));
  const char* problem = parsed ? piece.problem : parsed.error().text;
  if (piece.problem != nullptr) problem = piece.problem;
  if (problem != nullptr) out.note(mark, Error::kNoOffset, problem);
}

void DirectoryDescriber::describe_held_table(Description& out, const format::HeldTableRef& ref,
                                             std::size_t index) const {
  const Piece piece = read_held_table(ref);
  const std::size_t mark = out.mark();
  out.open(indexed("held_table", index), "struct", piece.extent);
  if (!piece.payload.empty()) {
    out.add_fields(format::describe_held_table(piece.payload, out.entries_max()), ref.offset_bytes);
  }
  out.close();
  const auto parsed = format::parse_held_table(piece.payload, limits(piece.extent));
  const char* problem = parsed ? piece.problem : parsed.error().text;
  if (piece.problem != nullptr) problem = piece.problem;
  if (problem != nullptr) out.note(mark, Error::kNoOffset, problem);
}

void DirectoryDescriber::describe(Description& out) const {
  describe_root(out);
  if (!root_) return;
  for (std::size_t i = 0; i < std::min(root_->tables.size(), out.entries_max()); ++i) {
    describe_table(out, root_->tables[i], i);
  }
  for (std::size_t i = 0; i < std::min(root_->held_tables.size(), out.entries_max()); ++i) {
    describe_held_table(out, root_->held_tables[i], i);
  }
}

bool DirectoryDescriber::describe_at(Description& out, std::uint64_t offset) const {
  return describe_piece_at(out, offset) || describe_run_at(out, offset) ||
         describe_held_at(out, offset);
}

bool DirectoryDescriber::describe_piece_at(Description& out, std::uint64_t offset) const {
  if (holds(root_piece_.extent, offset)) {
    describe_root(out);
    return true;
  }
  if (!root_) return false;
  for (std::size_t i = 0; i < root_->tables.size(); ++i) {
    if (!holds(root_->tables[i].extent(), offset)) continue;
    describe_table(out, root_->tables[i], i);
    return true;
  }
  for (std::size_t i = 0; i < root_->held_tables.size(); ++i) {
    if (!holds(root_->held_tables[i].extent(), offset)) continue;
    describe_held_table(out, root_->held_tables[i], i);
    return true;
  }
  return false;
}

bool DirectoryDescriber::describe_run_at(Description& out, std::uint64_t offset) const {
  if (!root_) return false;
  for (const auto& ref : root_->tables) {
    bool whole = false;
    for (const auto& entry : loaded_segments_of(ref, whole)) {
      const auto run = std::find_if(
          entry.runs.begin(), entry.runs.end(),
          [offset](const auto& candidate) { return holds(candidate.extent(), offset); });
      if (run == entry.runs.end()) continue;
      const Kind& kind = kinds_.of(entry);
      out.open("run", "struct", run->extent(),
               "segment " + std::to_string(entry.id.value) + " (" + std::string(kind.rule.name) +
                   ") run_id " + std::to_string(run->run_id.value));
      container::describe_run_at(out, RunSource(storage_, uuid_, entry, *run), kind, offset);
      out.close();
      return true;
    }
  }
  return false;
}

bool DirectoryDescriber::describe_held_at(Description& out, std::uint64_t offset) const {
  if (!root_) return false;
  auto all = root_->held;
  for (const auto& ref : root_->held_tables) {
    const auto more = held_of(ref);
    all.insert(all.end(), more.begin(), more.end());
  }
  const auto held = std::find_if(all.begin(), all.end(), [offset](const auto& candidate) {
    return holds(candidate.extent, offset);
  });
  if (held == all.end()) return false;
  // The bytes belong to older generations; `born` and `retired` stand in the list.
  out.add("held", "bytes", held->extent,
          "born " + std::to_string(held->born.value) + " retired " +
              std::to_string(held->retired.value));
  return true;
}

void DirectoryDescriber::describe_entry(Description& out, const format::SegmentEntry& entry) const {
  if (!root_) return;
  for (const auto& ref : root_->tables) {
    const auto segments = segments_of(ref);
    const auto place = std::find_if(segments.begin(), segments.end(),
                                    [&entry](const auto& other) { return other.id == entry.id; });
    if (place == segments.end()) continue;
    const auto name = indexed("segments", static_cast<std::size_t>(place - segments.begin()));
    const auto fields =
        format::describe_table(read_table(ref).payload, format::kRunsPerLogMax, kinds_.rules());
    auto first = std::find_if(fields.begin(), fields.end(),
                              [&name](const auto& field) { return field.name == name; });
    if (first == fields.end()) return;
    const auto last = std::find_if(first + 1, fields.end(), [&first](const auto& field) {
      return field.depth <= first->depth;
    });
    format::Fields own(first, last);
    own.front().name = "segment";
    for (format::Field& field : own) field.depth -= first->depth;
    out.add_fields(own, ref.offset_bytes);
    return;
  }
}

}  // namespace crawlstore::container
