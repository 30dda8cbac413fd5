// SPDX-License-Identifier: Apache-2.0
#include "container/description.h"

#include <algorithm>

#include "container/description_origins.h"
#include "container/description_parts.h"
#include "container/link_content.h"
#include "container/link_description.h"
#include "container/run_content.h"
#include "format/drum_table.h"
#include "format/endian.h"
#include "format/key_block.h"
#include "format/pages_table.h"
#include "format/partition_index.h"
#include "format/record_tile.h"
#include "format/request_run.h"

namespace crawlstore::container {
namespace {

/// A shared_ptr that owns nothing.
std::shared_ptr<Storage> borrowed(Storage& storage) {
  return {std::shared_ptr<Storage>(), &storage};
}

std::string count_of(std::uint64_t count) {
  return std::to_string(count);
}

void describe_drum(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const std::size_t mark = out.mark();
  out.open("drum", "struct", {run.offset_bytes, run.payload_bytes});
  const RunBytes payload = source.read(0, std::min(run.payload_bytes, kWholeBytesMax));
  out.add_fields(format::describe_drum(payload.bytes, out.entries_max()), run.offset_bytes);
  out.close();
  note_problems(out, mark, run.offset_bytes, payload,
                error_of(format::parse_drum_table(payload.bytes)));
}

void describe_pages(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const std::size_t mark = out.mark();
  out.open("pages", "struct", {run.offset_bytes, run.payload_bytes});
  const RunBytes payload = source.read(0, std::min(run.payload_bytes, kWholeBytesMax));
  out.add_fields(format::describe_pages(payload.bytes), run.offset_bytes);
  out.close();
  note_problems(out, mark, run.offset_bytes, payload,
                error_of(format::parse_pages_table(payload.bytes)));
}

/// Where the blocks of a partition are, from its footer and index, none of which is believed.
class PartitionMap {
 public:
  PartitionMap(const RunSource& source, const format::PartitionFooter& footer)
      : source_(source), footer_(footer) {}

  [[nodiscard]] std::uint64_t block_count() const { return footer_.block_count; }

  /// The extent of a block in the payload.
  [[nodiscard]] Extent block(std::uint64_t i) const {
    const std::uint64_t begin = block_offset(i);
    const std::uint64_t end =
        i + 1 < footer_.block_count ? block_offset(i + 1) : footer_.index_offset_bytes;
    return {begin, end > begin ? end - begin : 0};
  }

  /// The last block that begins at or before `offset`.
  [[nodiscard]] std::uint64_t find(std::uint64_t offset) const {
    return find_block(footer_.block_count, offset,
                      [this](std::uint64_t i) { return block_offset(i); });
  }

 private:
  [[nodiscard]] std::uint64_t block_offset(std::uint64_t i) const {
    const auto entry =
        source_.read(footer_.index_offset_bytes + footer_.block_count * 8 + i * 4, 4);
    if (entry.bytes.size() < 4) return 0;
    return std::uint64_t{format::load<std::uint32_t>(entry.bytes.data())} * 8;
  }

