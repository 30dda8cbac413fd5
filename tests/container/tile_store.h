// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tiled segments of small tiles with known content, for the tests of container/.

#include "container/container_store.h"
#include "container/tile_reader.h"
#include "container/tile_writer.h"
#include "format/record_tile.h"

namespace crawlstore::testing {

/// The tiles' owner: nobody looks at its payload.
inline SegmentId add_pages(container::Writer& writer) {
  const SegmentId id = writer.new_segment_id();
  const auto run = write_random(writer, {id, SegmentKind::kPages, {}, writer.new_run_ids(1)}, 8, 1);
  writer.put({id, SegmentKind::kPages, StorageClass::kBlob, {}, "pages", {run}});
  return id;
}

/// A record tile of `page_count` pages; another one for every seed.
inline Bytes tile_bytes(std::uint64_t seed, std::uint32_t page_count = 2) {
  std::vector<format::PageRecord> records(page_count);
  records.back().score = static_cast<float>(seed);
  Bytes payload;
  format::encode_record_tile(records, payload);
  return payload;
}

inline void write_tile(container::TileWriter& tiles, std::uint64_t index, std::uint64_t seed,
                       std::uint32_t page_count = 2) {
  must(tiles.write(index, tile_bytes(seed, page_count), page_count));
}

/// A segment of `count` tiles; tile i has the seed i.
inline SegmentId add_tiles(container::Writer& writer, SegmentId owner, std::uint64_t count) {
  auto tiles = container::TileWriter::create(writer, SegmentKind::kPageRecords, owner);
  for (std::uint64_t i = 0; i < count; ++i) write_tile(tiles, i, i);
  must(tiles.finish());
  return tiles.segment();
}

/// Replaces or appends one tile.
inline void put_tile(container::Writer& writer, SegmentId segment, std::uint64_t index,
                     std::uint64_t seed) {
  auto tiles = must(container::TileWriter::open(writer, segment));
  write_tile(tiles, index, seed);
  must(tiles.finish());
}

inline container::TileReader tiles_of(const ContainerStore& store, SegmentId segment) {
  return must(container::TileReader::open(store.reader(), segment));
}

/// A copy of the verified payload of a tile.
inline Bytes tile_of(const container::TileReader& tiles, std::uint64_t index) {
  const auto bytes = must(tiles.tile(index));
  return {bytes.begin(), bytes.end()};
}

}  // namespace crawlstore::testing
