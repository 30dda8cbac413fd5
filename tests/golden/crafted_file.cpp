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
#include "format/tile_node.h"

namespace crawlstore::testing {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) std::abort();
  return std::move(*result);
}

}  // namespace

CraftedFile::CraftedFile(std::vector<std::byte> whole) : bytes(std::move(whole)) {
  const auto storage = open_memory_storage(make_memory_file(bytes), OpenMode::kRead);
  identity = must(container::read_identity(*storage));
  const auto set = must(container::read_superblocks(*storage, identity.uuid));
  superblock = *set.winner();
  const auto directory = must(container::load_directory(*storage, identity.uuid, superblock, {}));
  root.generation = directory->generation();
  root.next_segment_id = directory->next_segment_id;
  root.next_run_id = directory->next_run_id;
  root.held = directory->held;
  for (const auto& table : directory->tables) tables.push_back(table->segments);
  for (const auto& table : directory->held_tables) held_tables.push_back(table->entries);
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
  return offset;
}

std::vector<std::byte> CraftedFile::content_of(SegmentId segment, format::RunRef& run,
                                               const std::vector<std::byte>& payload) const {
  std::vector<std::byte> content = payload;
  content.resize(format::round_up(content.size(), 8));
  format::ChecksumTreeBuilder tree({identity.uuid, segment, run.run_id});
  for (std::size_t begin = 0; begin < content.size(); begin += format::kChunkBytes) {
    const auto length = std::min<std::size_t>(format::kChunkBytes, content.size() - begin);
    tree.add_chunk(std::span(content).subspan(begin, length));
  }
  const auto tail = tree.finish(payload.size());
  content.insert(content.end(), tail.bytes.begin(), tail.bytes.end());
  run.payload_bytes = payload.size();
  run.checksum = tail.checksum;
  return content;
}

void CraftedFile::set_payload(format::SegmentEntry& entry, const std::vector<std::byte>& payload,
                              std::size_t run) {
  auto& ref = entry.runs.at(run);
  ref.offset_bytes = append(content_of(entry.id, ref, payload));
}

void CraftedFile::set_payload_in_place(format::SegmentEntry& entry,
                                       const std::vector<std::byte>& payload) {
  auto& ref = entry.runs.front();
  const std::uint64_t extent_bytes = ref.extent().length_bytes;
  const auto content = content_of(entry.id, ref, payload);
  if (ref.extent().length_bytes != extent_bytes) std::abort();
  std::copy(content.begin(), content.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(ref.offset_bytes));
}

format::RunRef CraftedFile::add_run(SegmentId segment, const std::vector<std::byte>& payload,
                                    std::uint64_t record_count) {
  format::RunRef ref;
  ref.run_id = {root.next_run_id++};
  ref.born = root.generation;
  ref.record_count = record_count;
  ref.offset_bytes = append(content_of(segment, ref, payload));
  return ref;
}

format::SegmentEntry& CraftedFile::add_segment(SegmentKind kind, SegmentId owner) {
  format::SegmentEntry entry;
  entry.id = {root.next_segment_id++};
  entry.kind = kind;
  entry.storage_class = format::find_kind_rule(kind)->storage_class;
  entry.owner = owner;
  return tables.back().emplace_back(std::move(entry));
}

void CraftedFile::remove_segment(SegmentKind kind) {
  for (auto& table : tables) {
    std::erase_if(table, [kind](const auto& entry) { return entry.kind == kind; });
  }
}

void CraftedFile::replace_tile(format::SegmentEntry& entry, std::uint64_t tile,
                               const format::RunRef& ref) {
  container::TileTree tree(entry);
  tree.set_tile(tile, ref);
  const auto write = [&](container::TilePlace, const format::TileNode& node,
                         const format::RunRef*) -> Result<format::RunRef> {
    std::vector<std::byte> payload;
    format::encode_tile_node(node, payload);
    return add_run(entry.id, payload, node.record_count());
  };
  if (!tree.write_nodes(write)) std::abort();
  tree.store_in(entry);
}