  const RunSource& source_;
  const format::PartitionFooter& footer_;
};

void describe_block(Description& out, const RunSource& source, const PartitionMap& map,
                    std::uint64_t i, const format::PartitionFooter& footer) {
  const Extent block = map.block(i);
  const std::uint64_t base = source.run().offset_bytes + block.offset_bytes;
  const std::size_t mark = out.mark();
  out.open("blocks[" + count_of(i) + "]", "struct", {base, block.length_bytes});
  const RunBytes bytes =
      source.read(block.offset_bytes, std::min(block.length_bytes, kWholeBytesMax));
  out.add_fields(format::describe_key_block(bytes.bytes), base);
  out.close();
  std::optional<Error> broken;
  if (bytes.bytes.size() == block.length_bytes) {
    const auto parsed = format::parse_key_block(bytes.bytes, footer.value_bytes, footer.key_bytes);
    broken = error_of(parsed);
    if (parsed) {
      format::BlockNumbers keys;   // NOLINT(*-member-init): written
      format::BlockNumbers tails;  // NOLINT(*-member-init): written
      broken = error_of(format::decode_keys(*parsed, keys, tails));
    }
  }
  note_problems(out, mark, base, bytes, broken);
}

void describe_partition(Description& out, const RunSource& source) {
  const auto footer = describe_footer(out, source, format::describe_partition_footer,
                                      format::parse_partition_footer);
  if (!footer) return;
  const PartitionMap map(source, *footer);
  out.open("blocks", "list", {source.run().offset_bytes, footer->index_offset_bytes},
           count_of(map.block_count()));
  const std::uint64_t shown = std::min<std::uint64_t>(map.block_count(), out.entries_max());
  for (std::uint64_t i = 0; i < shown; ++i) {
    describe_block(out, source, map, i, *footer);
  }
  out.close();
}

struct HeaderForm {
  const char* name;
  std::uint64_t length_bytes;
  format::Fields (*describe)(std::span<const std::byte>);
};

HeaderForm header_of(SegmentKind kind) {
  if (kind == SegmentKind::kDrumKeyLog) {
    return {"key_run", sizeof(format::KeyRunHeader), format::describe_key_run};
  }
  if (kind == SegmentKind::kDrumAuxLog) {
    return {"aux_run", sizeof(format::AuxRunHeader), format::describe_aux_run};
  }
  if (kind == SegmentKind::kPageEvents) {
    return {"event_run", sizeof(format::EventRunHeader), format::describe_event_run};
  }
  return {"result_run", sizeof(format::ResultRunHeader), format::describe_result_run};
}

void describe_log_run(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const HeaderForm form = header_of(source.kind());
  const std::size_t mark = out.mark();
  out.open(form.name, "struct", {run.offset_bytes, form.length_bytes});
  const bool is_short = run.payload_bytes <= kWholeBytesMax;
  const RunBytes bytes = source.read(0, is_short ? run.payload_bytes : form.length_bytes);
  const auto header =
      std::span(bytes.bytes).first(std::min<std::uint64_t>(bytes.bytes.size(), form.length_bytes));
  out.add_fields(form.describe(header), run.offset_bytes);
  out.close();
  std::optional<Error> broken;
  if (is_short && !bytes.problem) {
    broken = error_of(check_run_content(source.kind(), payload_in_memory(bytes.bytes),
                                        [](std::uint64_t) { return Result<void>{}; }));
  }
  note_problems(out, mark, run.offset_bytes, bytes, broken);
}

void describe_record_tile(Description& out, const RunSource& source, const RunBytes& bytes) {
  const auto& run = source.run();
  const std::size_t mark = out.mark();
  out.open("record_tile", "struct", {run.offset_bytes, sizeof(format::RecordTileHeader)});
  out.add_fields(format::describe_record_tile(bytes.bytes), run.offset_bytes);
  out.close();
  const auto tile = format::RecordTile::parse(bytes.bytes);
  note_problems(out, mark, run.offset_bytes, bytes,
                tile ? error_of(tile->check()) : error_of(tile));
}

void describe_tile_node(Description& out, const RunSource& source, const RunBytes& bytes) {
  const auto& run = source.run();
  const std::size_t mark = out.mark();
  out.open("tile_node", "struct", {run.offset_bytes, run.payload_bytes});
  out.add_fields(format::describe_tile_node(bytes.bytes, out.entries_max()), run.offset_bytes);
  out.close();
  // A node whose directory could be loaded broke no rule.
  note_problems(out, mark, run.offset_bytes, bytes, std::nullopt);
}

/// What a tile and a node begin with tells them apart.
void describe_tiled_run(Description& out, const RunSource& source) {
  const RunBytes bytes = source.read(0, std::min(source.run().payload_bytes, kWholeBytesMax));
  const bool is_node = bytes.bytes.size() >= sizeof(format::TileNodeHeader) &&
                       format::load<std::uint64_t>(bytes.bytes.data()) == format::kTileNodeMagic;
  if (is_node) {
    describe_tile_node(out, source, bytes);
  } else {
    describe_record_tile(out, source, bytes);
  }
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
    : storage_(storage), name_{uuid, entry.id, run.run_id}, run_(run), kind_(entry.kind) {
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
    result.problem = Error{Errc::kTruncated, 0, name_.segment.value, run_.offset_bytes,
                           "the file ends inside a segment"};
  }
  result.bytes.resize(length);
  const auto got = storage_.read(run_.offset_bytes + offset, result.bytes);
  result.bytes.resize(got ? *got : 0);
  if (!got) result.problem = got.error();
  return result;
}

void describe_run(Description& out, const RunSource& source) {
  switch (source.kind()) {
    case SegmentKind::kDrum:
      return describe_drum(out, source);
    case SegmentKind::kDrumPartition:
    case SegmentKind::kFreshKeys:
      return describe_partition(out, source);
    case SegmentKind::kDrumKeyLog:
    case SegmentKind::kDrumAuxLog:
    case SegmentKind::kDrumResults:
    case SegmentKind::kPageEvents:
      return describe_log_run(out, source);
    case SegmentKind::kPageOrigins:
      return describe_origins(out, source);
    case SegmentKind::kPageRecords:
      return describe_tiled_run(out, source);
    case SegmentKind::kPages:
      return describe_pages(out, source);
    case SegmentKind::kOutLinks:
    case SegmentKind::kInLinks:
    case SegmentKind::kGoneLinks:
      return describe_link_run(out, source);
  }
}

void describe_run_at(Description& out, const RunSource& source, std::uint64_t offset) {
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
  if (is_partition_kind(source.kind())) {
    const auto footer = describe_footer(out, source, format::describe_partition_footer,
                                        format::parse_partition_footer);
    if (footer && place < footer->index_offset_bytes) {
      const PartitionMap map(source, *footer);
      describe_block(out, source, map, map.find(place), *footer);
    }
    return;
  }
  if (is_link_kind(source.kind())) return describe_link_run_at(out, source, place);
  if (source.kind() == SegmentKind::kPageOrigins) return describe_origins_at(out, source, place);
  describe_run(out, source);
}

}  // namespace crawlstore::container
