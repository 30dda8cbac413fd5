// SPDX-License-Identifier: Apache-2.0
//
// Structs and columns of frontier_field.h; step_field.cpp has the steps, and
// flatbuffer_field.cpp the table.
#include "format/frontier_field.h"

#include <algorithm>
#include <array>
#include <utility>

#include "format/endian.h"
#include "format/frontier_layout.h"
#include "format/leb128.h"

namespace crawlstore::format {

namespace {

constexpr std::size_t kTextBytesMax = 1000;

constexpr std::array kGroupRunMembers{
    Member{"magic", Form::kHex, offsetof(GroupRunHeader, magic), 8},
    Member{"first_group", Form::kUnsigned, offsetof(GroupRunHeader, first_group), 4},
    Member{"group_count", Form::kUnsigned, offsetof(GroupRunHeader, group_count), 4},
    Member{"key_bytes", Form::kUnsigned, offsetof(GroupRunHeader, key_bytes), 8},
    Member{"codec", Form::kUnsigned, offsetof(GroupRunHeader, codec), 2},
    Member{"reserved", Form::kZeros, offsetof(GroupRunHeader, reserved_1), 6},
    Member{"block_count", Form::kUnsigned, offsetof(GroupRunHeader, block_count), 8},
};

constexpr std::array kItemBlockMembers{
    Member{"lowest_order", Form::kHex, offsetof(ItemBlockHeader, lowest_order), 8},
    Member{"lowest_id", Form::kUnsigned, offsetof(ItemBlockHeader, lowest_id), 8},
    Member{"lowest_time", Form::kUnsigned, offsetof(ItemBlockHeader, lowest_time), 8},
    Member{"lowest_group", Form::kUnsigned, offsetof(ItemBlockHeader, lowest_group), 4},
    Member{"shortest_body", Form::kUnsigned, offsetof(ItemBlockHeader, shortest_body), 4},
    Member{"body_bytes", Form::kUnsigned, offsetof(ItemBlockHeader, body_bytes), 4},
    Member{"order_shift", Form::kUnsigned, offsetof(ItemBlockHeader, order_shift), 1},
    Member{"order_bytes", Form::kUnsigned, offsetof(ItemBlockHeader, order_bytes), 1},
    Member{"id_bytes", Form::kUnsigned, offsetof(ItemBlockHeader, id_bytes), 1},
    Member{"time_bytes", Form::kUnsigned, offsetof(ItemBlockHeader, time_bytes), 1},
    Member{"group_bytes", Form::kUnsigned, offsetof(ItemBlockHeader, group_bytes), 1},
    Member{"length_bytes", Form::kUnsigned, offsetof(ItemBlockHeader, length_bytes), 1},
    Member{"codec", Form::kUnsigned, offsetof(ItemBlockHeader, codec), 2},
    Member{"reserved", Form::kZeros, offsetof(ItemBlockHeader, reserved), 4},
};

constexpr std::array kItemPlaceMembers{
    Member{"stored_bytes", Form::kUnsigned, offsetof(ItemBlockPlace, stored_bytes), 4},
    Member{"item_count", Form::kUnsigned, offsetof(ItemBlockPlace, item_count), 4},
};

constexpr std::array kItemFooterMembers{
    Member{"item_count", Form::kUnsigned, offsetof(ItemRunFooter, item_count), 8},
    Member{"block_bytes", Form::kUnsigned, offsetof(ItemRunFooter, block_bytes), 8},
    Member{"directory_bytes", Form::kUnsigned, offsetof(ItemRunFooter, directory_bytes), 8},
    Member{"body_bytes", Form::kUnsigned, offsetof(ItemRunFooter, body_bytes), 8},
    Member{"group_count", Form::kUnsigned, offsetof(ItemRunFooter, group_count), 4},
    Member{"block_count", Form::kUnsigned, offsetof(ItemRunFooter, block_count), 4},
    Member{"flags", Form::kHex, offsetof(ItemRunFooter, flags), 4},
    Member{"reserved", Form::kZeros, offsetof(ItemRunFooter, reserved), 4},
    Member{"magic", Form::kHex, offsetof(ItemRunFooter, magic), 8},
};

constexpr std::array kStepRunMembers{
    Member{"magic", Form::kHex, offsetof(StepRunHeader, magic), 8},
    Member{"first_step", Form::kUnsigned, offsetof(StepRunHeader, first_step), 8},
    Member{"step_count", Form::kUnsigned, offsetof(StepRunHeader, step_count), 8},
    Member{"first_group", Form::kUnsigned, offsetof(StepRunHeader, first_group), 4},
    Member{"end_group", Form::kUnsigned, offsetof(StepRunHeader, end_group), 4},
    Member{"flags", Form::kHex, offsetof(StepRunHeader, flags), 4},
    Member{"reserved", Form::kZeros, offsetof(StepRunHeader, reserved), 4},
};

/// Returns the place of a column that was parsed from the payload; one without bytes has no place.
template <class T>
Extent place_in(std::span<const std::byte> payload, std::span<const T> column) {
  const auto bytes = std::as_bytes(column);
  if (bytes.empty()) return {};
  return {static_cast<std::uint64_t>(bytes.data() - payload.data()), bytes.size()};
}

/// A list, and its first entries, which were described relative to it.
void add_list(Fields& fields, std::string_view name, Extent place, std::size_t count,
              const Fields& entries) {
  fields.push_back({std::string(name),
                    "list",
                    place.offset_bytes,
                    place.length_bytes,
                    std::to_string(count),
                    {},
                    0});
  for (Field field : entries) {
    field.offset_bytes += place.offset_bytes;
    ++field.depth;
    fields.push_back(std::move(field));
  }
}

/// A column of numbers.
template <class T>
void add_number_column(Fields& fields, const NumberList& list, std::span<const T> column,
                       std::span<const std::byte> payload, std::size_t entries_max) {
  const auto shown = std::as_bytes(column.first(std::min(column.size(), entries_max)));
  add_list(fields, list.name, place_in(payload, column), column.size(),
           describe_numbers(list, shown));
}

/// The places of the stored blocks that hold a piece of the bytes before they were compressed.
class KeyBlocks {
 public:
  explicit KeyBlocks(std::span<const std::uint32_t> lengths) {
    for (const std::uint32_t length : lengths) ends_.push_back(ends_.back() + length);
  }
  [[nodiscard]] Extent find(Extent raw) const {
    if (raw.length_bytes == 0) return {};
    const std::uint64_t begin = ends_[raw.offset_bytes / kAuxBlockBytes];
    return {begin, ends_[(raw.end_bytes() - 1) / kAuxBlockBytes + 1] - begin};
  }