void CraftedFile::set_tile(format::SegmentEntry& entry, std::uint64_t tile,
                           const std::vector<std::byte>& payload, std::uint64_t record_count) {
  replace_tile(entry, tile, add_run(entry.id, payload, record_count));
}

void CraftedFile::repack() {
  const std::vector<std::byte> whole = std::exchange(bytes, {});
  bytes.assign(whole.begin(), whole.begin() + format::kDataStart);
  root.held.clear();
  held_tables.clear();
  const auto move_run = [&](format::RunRef& run) {
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(run.offset_bytes);
    run.offset_bytes =
        append({begin, begin + static_cast<std::ptrdiff_t>(run.extent().length_bytes)});
  };
  for (auto& table : tables) {
    for (auto& entry : table) {
      if (entry.storage_class != StorageClass::kTiled) {
        std::for_each(entry.runs.begin(), entry.runs.end(), move_run);
        continue;
      }
      for (std::uint64_t tile = 0; tile < container::tile_count(entry); ++tile) {
        format::RunRef ref = container::tile_ref(entry, tile);
        move_run(ref);
        replace_tile(entry, tile, ref);
      }
    }
  }
}

void CraftedFile::write_pieces() {
  const auto place = [this](const std::vector<std::byte>& payload, format::ChecksumDomain domain,
                            std::uint64_t& offset, std::uint64_t& checksum) {
    offset = append(payload);
    const std::span<const std::byte> extent(bytes.data() + offset, bytes.size() - offset);
    checksum = format::checksum(
        extent, format::extent_seed(identity.uuid, domain, root.generation, offset));
  };
  if (root.tables.empty()) {
    for (const auto& table : tables) {
      format::TableRef ref;
      const auto payload = format::encode_table(table);
      place(payload, format::ChecksumDomain::kTable, ref.offset_bytes, ref.checksum);
      ref.born = root.generation;
      ref.first_segment = table.empty() ? SegmentId{1} : table.front().id;
      ref.payload_bytes = static_cast<std::uint32_t>(payload.size());
      ref.segment_count = static_cast<std::uint32_t>(table.size());
      root.tables.push_back(ref);
    }
  }
  if (root.held_tables.empty()) {
    for (const auto& table : held_tables) {
      format::HeldTableRef ref;
      const auto payload = format::encode_held_table(table);
      place(payload, format::ChecksumDomain::kHeldTable, ref.offset_bytes, ref.checksum);
      ref.born = root.generation;
      ref.payload_bytes = static_cast<std::uint32_t>(payload.size());
      ref.entry_count = static_cast<std::uint32_t>(table.size());
      root.held_tables.push_back(ref);
    }
  }
}

void CraftedFile::assemble(const std::function<void(std::vector<std::byte>&)>& root_bytes) {
  write_pieces();
  auto payload = format::encode_root(root);
  if (root_bytes) root_bytes(payload);
  superblock.root_offset_bytes = append(payload);
  superblock.root_payload_bytes = payload.size();
  const std::span<const std::byte> extent(bytes.data() + superblock.root_offset_bytes,
                                          bytes.size() - superblock.root_offset_bytes);
  superblock.root_checksum = format::checksum(
      extent, format::extent_seed(identity.uuid, format::ChecksumDomain::kRoot,
                                  {superblock.generation}, superblock.root_offset_bytes));
  superblock.high_water_bytes = bytes.size();
  write_superblocks();
}

void CraftedFile::write_superblocks() {
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
      std::byte* place = bytes.data() + format::kSuperblockOffsets[slot][copy];
      std::memset(place, 0, format::kSuperblockBytes);
      if (slot != superblock.generation % 2) continue;
      const auto sealed = format::seal_superblock(superblock, identity.uuid, slot, copy);
      std::memcpy(place, &sealed, sizeof sealed);
    }
  }
}

void CraftedFile::write_identity() {
  const auto sealed = format::seal_identity(identity);
  std::memcpy(bytes.data(), &sealed, sizeof sealed);
}

}  // namespace crawlstore::testing
