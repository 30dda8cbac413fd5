// SPDX-License-Identifier: Apache-2.0
#include "golden/crafted_file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "container/superblocks.h"
#include "container/tile_tree.h"
#include "container/writer.h"
#include "format/checksum.h"
#include "format/endian.h"
#include "format/root_extent.h"
#include "format/tile_node.h"

namespace crawlstore::testing {
namespace {

template <class T>
T value_of(Result<T> result) {
  if (!result) std::abort();
  return std::move(*result);
}

}  // namespace

CraftedFile::CraftedFile(std::vector<std::byte> whole) : bytes(std::move(whole)) {
  const auto storage = open_memory_storage(make_memory_file(bytes), OpenMode::kRead);
  identity = value_of(container::read_identity(*storage));
  const auto set = value_of(container::read_superblocks(*storage, identity.uuid));
  superblock = *set.winner();
  const auto directory = value_of(
      container::load_directory(*storage, identity.uuid, superblock, {}, container::all_kinds()));
  root.generation = directory->generation();
  root.next_segment_id = directory->next_segment_id;
  root.next_run_id = directory->next_run_id;
  root.held = directory->held;
  root.taken_back = directory->taken_back;
  for (const auto& table : directory->tables) {
    tables.push_back(table->segments);
    root.tables.push_back(table->ref);
  }
  for (const auto& table : directory->held_tables) {
    held_tables.push_back(table->entries);
    root.held_tables.push_back(table->ref);
  }
  find_parts(*directory);
}

void CraftedFile::find_parts(const container::Directory& directory) {
  parts = {{0, "identity"}, {sizeof identity, "gap"}, {format::kDataStart, "unused"}};
  for (std::size_t slot = 0; slot < 2; ++slot) {
    for (std::size_t copy = 0; copy < 2; ++copy) {
      const std::uint64_t offset = format::kSuperblockOffsets[slot][copy];
      parts[offset] = "superblock slot " + std::to_string(slot) + ", copy " + std::to_string(copy);
      parts.try_emplace(offset + format::kSuperblockBytes, "gap");
    }
  }
  directory.for_each_held([this](const auto& held) { add_part(held.extent, "held extent"); });
  add_part(directory.root_extent, "root");
  for (const auto& ref : root.tables) add_part(ref.extent(), "table");
  for (const auto& ref : root.held_tables) add_part(ref.extent(), "held table");
  directory.for_each_segment([this](const auto& entry) {
    for (const auto& run : entry.runs) add_run_parts(entry.id, run);
  });
}

void CraftedFile::add_part(Extent extent, const std::string& name) {
  parts.erase(parts.lower_bound(extent.offset_bytes), parts.lower_bound(extent.end_bytes()));
  parts[extent.offset_bytes] = name;
  parts.try_emplace(extent.end_bytes(), "unused");
}

void CraftedFile::add_run_parts(SegmentId segment, const format::RunRef& run) {
  std::string name = "segment " + std::to_string(segment.value);
  for (const auto& table : tables) {
    for (const auto& entry : table) {
      if (entry.id == segment) name += " " + std::string(name_of(entry.kind));
    }
  }
  name += ", run " + std::to_string(run.run_id.value);
  add_part(run.extent(), name + ", payload");
  parts[run.offset_bytes + format::round_up(run.payload_bytes, 8)] = name + ", checksums";
}

format::SegmentEntry& CraftedFile::segment(SegmentKind kind) {
  for (auto& table : tables) {
    for (auto& entry : table) {
      if (entry.kind == kind) return entry;
    }
  }
  std::abort();
}

std::vector<std::byte> CraftedFile::payload(const format::SegmentEntry& entry,
                                            std::size_t run) const {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(entry.runs.at(run).offset_bytes);
  return {begin, begin + static_cast<std::ptrdiff_t>(entry.runs.at(run).payload_bytes)};
}

std::uint64_t CraftedFile::append(const std::vector<std::byte>& content) {
  const std::uint64_t offset = format::round_up(bytes.size(), format::kUnitBytes);
  bytes.resize(offset + format::round_up(content.size(), format::kUnitBytes));
  std::copy(content.begin(), content.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  add_part({offset, bytes.size() - offset}, "unused");
  return offset;
}

std::uint64_t CraftedFile::place(Extent extent, const std::vector<std::byte>& content) {
  const std::uint64_t length_bytes = format::round_up(content.size(), format::kUnitBytes);
  if (extent.offset_bytes == 0 || length_bytes > extent.length_bytes) return append(content);
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(extent.offset_bytes);
  std::fill(std::copy(content.begin(), content.end(), begin),
            begin + static_cast<std::ptrdiff_t>(length_bytes), std::byte{0});
  return extent.offset_bytes;
}

/// The last level of a run, and what is behind it; nothing if the run is not whole.
std::span<std::byte> CraftedFile::top_of(SegmentId segment, const format::RunRef& run) {
  if (run.payload_bytes == 0 || run.payload_bytes > bytes.size()) return {};
  const auto tree = format::checksum_tree(run.payload_bytes);
  if (run.offset_bytes > bytes.size() || tree.extent_bytes > bytes.size() - run.offset_bytes) {
    return {};
  }
  const std::uint64_t begin = run.offset_bytes + tree.top().offset_bytes;
  const auto top = std::span(bytes).subspan(begin, tree.top().length_bytes);
  return format::checksum(top, top_seed(segment, run)) == run.checksum ? top
                                                                       : std::span<std::byte>();
}

std::uint64_t CraftedFile::top_seed(SegmentId segment, const format::RunRef& run) const {
  const auto tree = format::checksum_tree(run.payload_bytes);
  return format::chunk_seed({identity.uuid, segment, run.run_id}, tree.levels.size(), 0);
}

void CraftedFile::set_end(format::SegmentEntry& entry,
                          const std::function<void(format::RunEnd&)>& change) {
  auto& run = entry.runs.back();
  const auto top = top_of(entry.id, run);
  auto end = format::load_struct<format::RunEnd>(top.last<sizeof(format::RunEnd)>().data());
  change(end);
  format::seal_run_end(top, identity.uuid, end);
  run.checksum = format::checksum(top, top_seed(entry.id, run));
  ends_are_written_ = true;
}

/// Brings changes of entries into the ends of their runs.
void CraftedFile::write_ends() {
  for (auto& table : tables) {
    for (auto& entry : table) {
      if (entry.storage_class == StorageClass::kTiled) continue;
      for (auto& run : entry.runs) {
        const auto top = top_of(entry.id, run);
        if (top.empty()) continue;
        const auto old =
            format::load_struct<format::RunEnd>(top.last<sizeof(format::RunEnd)>().data());
        format::seal_run_end(top, identity.uuid,
                             format::run_end(label_of(entry, run.run_id, old.first),
                                             run.payload_bytes, run.record_count));
        run.checksum = format::checksum(top, top_seed(entry.id, run));
      }
    }
  }
}

format::RunLabel CraftedFile::label(SegmentId segment, RunId run, std::uint64_t first) const {
  for (const auto& table : tables) {
    for (const auto& entry : table) {
      if (entry.id == segment) return label_of(entry, run, first);
    }
  }
  std::abort();
}

void CraftedFile::write_run(SegmentId segment, format::RunRef& run,
                            const std::vector<std::byte>& payload, std::uint64_t first) {
  std::vector<std::byte> content = payload;
  content.resize(format::round_up(content.size(), 8));
  format::ChecksumTreeBuilder tree({identity.uuid, segment, run.run_id});
  for (std::size_t begin = 0; begin < content.size(); begin += format::kChunkBytes) {
    const auto length = std::min<std::size_t>(format::kChunkBytes, content.size() - begin);
    tree.add_chunk(std::span(content).subspan(begin, length));
  }
  const auto tail = tree.finish(
      format::run_end(label(segment, run.run_id, first), payload.size(), run.record_count));
  content.insert(content.end(), tail.bytes.begin(), tail.bytes.end());
  run.offset_bytes = place(run.offset_bytes == 0 ? Extent{} : run.extent(), content);
  run.payload_bytes = payload.size();
  run.checksum = tail.checksum;
  add_run_parts(segment, run);
}

void CraftedFile::set_payload(format::SegmentEntry& entry, const std::vector<std::byte>& payload,
                              std::size_t run) {
  write_run(entry.id, entry.runs.at(run), payload);
}

format::RunRef CraftedFile::new_run() {
  format::RunRef run;
  run.run_id = {root.next_run_id++};
  run.born = root.generation;
  return run;
}

format::RunRef CraftedFile::add_run(SegmentId segment, const std::vector<std::byte>& payload,
                                    std::uint64_t record_count) {
  format::RunRef run = new_run();
  run.record_count = record_count;
  write_run(segment, run, payload);
  return run;
}

format::SegmentEntry& CraftedFile::add_segment(SegmentKind kind, SegmentId owner) {
  format::SegmentEntry entry;
  entry.id = {root.next_segment_id++};
  entry.kind = kind;
  entry.storage_class = container::all_kinds().find(kind)->rule.storage_class;
  entry.owner = owner;
  return tables.back().emplace_back(std::move(entry));
}

void CraftedFile::remove_segment(SegmentKind kind) {
  for (auto& table : tables) {
    std::erase_if(table, [kind](const auto& entry) { return entry.kind == kind; });
  }
}

void CraftedFile::set_tile(format::SegmentEntry& entry, std::uint64_t tile,
                           const std::vector<std::byte>& payload, std::uint64_t record_count) {
  container::TileTree tree(entry);
  const bool is_new = tile == tree.tile_count();
  // Runs of nodes are younger than those below them.
  const auto write = [&](container::TilePlace place, const format::RunRef* replaced,
                         const std::vector<std::byte>& content, std::uint64_t records) {
    format::RunRef run = is_new || replaced == nullptr ? new_run() : *replaced;
    run.record_count = records;
    write_run(entry.id, run, content, container::TileTree::first_tile(place));
    return run;
  };
  tree.set_tile(tile, write({0, tile}, is_new ? nullptr : &container::tile_ref(entry, tile),
                            payload, record_count));
  const auto write_node = [&](container::TilePlace place, const format::TileNode& node,
                              const format::RunRef* replaced) -> Result<format::RunRef> {
    std::vector<std::byte> content;
    format::encode_tile_node(node, content);
    return write(place, replaced, content, node.record_count());
  };
  if (!tree.write_nodes(write_node)) std::abort();
  tree.store_in(entry);
}

template <class Ref>
void CraftedFile::write_piece(Ref& ref, const std::vector<std::byte>& payload,
                              format::ChecksumDomain domain, const std::string& name) {
  if (ref.offset_bytes == 0) ref.born = root.generation;
  ref.offset_bytes = place(ref.extent(), payload);
  ref.payload_bytes = static_cast<std::uint32_t>(payload.size());
  const Extent extent = ref.extent();
  ref.checksum =
      format::checksum(std::span(bytes).subspan(extent.offset_bytes, extent.length_bytes),
                       format::extent_seed(identity.uuid, domain, ref.born, ref.offset_bytes));
  add_part(extent, name);
}

void CraftedFile::write_pieces() {
  if (std::exchange(pieces_are_written_, true)) return;
  if (!ends_are_written_) write_ends();
  root.tables.resize(tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    auto& ref = root.tables[i];
    write_piece(ref, format::encode_table(tables[i]), format::ChecksumDomain::kTable, "table");
    ref.first_segment = tables[i].empty() ? SegmentId{1} : tables[i].front().id;
    ref.segment_count = static_cast<std::uint32_t>(tables[i].size());
  }
  root.held_tables.resize(held_tables.size());
  for (std::size_t i = 0; i < held_tables.size(); ++i) {
    auto& ref = root.held_tables[i];
    write_piece(ref, format::encode_held_table(held_tables[i]), format::ChecksumDomain::kHeldTable,
                "held table");
    ref.entry_count = static_cast<std::uint32_t>(held_tables[i].size());
  }
}

void CraftedFile::assemble(const std::function<void(std::vector<std::byte>&)>& root_bytes) {
  write_pieces();
  auto payload = format::encode_root(root);
  if (root_bytes) root_bytes(payload);
  superblock.root_offset_bytes =
      place(format::root_extent(superblock),
            std::vector<std::byte>(format::root_extent_bytes(payload.size())));
  superblock.high_water_bytes = bytes.size();
  const auto sealed = format::seal_root(payload, identity, superblock);
  std::copy(sealed.begin(), sealed.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(superblock.root_offset_bytes));
  add_part(format::root_extent(superblock), "root");
  write_superblocks();
}

void CraftedFile::write_superblocks() {
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
      std::byte* place = bytes.data() + format::kSuperblockOffsets[slot][copy];
      std::memset(place, 0, format::kSuperblockBytes);
      format::Superblock content = superblock;
      if (slot != superblock.generation % 2) {
        if (superblock.generation < 2) continue;
        content = {};  // a tombstone
        content.generation = superblock.generation - 1;
      }
      const auto sealed = format::seal_superblock(content, identity.uuid, slot, copy);
      std::memcpy(place, &sealed, sizeof sealed);
    }
  }
}

}  // namespace crawlstore::testing