 private:
  std::vector<std::uint64_t> ends_{0};
};

/// Keys, relative to their column.
Fields describe_keys(const GroupRun& run, std::size_t entries_max) {
  Fields fields;
  AuxReader reader = keys_of(run);
  const KeyBlocks blocks(run.blocks.lengths);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < std::min(run.lengths.size(), entries_max); ++i) {
    const std::size_t length = run.lengths[i];
    const auto key = reader.next(length);
    if (!key) break;
    const std::string name = "keys[" + std::to_string(run.first_group + i) + "]";
    Field field = text_field(name, at, *key);
    if (!run.blocks.lengths.empty()) {
      const Extent place = blocks.find({at, length});
      field.offset_bytes = place.offset_bytes;
      field.length_bytes = place.length_bytes;
    }
    fields.push_back(std::move(field));
    at += length;
    reader.forget();
  }
  return fields;
}

}  // namespace

Fields describe_group_run(std::span<const std::byte> bytes) {
  return describe_members(kGroupRunMembers, bytes);
}
Fields describe_item_place(std::span<const std::byte> bytes) {
  return describe_members(kItemPlaceMembers, bytes);
}
Fields describe_item_footer(std::span<const std::byte> bytes) {
  return describe_members(kItemFooterMembers, bytes);
}
Fields describe_step_run(std::span<const std::byte> bytes) {
  return describe_members(kStepRunMembers, bytes);
}

