// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes of frontiers taken apart for people, as field.h does it for all others:
/// spec/frontier.md#frontiers. Pure functions over hostile bytes; any thread.
///
/// The type of a number of 7 bits a byte is leb128; its value is what it means, and not what is
/// stored where only a difference is.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "format/field.h"
#include "format/group_run.h"

namespace crawlstore::format {

/// Structs of frontier_layout.h. Bytes that are missing at the end leave their fields out.
Fields describe_group_run(std::span<const std::byte> bytes);
Fields describe_item_place(std::span<const std::byte> bytes);
Fields describe_item_footer(std::span<const std::byte> bytes);
Fields describe_step_run(std::span<const std::byte> bytes);

/// The table, a FlatBuffer. Bytes that are none of its schema give one field with a problem.
///   entries_max  of each list; the list's value tells how many there are
Fields describe_frontier(std::span<const std::byte> bytes, std::size_t entries_max);

/// The columns of a run of groups, and its keys. One that is compressed has the place of the blocks
/// that hold it.
///   run          parsed from `payload`
///   entries_max  of each list
Fields describe_group_columns(const GroupRun& run, std::span<const std::byte> payload,
                              std::size_t entries_max);

/// The header of a block of items, and the places of its columns as far as they lie inside.
///   item_count  by the index of its run
Fields describe_item_block(std::span<const std::byte> bytes, std::uint32_t item_count);

/// Entries of the directory of an item run, up to one that is none.
///   bytes  the directory
///   from   entries that end at this place or before are left out
Fields describe_item_directory(std::span<const std::byte> bytes, std::size_t entries_max,
                               std::uint64_t from = 0);

/// The records of a run of steps, up to one whose length is none. In a journal the name of a step
/// has its number, in a piece its place among the others.
///   payload      of the run, from its header on; it may be cut off
///   entries_max  of the records, and of each list in them
Fields describe_steps(std::span<const std::byte> payload, std::size_t entries_max);

/// A key or a body: its text if that is short and of printable ASCII, else its length.
Field text_field(std::string name, std::uint64_t offset_bytes, std::span<const std::byte> bytes);

}  // namespace crawlstore::format
