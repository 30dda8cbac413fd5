// SPDX-License-Identifier: Apache-2.0
#include "container/description.h"

#include <algorithm>

#include "format/endian.h"

namespace crawlstore::container {
namespace {

/// A shared_ptr that owns nothing.
std::shared_ptr<Storage> borrowed(Storage& storage) {
  return {std::shared_ptr<Storage>(), &storage};
}

std::string count_of(std::uint64_t count) {
  return std::to_string(count);
}

void describe_tile_node(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const RunBytes bytes = source.read(0, std::min(run.payload_bytes, kWholeBytesMax));
  const std::size_t mark = out.mark();
  out.open("tile_node", "struct", {run.offset_bytes, run.payload_bytes});
  out.add_fields(format::describe_tile_node(bytes.bytes, out.entries_max()), run.offset_bytes);
  out.close();
  // A node whose directory could be loaded broke no rule.
  note_problems(out, mark, run.offset_bytes, bytes, std::nullopt);
}

/// Whether the run is a node, by its first bytes, which differ from those of a tile.
bool is_tile_node(const RunSource& source) {
  const auto start = source.read(0, sizeof(format::TileNodeHeader)).bytes;
  return start.size() >= sizeof(format::TileNodeHeader) &&
         format::load<std::uint64_t>(start.data()) == format::kTileNodeMagic;
}

/// A piece that one checksum covers.
struct Piece {
  std::string name;
  Extent extent;                  // relative to the run's extent
  std::uint64_t first_chunk = 0;  // itself, or the first that hangs on it
};

/// The piece that holds `place`, relative to the extent.
Piece piece_at(const format::ChecksumTree& tree, std::uint64_t place) {
  const std::uint64_t chunk = place / format::kChunkBytes;
  if (place < tree.padded_payload_bytes) {
    const std::uint64_t start = chunk * format::kChunkBytes;
    return {"chunks[" + count_of(chunk) + "]",
            {start, std::min(format::kChunkBytes, tree.padded_payload_bytes - start)},
            chunk};
  }
  std::uint64_t chunks_under = format::kChunkBytes / 8;
  for (std::size_t level = 0; level + 1 < tree.levels.size(); ++level) {
    const auto& table = tree.levels[level];
    const std::uint64_t end = table.offset_bytes + table.length_bytes();
    if (place >= end) {
      chunks_under *= format::kChunkBytes / 8;
      continue;
    }
    const std::uint64_t index = (place - table.offset_bytes) / format::kChunkBytes;
    const std::uint64_t start = table.offset_bytes + index * format::kChunkBytes;
    return {"checksum_levels[" + count_of(level) + "][" + count_of(index) + "]",
            {start, std::min(format::kChunkBytes, end - start)},
            index * chunks_under};
  }
  return {"checksum_levels[" + count_of(tree.levels.size() - 1) + "]", tree.top(), 0};
}

}  // namespace

void Description::open(std::string name, std::string type, Extent place, std::string value) {
  add(std::move(name), std::move(type), place, std::move(value));
  ++depth_;
}

void Description::add(std::string name, std::string type, Extent place, std::string value) {
  fields_.push_back({std::move(name),
                     std::move(type),
                     place.offset_bytes,
                     place.length_bytes,
                     std::move(value),
                     {},
                     depth_});
}

void Description::add_fields(const format::Fields& fields, std::uint64_t base) {
  for (const format::Field& field : fields) {
    fields_.push_back({field.name, field.type, base + field.offset_bytes, field.length_bytes,
                       field.value, field.problem, depth_ + field.depth});
  }
}

void Description::note(std::size_t mark, std::uint64_t offset, const char* text) {
  std::size_t line = mark;
  for (std::size_t i = mark; i < fields_.size(); ++i) {
    if (fields_[i].offset_bytes == offset && fields_[i].length_bytes != 0) line = i;
  }
  if (fields_[line].problem.empty()) fields_[line].problem = text;
}

RunSource::RunSource(Storage& storage, const Uuid& uuid, const format::SegmentEntry& entry,
                     const format::RunRef& run)
    : storage_(storage), name_{uuid, entry.id, run.run_id}, run_(run) {
  const auto size = storage.size();
  if (size && run.extent().end_bytes() <= *size) reader_.emplace(borrowed(storage), name_, run);
}

RunBytes RunSource::read(std::uint64_t offset, std::uint64_t length) const {
  RunBytes result;
  offset = std::min(offset, run_.payload_bytes);
  length = std::min(length, run_.payload_bytes - offset);
  if (length == 0) return result;
  if (reader_) {
    const auto view = reader_->bytes(offset, length);
    if (!view) result.problem = view.error();
  } else {
    result.problem = Error{Errc::kTruncated, 0, name_.segment, run_.offset_bytes,
                           "the file ends inside a segment"};
  }
  result.bytes.resize(length);
  const auto got = storage_.read(run_.offset_bytes + offset, result.bytes);
  result.bytes.resize(got ? *got : 0);
  if (!got) result.problem = got.error();
  return result;
}

void describe_run(Description& out, const RunSource& source, const Kind& kind) {
  if (kind.rule.storage_class == StorageClass::kTiled && is_tile_node(source)) {
    return describe_tile_node(out, source);
  }
  kind.describe(out, source);
}

void describe_run_at(Description& out, const RunSource& source, const Kind& kind,
                     std::uint64_t offset) {
  const auto& run = source.run();
  const std::uint64_t place = offset - run.offset_bytes;
  const auto tree = format::checksum_tree(run.payload_bytes);
  const Piece piece = piece_at(tree, place);
  const Extent where{run.offset_bytes + piece.extent.offset_bytes, piece.extent.length_bytes};
  out.add(piece.name, "bytes", where, {});
  const auto bytes = source.read(piece.first_chunk * format::kChunkBytes, 1);
  if (bytes.problem && bytes.problem->offset == where.offset_bytes) {
    out.note_last(bytes.problem->text);
  }
  if (kind.describe_at != nullptr) return kind.describe_at(out, source, place);
  describe_run(out, source, kind);
}

}  // namespace crawlstore::container
