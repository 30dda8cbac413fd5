// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "container/description_parts.h"
#include "format/endian.h"
#include "format/origin_index.h"
#include "pages/page_content.h"

namespace crawlstore::pages {

using container::Description;
using container::RunBytes;
using container::RunSource;

namespace {

format::OriginEntry entry_of(const RunSource& source, const format::OriginFooter& footer,
                             std::uint64_t i) {
  const Extent place = format::origin_entry_place(footer, i);
  if (place.length_bytes == 0) return {};
  const auto bytes = source.read(place.offset_bytes, place.length_bytes).bytes;
  if (bytes.size() < place.length_bytes) return {};
  return format::load_origin_entry(footer, bytes.data());
}

container::BlockMap blocks_of(const RunSource& source, const format::OriginFooter& footer) {
  const auto begin_of = [&](std::uint64_t i) -> std::uint64_t {
    return i == 0 ? footer.dictionary_bytes : entry_of(source, footer, i).offset_bytes;
  };
  return {source, footer.block_count, footer.index_offset_bytes, begin_of};
}

/// A decoder with the dictionary of the run, which is described.
std::optional<format::OriginBlockDecoder> describe_dictionary(Description& out,
                                                              const RunSource& source,
                                                              const format::OriginFooter& footer) {
  const RunBytes bytes = source.read(0, footer.dictionary_bytes);
  auto decoder = format::OriginBlockDecoder::make(codec_of(footer), bytes.bytes);
  if (footer.dictionary_bytes != 0) {
    out.add("dictionary", "bytes", {source.run().offset_bytes, footer.dictionary_bytes}, {});
    if (bytes.problem) {
      out.note_last(bytes.problem->text);
    } else if (!decoder) {
      out.note_last(decoder.error().text);
    }
  }
  if (!decoder) return std::nullopt;
  return std::move(*decoder);
}

/// Describes the parts of a block that follow its header.
void describe_parts(Description& out, const format::OriginBlockHeader& header, std::uint64_t base) {
  std::uint64_t offset = base + sizeof header;
  const auto add = [&](const char* name, std::uint64_t length) {
    if (length != 0) out.add(name, "bytes", {offset, length}, {});
    offset += length;
  };
  add("distances", std::uint64_t{header.page_count} * header.linked_from_bytes);
  add("depths", std::uint64_t{header.page_count} * header.depth_bytes);
  add("stored", header.stored_bytes);
}

void describe_block(Description& out, const container::BlockMap& map, std::uint64_t i,
                    const format::OriginFooter& footer, format::OriginBlockDecoder* decoder) {
  const Extent block = map.block(i);
  const std::uint64_t base = map.source.run().offset_bytes + block.offset_bytes;
  const std::size_t mark = out.mark();
  out.open("blocks[" + std::to_string(i) + "]", "struct", {base, block.length_bytes});
  const RunBytes bytes =
      map.source.read(block.offset_bytes, std::min(block.length_bytes, container::kWholeBytesMax));
  out.add_fields(format::describe_origin_block(bytes.bytes), base);
  const auto header = format::parse_origin_block_header(bytes.bytes, codec_of(footer));
  if (header) describe_parts(out, *header, base);
  out.close();
  auto broken = container::error_of(header);
  if (header && decoder != nullptr && bytes.bytes.size() == block.length_bytes) {
    broken = container::error_of(
        decoder->decode(bytes.bytes, footer.first_page + entry_of(map.source, footer, i).page));
  }
  container::note_problems(out, mark, base, bytes, broken);
}

}  // namespace

void describe_origins(Description& out, const RunSource& source) {
  const auto footer = container::describe_footer(out, source, format::describe_origin_footer,
                                                 format::parse_origin_footer);
  if (!footer) return;
  auto decoder = describe_dictionary(out, source, *footer);
  const auto map = blocks_of(source, *footer);
  const std::uint64_t start = source.run().offset_bytes;
  const std::uint64_t index_bytes = format::origin_index_end(*footer) - footer->index_offset_bytes;
  out.add("index", "bytes", {start + footer->index_offset_bytes, index_bytes}, {});
  out.open(
      "blocks", "list",
      {start + footer->dictionary_bytes, footer->index_offset_bytes - footer->dictionary_bytes},
      std::to_string(footer->block_count));
  const std::uint64_t shown = std::min<std::uint64_t>(footer->block_count, out.entries_max());
  for (std::uint64_t i = 0; i < shown; ++i) {
    describe_block(out, map, i, *footer, decoder ? &*decoder : nullptr);
  }
  out.close();
}

void describe_origins_at(Description& out, const RunSource& source, std::uint64_t place) {
  const auto footer = container::describe_footer(out, source, format::describe_origin_footer,
                                                 format::parse_origin_footer);
  if (!footer || place >= footer->index_offset_bytes) return;
  auto decoder = describe_dictionary(out, source, *footer);
  const auto map = blocks_of(source, *footer);
  if (place < footer->dictionary_bytes) return;
  describe_block(out, map, map.find(place), *footer, decoder ? &*decoder : nullptr);
}

}  // namespace crawlstore::pages
