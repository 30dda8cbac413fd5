// SPDX-License-Identifier: Apache-2.0
#include "links/link_description.h"

#include <algorithm>

#include "container/description_parts.h"
#include "format/endian.h"
#include "format/field.h"
#include "format/link_block.h"
#include "format/link_index.h"

namespace crawlstore::links {

using container::Description;
using container::RunBytes;
using container::RunSource;

namespace {

constexpr std::uint64_t kEntryBytes = sizeof(format::LinkIndexEntry);
std::string item(const char* list, std::uint64_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

/// Where the blocks of a link run are, from its footer and index, none of which is believed.
class LinkRunMap {
 public:
  LinkRunMap(const RunSource& source, const format::LinkRunFooter& footer)
      : source_(source), footer_(footer) {}

  [[nodiscard]] std::uint64_t block_count() const { return footer_.block_count; }
  [[nodiscard]] Extent index() const {
    return {footer_.index_offset_bytes, footer_.block_count * kEntryBytes};
  }
  /// The extent of a block in the payload.
  [[nodiscard]] Extent block(std::uint64_t i) const {
    const std::uint64_t begin = block_offset(i);
    const std::uint64_t end =
        i + 1 < footer_.block_count ? block_offset(i + 1) : footer_.index_offset_bytes;
    return {begin, end > begin ? end - begin : 0};
  }
  /// The last block that begins at or before `place`.
  [[nodiscard]] std::uint64_t find(std::uint64_t place) const {
    return container::find_block(footer_.block_count, place,
                                 [this](std::uint64_t i) { return block_offset(i); });
  }

 private:
  [[nodiscard]] std::uint64_t block_offset(std::uint64_t i) const {
    const auto entry = source_.read(footer_.index_offset_bytes + i * kEntryBytes + 8, 8);
    return entry.bytes.size() < 8 ? 0 : format::load<std::uint64_t>(entry.bytes.data());
  }

  const RunSource& source_;
  const format::LinkRunFooter& footer_;
};

void describe_entry(Description& out, const RunSource& source, const LinkRunMap& map,
                    std::uint64_t i) {
  const std::uint64_t place = map.index().offset_bytes + i * kEntryBytes;
  const std::uint64_t base = source.run().offset_bytes + place;
  const std::size_t mark = out.mark();
  out.open(item("index", i), "struct", {base, kEntryBytes});
  const RunBytes bytes = source.read(place, kEntryBytes);
  out.add_fields(format::describe_link_index_entry(bytes.bytes), base);
  out.close();
  container::note_problems(out, mark, base, bytes, std::nullopt);
}

void describe_block(Description& out, const RunSource& source, const LinkRunMap& map,
                    std::uint64_t i) {
  const Extent block = map.block(i);
  const std::uint64_t base = source.run().offset_bytes + block.offset_bytes;
  const std::size_t mark = out.mark();
  out.open(item("blocks", i), "struct", {base, block.length_bytes});
  const RunBytes bytes =
      source.read(block.offset_bytes, std::min(block.length_bytes, container::kWholeBytesMax));
  out.add_fields(format::describe_link_block(bytes.bytes), base);
  out.close();
  std::optional<Error> broken;
  if (bytes.bytes.size() == block.length_bytes) {
    format::LinkRows rows;
    broken = container::error_of(format::decode_link_block(bytes.bytes, rows));
  }
  container::note_problems(out, mark, base, bytes, broken);
}

}  // namespace

void describe_link_run(Description& out, const RunSource& source) {
  const auto footer = container::describe_footer(out, source, format::describe_link_run_footer,
                                                 format::parse_link_footer);
  if (!footer) return;
  const LinkRunMap map(source, *footer);
  const std::uint64_t start = source.run().offset_bytes;
  const std::string count = std::to_string(map.block_count());
  const std::uint64_t shown = std::min<std::uint64_t>(map.block_count(), out.entries_max());
  out.open("blocks", "list", {start, map.index().offset_bytes}, count);
  for (std::uint64_t i = 0; i < shown; ++i) describe_block(out, source, map, i);
  out.close();
  out.open("index", "list", {start + map.index().offset_bytes, map.index().length_bytes}, count);
  for (std::uint64_t i = 0; i < shown; ++i) describe_entry(out, source, map, i);
  out.close();
}

void describe_link_run_at(Description& out, const RunSource& source, std::uint64_t place) {
  const auto footer = container::describe_footer(out, source, format::describe_link_run_footer,
                                                 format::parse_link_footer);
  if (!footer) return;
  const LinkRunMap map(source, *footer);
  const Extent index = map.index();
  if (place < index.offset_bytes) {
    describe_block(out, source, map, map.find(place));
  } else if (place < index.end_bytes()) {
    describe_entry(out, source, map, (place - index.offset_bytes) / kEntryBytes);
  }
}

}  // namespace crawlstore::links
