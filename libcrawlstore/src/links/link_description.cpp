// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "container/description_parts.h"
#include "format/dense_index.h"
#include "format/endian.h"
#include "format/field.h"
#include "format/link_block.h"
#include "format/link_index.h"
#include "links/link_content.h"

namespace crawlstore::links {

using container::Description;
using container::RunBytes;
using container::RunSource;

namespace {

constexpr std::uint64_t kEntryBytes = sizeof(format::LinkIndexEntry);

Extent index_of(const format::LinkRunFooter& footer) {
  return {footer.index_offset_bytes, footer.block_count * kEntryBytes};
}

container::BlockMap blocks_of(const RunSource& source, const format::LinkRunFooter& footer) {
  const auto begin_of = [&](std::uint64_t i) -> std::uint64_t {
    const auto entry = source.read(footer.index_offset_bytes + i * kEntryBytes + 8, 8);
    return entry.bytes.size() < 8 ? 0 : format::load<std::uint64_t>(entry.bytes.data());
  };
  return {source, footer.block_count, footer.index_offset_bytes, begin_of};
}

void describe_entry(Description& out, const RunSource& source, Extent index, std::uint64_t i) {
  const std::uint64_t place = index.offset_bytes + i * kEntryBytes;
  const std::uint64_t base = source.run().offset_bytes + place;
  const std::size_t mark = out.mark();
  out.open("index[" + std::to_string(i) + "]", "struct", {base, kEntryBytes});
  const RunBytes bytes = source.read(place, kEntryBytes);
  out.add_fields(format::describe_link_index_entry(bytes.bytes), base);
  out.close();
  container::note_problems(out, mark, base, bytes, std::nullopt);
}

void describe_block(Description& out, const container::BlockMap& map, std::uint64_t i) {
  const auto check = [](std::span<const std::byte> block) {
    format::LinkRows rows;
    return container::error_of(format::decode_link_block(block, rows));
  };
  container::describe_block(out, map, i, format::describe_link_block, check);
}

}  // namespace

void describe_link_run(Description& out, const RunSource& source) {
  const auto footer = container::describe_footer(out, source, format::describe_link_run_footer,
                                                 format::parse_link_footer);
  if (!footer) return;
  if (footer->codec == format::kDenseFamily) return describe_dense_run(out, source, *footer);
  const auto map = blocks_of(source, *footer);
  const Extent index = index_of(*footer);
  const std::uint64_t start = source.run().offset_bytes;
  const std::string count = std::to_string(map.count);
  const std::uint64_t shown = std::min<std::uint64_t>(map.count, out.entries_max());
  out.open("blocks", "list", {start, index.offset_bytes}, count);
  for (std::uint64_t i = 0; i < shown; ++i) describe_block(out, map, i);
  out.close();
  out.open("index", "list", {start + index.offset_bytes, index.length_bytes}, count);
  for (std::uint64_t i = 0; i < shown; ++i) describe_entry(out, source, index, i);
  out.close();
}

void describe_link_run_at(Description& out, const RunSource& source, std::uint64_t place) {
  const auto footer = container::describe_footer(out, source, format::describe_link_run_footer,
                                                 format::parse_link_footer);
  if (!footer) return;
  if (footer->codec == format::kDenseFamily) {
    return describe_dense_run_at(out, source, *footer, place);
  }
  const auto map = blocks_of(source, *footer);
  const Extent index = index_of(*footer);
  if (place < index.offset_bytes) {
    describe_block(out, map, map.find(place));
  } else if (place < index.end_bytes()) {
    describe_entry(out, source, index, (place - index.offset_bytes) / kEntryBytes);
  }
}

}  // namespace crawlstore::links
