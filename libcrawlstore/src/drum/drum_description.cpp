// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_description.h"

#include <algorithm>

#include "container/description_parts.h"
#include "drum/drum_content.h"
#include "format/drum_table.h"
#include "format/endian.h"
#include "format/key_block.h"
#include "format/layout.h"
#include "format/partition_index.h"

namespace crawlstore::drum {

using container::Description;
using container::RunBytes;
using container::RunSource;

namespace {

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
    return container::find_block(footer_.block_count, offset,
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
  out.open("blocks[" + std::to_string(i) + "]", "struct", {base, block.length_bytes});
  const RunBytes bytes =
      source.read(block.offset_bytes, std::min(block.length_bytes, container::kWholeBytesMax));
  out.add_fields(format::describe_key_block(bytes.bytes), base);
  out.close();
  std::optional<Error> broken;
  if (bytes.bytes.size() == block.length_bytes) {
    const auto parsed = format::parse_key_block(bytes.bytes, footer.value_bytes, footer.key_bytes);
    broken = container::error_of(parsed);
    if (parsed) {
      format::BlockNumbers keys;   // NOLINT(*-member-init): written
      format::BlockNumbers tails;  // NOLINT(*-member-init): written
      broken = container::error_of(format::decode_keys(*parsed, keys, tails));
    }
  }
  container::note_problems(out, mark, base, bytes, broken);
}

}  // namespace

void describe_drum(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const std::size_t mark = out.mark();
  out.open("drum", "struct", {run.offset_bytes, run.payload_bytes});
  const RunBytes payload = source.read(0, std::min(run.payload_bytes, container::kWholeBytesMax));
  out.add_fields(format::describe_drum(payload.bytes, out.entries_max()), run.offset_bytes);
  out.close();
  container::note_problems(out, mark, run.offset_bytes, payload,
                           container::error_of(format::parse_drum_table(payload.bytes)));
}

void describe_partition(Description& out, const RunSource& source) {
  const auto footer = container::describe_footer(out, source, format::describe_partition_footer,
                                                 format::parse_partition_footer);
  if (!footer) return;
  const PartitionMap map(source, *footer);
  out.open("blocks", "list", {source.run().offset_bytes, footer->index_offset_bytes},
           std::to_string(map.block_count()));
  const std::uint64_t shown = std::min<std::uint64_t>(map.block_count(), out.entries_max());
  for (std::uint64_t i = 0; i < shown; ++i) {
    describe_block(out, source, map, i, *footer);
  }
  out.close();
}

void describe_partition_at(Description& out, const RunSource& source, std::uint64_t place) {
  const auto footer = container::describe_footer(out, source, format::describe_partition_footer,
                                                 format::parse_partition_footer);
  if (!footer || place >= footer->index_offset_bytes) return;
  const PartitionMap map(source, *footer);
  describe_block(out, source, map, map.find(place), *footer);
}

void describe_key_run(Description& out, const RunSource& source) {
  container::describe_header(out, source,
                             {"key_run", sizeof(format::KeyRunHeader), format::describe_key_run},
                             container::check_whole<check_key_run>);
}

void describe_aux_run(Description& out, const RunSource& source) {
  container::describe_header(out, source,
                             {"aux_run", sizeof(format::AuxRunHeader), format::describe_aux_run},
                             container::check_whole<check_aux_run>);
}

void describe_result_run(Description& out, const RunSource& source) {
  container::describe_header(
      out, source, {"result_run", sizeof(format::ResultRunHeader), format::describe_result_run},
      container::check_whole<check_result_run>);
}

}  // namespace crawlstore::drum
