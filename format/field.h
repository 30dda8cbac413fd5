// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes of the file taken apart for people: one entry a field, with its place. Nothing is
/// judged here; the parse functions do that. Pure functions over hostile bytes; any thread.
///
/// Names are those of the tables of the format, which are those of the members of layout.h and
/// of the schemas.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/directory.h"

namespace crawlstore::format {

/// One field; offset relative to the bytes described.
///   name   "generation", "tables[3]"
///   type   u8 u16 u32 u64 i32 i64 f32 f64, hex8 to hex64, leb128, time_us, uuid, string, zeros,
///          bytes; struct and list head what follows with a greater depth
///   value  numbers plain, hex with 0x; of a list the number of its entries; of a struct empty
struct Field {
  std::string name;
  std::string type;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::string value;
  std::string problem;  ///< empty = none known
  std::uint32_t depth = 0;
};
using Fields = std::vector<Field>;

/// Structs of layout.h. Bytes that are missing at the end leave their fields out.
Fields describe_identity(std::span<const std::byte> bytes);
Fields describe_superblock(std::span<const std::byte> bytes);
Fields describe_root_end(std::span<const std::byte> bytes);
Fields describe_partition_footer(std::span<const std::byte> bytes);
Fields describe_key_block(std::span<const std::byte> bytes);
Fields describe_key_run(std::span<const std::byte> bytes);
Fields describe_aux_run(std::span<const std::byte> bytes);
Fields describe_result_run(std::span<const std::byte> bytes);
Fields describe_origin_footer(std::span<const std::byte> bytes);
Fields describe_origin_block(std::span<const std::byte> bytes);
Fields describe_event_run(std::span<const std::byte> bytes);
Fields describe_link_block(std::span<const std::byte> bytes);
Fields describe_link_index_entry(std::span<const std::byte> bytes);
Fields describe_link_run_footer(std::span<const std::byte> bytes);
Fields describe_dense_index_group(std::span<const std::byte> bytes);
Fields describe_record_tile(std::span<const std::byte> bytes);
Fields describe_score_footer(std::span<const std::byte> bytes);
Fields describe_queue_table(std::span<const std::byte> bytes);
Fields describe_queue_run_cut(std::span<const std::byte> bytes);
Fields describe_queue_fragment(std::span<const std::byte> bytes);
Fields describe_queue_run_footer(std::span<const std::byte> bytes);
Fields describe_values_header(std::span<const std::byte> bytes);

/// Numbers that stand one behind another.
///   name      of the list: the fields are name[first], name[first + 1] ...
///   width     2, 4 or 8 bytes
///   is_float  of IEEE 754; else unsigned
struct NumberList {
  std::string_view name;
  std::uint64_t first = 0;
  std::size_t width = 8;
  bool is_float = false;
};
Fields describe_numbers(const NumberList& list, std::span<const std::byte> bytes);

/// With its children, at most `entries_max` of them.
Fields describe_tile_node(std::span<const std::byte> bytes, std::size_t entries_max);

/// FlatBuffers. Bytes that are none of their schema give one field with a problem.
///   entries_max  of each list; the list's value tells how many there are
Fields describe_root(std::span<const std::byte> bytes, std::size_t entries_max);
///   kinds  that have names
Fields describe_table(std::span<const std::byte> bytes, std::size_t entries_max,
                      std::span<const KindRule> kinds);
Fields describe_held_table(std::span<const std::byte> bytes, std::size_t entries_max);
Fields describe_drum(std::span<const std::byte> bytes, std::size_t entries_max);
Fields describe_pages(std::span<const std::byte> bytes);

/// For sources of this folder that take other bytes apart.
enum class Form : std::uint8_t { kUnsigned, kSigned, kHex, kTime, kUuid, kZeros, kFloat };

/// A member of a struct of fixed layout.
struct Member {
  const char* name;
  Form form;
  std::size_t offset_bytes;
  std::size_t length_bytes;
};

/// The members that lie inside the bytes, at depth 0.
Fields describe_members(std::span<const Member> members, std::span<const std::byte> bytes);

/// "0x1f"
std::string hex(std::uint64_t number);

}  // namespace crawlstore::format