Fields describe_group_columns(const GroupRun& run, std::span<const std::byte> payload,
                              std::size_t entries_max) {
  Fields fields;
  add_number_column(fields, {.name = "key_lengths", .first = run.first_group, .width = 2},
                    run.lengths, payload, entries_max);
  const bool has_blocks = !run.blocks.lengths.empty();
  if (has_blocks) {
    add_number_column(fields, {.name = "block_lengths", .width = 4}, run.blocks.lengths, payload,
                      entries_max);
  }
  const auto keys = has_blocks ? run.blocks.bytes : run.keys;
  add_list(fields, "keys", place_in(payload, keys), run.lengths.size(),
           describe_keys(run, entries_max));
  return fields;
}

Fields describe_item_block(std::span<const std::byte> bytes, std::uint32_t item_count) {
  Fields fields = describe_members(kItemBlockMembers, bytes);
  if (bytes.size() < sizeof(ItemBlockHeader)) return fields;
  const auto header = load_struct<ItemBlockHeader>(bytes.data());
  const std::array<std::pair<const char*, std::uint8_t>, 5> columns{{
      {"orders", header.order_bytes},
      {"ids", header.id_bytes},
      {"times", header.time_bytes},
      {"groups", header.group_bytes},
      {"lengths", header.length_bytes},
  }};
  std::uint64_t at = sizeof header;
  for (const auto& [name, width] : columns) {
    const std::uint64_t length = std::uint64_t{item_count} * width;
    if (length > bytes.size() - at) return fields;
    const std::string value = std::to_string(item_count) + " of " + std::to_string(width) +
                              (width == 1 ? " byte" : " bytes");
    if (length != 0) fields.push_back({name, "bytes", at, length, value, {}, 0});
    at += length;
  }
  const std::string value =
      std::to_string(header.body_bytes) + (header.codec == 0 ? " bytes" : " bytes in LZ4");
  if (at != bytes.size()) {
    fields.push_back({"bodies", "bytes", at, bytes.size() - at, value, {}, 0});
  }
  return fields;
}

Fields describe_item_directory(std::span<const std::byte> bytes, std::size_t entries_max,
                               std::uint64_t from) {
  Fields fields;
  std::uint64_t group = 0;
  std::size_t shown_count = 0;
  auto rest = bytes;
  for (std::uint64_t i = 0; shown_count < entries_max; ++i) {
    const std::uint64_t begin = bytes.size() - rest.size();
    const auto gap = take_leb128(rest);
    const std::uint64_t middle = bytes.size() - rest.size();
    const auto item_count = gap ? take_leb128(rest) : std::nullopt;
    if (!item_count) break;
    const std::uint64_t end = bytes.size() - rest.size();
    group += *gap;
    if (end > from) {
      const std::string name = "directory[" + std::to_string(i) + "]";
      fields.push_back({name, "struct", begin, end - begin, {}, {}, 0});
      fields.push_back({"group", "leb128", begin, middle - begin, std::to_string(group), {}, 1});
      fields.push_back(
          {"item_count", "leb128", middle, end - middle, std::to_string(*item_count), {}, 1});
      ++shown_count;
    }
    ++group;
  }
  return fields;
}

Field text_field(std::string name, std::uint64_t offset_bytes, std::span<const std::byte> bytes) {
  const bool is_text =
      bytes.size() <= kTextBytesMax && std::ranges::all_of(bytes, [](std::byte byte) {
        return byte >= std::byte{0x20} && byte <= std::byte{0x7E};
      });
  std::string value;
  if (is_text) {
    for (const std::byte byte : bytes) value += static_cast<char>(byte);
  } else {
    value = std::to_string(bytes.size()) + (bytes.size() == 1 ? " byte" : " bytes");
  }
  return {std::move(name), is_text ? "string" : "bytes", offset_bytes, bytes.size(), value, {}, 0};
}

}  // namespace crawlstore::format
