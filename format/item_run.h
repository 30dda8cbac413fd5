// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Item runs: items of a frontier that wait, in blocks: spec/frontier.md#item-runs. Pure functions
/// over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "frontier_layout.h"
#include "item_block.h"

namespace crawlstore::format {

/// Numbers of items in a run, from `begin` to below `end`.
struct ItemRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const ItemRange&) const = default;
};

/// The groups of a run by group, ascending; of a run by time there are none.
struct ItemDirectory {
  std::vector<std::uint32_t> groups;
  /// The number of the first item of each, and of all items.
  std::vector<std::uint64_t> begins{0};

  /// Adds a group above all others.
  ///   item_count  at least 1
  void add(std::uint32_t group, std::uint64_t item_count);
  /// Returns nothing if the group has no items here.
  [[nodiscard]] std::optional<ItemRange> find_group(std::uint32_t group) const;
};

/// Gives a run of items their groups.
///   first_item  number of the first one; the directory has all of them
void fill_groups(const ItemDirectory& directory, std::uint64_t first_item, std::span<Item> items);

/// Appends what stands after the blocks of a run: directory, zeros, block index, footer.
///   blocks      all of the run, at least one
///   directory   by group all groups with as many items as the blocks have; by time empty
///   body_bytes  sum of those of the blocks
void encode_item_tail(std::span<const ItemBlockPlace> blocks, const ItemDirectory& directory,
                      std::uint64_t body_bytes, std::vector<std::byte>& out);

/// The blocks of a run.
struct ItemIndex {
  bool is_by_time = false;
  std::vector<std::uint64_t> offsets;      ///< of each block, and of the end of the last one
  std::vector<std::uint64_t> first_items;  ///< number of the first one of each, and of all

  [[nodiscard]] std::size_t block_count() const { return offsets.size() - 1; }
  [[nodiscard]] ItemBlockFrame frame(std::size_t number) const {
    return {offsets[number],
            static_cast<std::uint32_t>(first_items[number + 1] - first_items[number]), is_by_time};
  }
  /// Returns the number of the block that has item `item`, which is below the count of all.
  [[nodiscard]] std::size_t block_of(std::uint64_t item) const;
};

/// Offsets of the parts of a run in its payload.
struct ItemRunPlaces {
  std::uint64_t directory = 0;
  std::uint64_t padding = 0;
  std::uint64_t index = 0;
  std::uint64_t footer = 0;
};
/// Returns the places that a footer of parse_item_footer() names.
ItemRunPlaces item_run_places(const ItemRunFooter& footer);

/// `footer_bytes` is the last sizeof(ItemRunFooter) bytes, `payload_bytes` the whole length; the
/// parts of the run fit it when this returns.
///   errors  kSegmentInvalid (offset relative to the payload)
Result<ItemRunFooter> parse_item_footer(std::span<const std::byte> footer_bytes,
                                        std::uint64_t payload_bytes);
/// Memory: twice that of the index.
///   errors  kSegmentInvalid (offset relative to the payload)
Result<ItemIndex> parse_item_index(std::span<const std::byte> index_bytes,
                                   const ItemRunFooter& footer);
/// Memory: at most 6 times that of the directory. Time: about 5 ns a group.
///   errors  kSegmentInvalid (offset relative to the payload)
Result<ItemDirectory> parse_item_directory(std::span<const std::byte> directory_bytes,
                                           const ItemRunFooter& footer);

/// Decodes block `number`, groups and all.
///   directory  of the same run
///   errors     kSegmentInvalid (offset relative to the payload)
Result<void> read_item_block(const ItemIndex& index, const ItemDirectory& directory,
                             std::size_t number, std::span<const std::byte> bytes, ItemBlock& out);

/// Checks the bytes between directory and index, fewer than 8.
///   errors  kSegmentInvalid (offset relative to the payload)
Result<void> check_item_padding(const ItemRunFooter& footer, std::span<const std::byte> padding);
/// Checks the footer's `body_bytes` against the sum of those of all blocks.
///   errors  kSegmentInvalid (offset relative to the payload)
Result<void> check_item_body_bytes(const ItemRunFooter& footer, std::uint64_t sum);

}  // namespace crawlstore::format
