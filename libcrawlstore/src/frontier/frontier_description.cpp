// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "container/description_parts.h"
#include "container/payload_window.h"
#include "format/frontier_field.h"
#include "format/frontier_table.h"
#include "format/group_run.h"
#include "format/item_run.h"
#include "format/queue_run.h"
#include "format/step_run.h"
#include "frontier/frontier_content.h"

namespace crawlstore::frontier {

using container::Description;
using container::RunBytes;
using container::RunSource;

namespace {

using Fields = format::Fields;

std::string entry_name(const char* list, std::uint64_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

/// The shortest decimal number that is this one, or "inf".
std::string priority_text(std::uint64_t order) {
  std::array<char, 32> digits{};
  return {digits.data(),
          std::to_chars(digits.data(), digits.data() + digits.size(), format::queue_priority(order))
              .ptr};
}

/// A struct that a payload begins with.
void describe_front(Description& out, const RunSource& source, const char* name,
                    const Fields& fields) {
  const std::uint64_t length =
      fields.empty() ? 0 : fields.back().offset_bytes + fields.back().length_bytes;
  out.open(name, "struct", {source.run().offset_bytes, length});
  out.add_fields(fields, source.run().offset_bytes);
  out.close();
}

/// The first bytes of a payload, all if they are not too many.
RunBytes read_front(const RunSource& source) {
  return source.read(0, std::min(source.run().payload_bytes, container::kWholeBytesMax));
}
bool is_whole(const RunSource& source, const RunBytes& bytes) {
  return !bytes.problem && bytes.bytes.size() == source.run().payload_bytes;
}

/// A run of items: its footer and index, which can be relied on, and its directory, if it can.
struct ItemParts {
  format::ItemRunFooter footer{};
  format::ItemIndex index;
  std::optional<format::ItemDirectory> directory;

  [[nodiscard]] Extent block(std::uint64_t i) const {
    return {index.offsets[i], index.offsets[i + 1] - index.offsets[i]};
  }
  [[nodiscard]] Extent directory_place() const {
    return {footer.block_bytes, footer.directory_bytes};
  }
  [[nodiscard]] Extent index_place(std::uint64_t payload_bytes) const {
    const std::uint64_t length = index.block_count() * sizeof(format::ItemBlockPlace);
    return {payload_bytes - sizeof footer - length, length};
  }
};

/// Describes the footer. Returns nothing if what is before it cannot be found; what is wrong stands
/// on the footer then.
std::optional<ItemParts> open_item_run(Description& out, const RunSource& source) {
  const std::size_t mark = out.mark();
  const auto footer = container::describe_footer(out, source, format::describe_item_footer,
                                                 format::parse_item_footer);
  if (!footer) return std::nullopt;
  const std::uint64_t start = source.run().offset_bytes;
  const std::uint64_t payload_bytes = source.run().payload_bytes;
  const std::uint64_t length = std::uint64_t{footer->block_count} * sizeof(format::ItemBlockPlace);
  if (length > container::kWholeBytesMax) return std::nullopt;
  const auto index_bytes = source.read(payload_bytes - sizeof *footer - length, length);
  if (index_bytes.bytes.size() != length) return std::nullopt;
  auto index = format::parse_item_index(index_bytes.bytes, *footer);
  container::note_problems(out, mark, start, index_bytes, container::error_of(index));
  if (!index) return std::nullopt;
  ItemParts run{*footer, std::move(*index), std::nullopt};
  const Extent place = run.directory_place();
  if (place.length_bytes > container::kWholeBytesMax) return run;
  const auto bytes = source.read(place.offset_bytes, place.length_bytes);
  if (bytes.bytes.size() != place.length_bytes) return run;
  auto directory = format::parse_item_directory(bytes.bytes, *footer);
  if (directory) run.directory = std::move(*directory);
  return run;
}

/// Entries of the directory from `from` on, and what is wrong with it.
void describe_directory(Description& out, const RunSource& source, const ItemParts& run,
                        std::size_t entries_max, std::uint64_t from = 0) {
  const Extent place = run.directory_place();
  if (place.length_bytes == 0) return;
  const std::uint64_t start = source.run().offset_bytes;
  const std::uint64_t base = start + place.offset_bytes;
  const std::size_t mark = out.mark();
  out.open("directory", "list", {base, place.length_bytes}, std::to_string(run.footer.group_count));
  const auto bytes =
      source.read(place.offset_bytes, std::min(place.length_bytes, container::kWholeBytesMax));
  out.add_fields(format::describe_item_directory(bytes.bytes, entries_max, from), base);
  out.close();
  std::optional<Error> broken;
  if (bytes.bytes.size() == place.length_bytes) {
    broken = container::error_of(format::parse_item_directory(bytes.bytes, run.footer));
  }
  container::note_problems(out, mark, start, bytes, broken);
}

void describe_index_entry(Description& out, const RunSource& source, const ItemParts& run,
                          std::uint64_t i) {
  constexpr std::uint64_t kEntryBytes = sizeof(format::ItemBlockPlace);
  const std::uint64_t place =
      run.index_place(source.run().payload_bytes).offset_bytes + i * kEntryBytes;
  const std::uint64_t base = source.run().offset_bytes + place;
  const std::size_t mark = out.mark();
  out.open(entry_name("index", i), "struct", {base, kEntryBytes});
  const auto bytes = source.read(place, kEntryBytes);
  out.add_fields(format::describe_item_place(bytes.bytes), base);
  out.close();
  container::note_problems(out, mark, base, bytes, std::nullopt);
}

/// Decodes a block. The order of items and the shortest form are judged with the groups only.
std::optional<Error> decode_block(const ItemParts& run, std::uint64_t i,
                                  std::span<const std::byte> bytes, format::ItemBlock& block) {
  const auto frame = run.index.frame(i);
  if (!run.directory) return container::error_of(format::decode_item_block(frame, bytes, block));
  const auto decoded = format::read_item_block(run.index, *run.directory, i, bytes, block);
  if (!decoded) return container::error_of(decoded);
  return container::error_of(format::check_item_block(frame, bytes, block, std::nullopt));
}

/// The first items of a block, at their bodies, which have places unless they are compressed.
///   bodies  where they begin in the file
void describe_items(Description& out, const ItemParts& run, std::uint64_t block_number,
                    const format::ItemBlock& block, std::uint64_t bodies) {
  const bool is_raw = block.header.codec == 0;
  for (std::size_t i = 0; i < std::min(block.items.size(), out.entries_max()); ++i) {
    const format::Item& item = block.items[i];
    const auto body = block.body(i);
    const std::uint64_t place = is_raw ? bodies + (block.body_ends[i] - body.size()) : bodies;
    const Extent extent{place, is_raw ? body.size() : 0};
    const bool has_group = run.index.is_by_time || run.directory.has_value();
    std::string value = "id " + std::to_string(item.id);
    if (has_group) value += ", group " + std::to_string(item.group);
    value += ", priority " + priority_text(item.order);
    if (run.index.is_by_time) value += ", time " + std::to_string(item.time);
    out.open(entry_name("items", run.index.first_items[block_number] + i), "struct", extent, value);
    if (!body.empty()) {
      const format::Field field = format::text_field("body", 0, body);
      out.add(field.name, field.type, extent, field.value);
    }
    out.close();
  }
}

/// A block; with its items if `has_items`.
void describe_item_block(Description& out, const RunSource& source, const ItemParts& run,
                         std::uint64_t i, bool has_items) {
  const Extent place = run.block(i);
  const std::uint64_t start = source.run().offset_bytes;
  const std::uint64_t base = start + place.offset_bytes;
  const std::size_t mark = out.mark();
  const std::uint32_t item_count = run.index.frame(i).item_count;
  out.open(entry_name("blocks", i), "struct", {base, place.length_bytes},
           std::to_string(item_count) + (item_count == 1 ? " item" : " items"));
  const auto bytes =
      source.read(place.offset_bytes, std::min(place.length_bytes, container::kWholeBytesMax));
  const Fields fields = format::describe_item_block(bytes.bytes, item_count);
  out.add_fields(fields, base);
  format::ItemBlock block;
  std::optional<Error> broken;
  if (bytes.bytes.size() == place.length_bytes) {
    broken = decode_block(run, i, bytes.bytes, block);
    if (has_items && !broken) {
      const bool has_bodies = fields.back().name == "bodies";
      const std::uint64_t at = has_bodies ? fields.back().offset_bytes : place.length_bytes;
      describe_items(out, run, i, block, base + at);
    }
  }
  out.close();
  container::note_problems(out, mark, start, bytes, broken);
}

}  // namespace

void describe_frontier(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const std::size_t mark = out.mark();
  out.open("frontier", "struct", {run.offset_bytes, run.payload_bytes});
  const RunBytes payload = read_front(source);
  out.add_fields(format::describe_frontier(payload.bytes, out.entries_max()), run.offset_bytes);
  out.close();
  container::note_problems(out, mark, run.offset_bytes, payload,
                           container::error_of(format::parse_frontier_table(payload.bytes)));
}

void describe_group_run(Description& out, const RunSource& source) {
  const std::uint64_t start = source.run().offset_bytes;
  const std::size_t mark = out.mark();
  const RunBytes bytes = read_front(source);
  const auto header =
      std::span(bytes.bytes).first(std::min(bytes.bytes.size(), sizeof(format::GroupRunHeader)));
  describe_front(out, source, "group_run", format::describe_group_run(header));
  std::optional<Error> broken;
  if (bytes.bytes.size() == source.run().payload_bytes) {
    const auto run = format::parse_group_run(bytes.bytes);
    broken = container::error_of(run);
    if (run) {
      out.add_fields(format::describe_group_columns(*run, bytes.bytes, out.entries_max()), start);
      broken = container::error_of(format::check_group_blocks(*run));
    }
  }
  container::note_problems(out, mark, start, bytes, broken);
}

void describe_item_run(Description& out, const RunSource& source) {
  const std::size_t mark = out.mark();
  const auto run = open_item_run(out, source);
  if (!run) return;
  const std::uint64_t start = source.run().offset_bytes;
  const std::uint64_t count = run->index.block_count();
  const std::uint64_t shown = std::min<std::uint64_t>(count, out.entries_max());
  out.open("blocks", "list", {start, run->footer.block_bytes}, std::to_string(count));
  for (std::uint64_t i = 0; i < shown; ++i) describe_item_block(out, source, *run, i, false);
  out.close();
  describe_directory(out, source, *run, out.entries_max());
  const Extent index = run->index_place(source.run().payload_bytes);
  const std::uint64_t end = run->directory_place().end_bytes();
  if (end < index.offset_bytes) {
    out.add("padding", "zeros", {start + end, index.offset_bytes - end}, {});
  }
  out.open("index", "list", {start + index.offset_bytes, index.length_bytes},
           std::to_string(count));
  for (std::uint64_t i = 0; i < shown; ++i) describe_index_entry(out, source, *run, i);
  out.close();
  const RunBytes bytes = read_front(source);
  if (!is_whole(source, bytes)) return;
  const auto checked = check_item_run(container::payload_in_memory(bytes.bytes),
                                      [](std::uint64_t) { return Result<void>{}; });
  container::note_problems(out, mark, start, bytes, container::error_of(checked));
}

void describe_item_run_at(Description& out, const RunSource& source, std::uint64_t place) {
  const auto run = open_item_run(out, source);
  if (!run) return;
  const Extent index = run->index_place(source.run().payload_bytes);
  const Extent directory = run->directory_place();
  if (place < directory.offset_bytes) {
    const auto above = std::ranges::upper_bound(run->index.offsets, place);
    describe_item_block(out, source, *run,
                        static_cast<std::uint64_t>(above - run->index.offsets.begin()) - 1, true);
  } else if (place < directory.end_bytes()) {
    describe_directory(out, source, *run, 1, place - directory.offset_bytes);
  } else if (place >= index.offset_bytes && place < index.end_bytes()) {
    describe_index_entry(out, source, *run,
                         (place - index.offset_bytes) / sizeof(format::ItemBlockPlace));
  }
}

void describe_step_run(Description& out, const RunSource& source) {
  const std::uint64_t start = source.run().offset_bytes;
  const std::size_t mark = out.mark();
  const RunBytes bytes = read_front(source);
  const auto header =
      std::span(bytes.bytes).first(std::min(bytes.bytes.size(), sizeof(format::StepRunHeader)));
  describe_front(out, source, "step_run", format::describe_step_run(header));
  out.add_fields(format::describe_steps(bytes.bytes, out.entries_max()), start);
  std::optional<Error> broken;
  if (bytes.bytes.size() == source.run().payload_bytes) {
    broken = container::error_of(check_step_run(bytes.bytes));
  }
  container::note_problems(out, mark, start, bytes, broken);
}

}  // namespace crawlstore::frontier
