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

container::BlockMap blocks_of(const RunSource& source, const format::PartitionFooter& footer) {
  const auto begin_of = [&](std::uint64_t i) -> std::uint64_t {
    const auto offsets = footer.index_offset_bytes + footer.block_count * footer.key_bytes;
    const auto entry = source.read(offsets + i * 4, 4);
    if (entry.bytes.size() < 4) return 0;
    return std::uint64_t{format::load<std::uint32_t>(entry.bytes.data())} * 8;
  };
  return {source, footer.block_count, footer.index_offset_bytes, begin_of};
}

void describe_block(Description& out, const container::BlockMap& map, std::uint64_t i,
                    const format::PartitionFooter& footer) {
  const auto check = [&](std::span<const std::byte> block) -> std::optional<Error> {
    const auto parsed = format::parse_key_block(block, footer.value_bytes, footer.key_bytes);
    if (!parsed) return parsed.error();
    format::BlockNumbers keys;   // NOLINT(*-member-init): written
    format::BlockNumbers tails;  // NOLINT(*-member-init): written
    return container::error_of(format::decode_keys(*parsed, keys, tails));
  };
  container::describe_block(out, map, i, format::describe_key_block, check);
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
  const auto map = blocks_of(source, *footer);
  out.open("blocks", "list", {source.run().offset_bytes, footer->index_offset_bytes},
           std::to_string(map.count));
  const std::uint64_t shown = std::min<std::uint64_t>(map.count, out.entries_max());
  for (std::uint64_t i = 0; i < shown; ++i) {
    describe_block(out, map, i, *footer);
  }
  out.close();
}

void describe_partition_at(Description& out, const RunSource& source, std::uint64_t place) {
  const auto footer = container::describe_footer(out, source, format::describe_partition_footer,
                                                 format::parse_partition_footer);
  if (!footer || place >= footer->index_offset_bytes) return;
  const auto map = blocks_of(source, *footer);
  describe_block(out, map, map.find(place), *footer);
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
