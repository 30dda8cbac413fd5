// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A block of items of a frontier: spec/frontier.md#item-runs. Pure functions over bytes; any
/// thread. Bytes that change meanwhile are as good as any: each number is loaded once.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "aux_blocks.h"
#include "frontier_layout.h"

namespace crawlstore::format {

/// An item without its body. The order of items is that of both runs: by group, all have time 0.
///   order  of its priority: queue_order()
struct Item {
  std::uint64_t time = 0;
  std::uint32_t group = 0;
  std::uint64_t order = 0;
  std::uint64_t id = 0;
  auto operator<=>(const Item&) const = default;
};

/// Whether all values are in their ranges.
bool is_item(const Item& item);

/// An encoded block. The footer of its run wants the sum of all `body_bytes`.
struct EncodedItemBlock {
  ItemBlockPlace place;
  std::uint32_t body_bytes = 0;
};

/// Appends a block: by time if the times are not 0, else by group.
///   items   1 to kBlockItemsMax, ascending, with values in their ranges
///   bodies  one of each item, at most kItemBodyBytesMax, together at most kBlockBodyBytesMax
///   codec   kLz4: bodies are compressed where that pays
EncodedItemBlock encode_item_block(std::span<const Item> items,
                                   std::span<const std::span<const std::byte>> bodies,
                                   AuxCodec codec, std::vector<std::byte>& out);

/// The entry of a block in the index of its run.
struct ItemBlockFrame {
  std::uint64_t offset = 0;  ///< in the payload
  std::uint32_t item_count = 0;
  bool is_by_time = false;
};

/// The content of a block, in memory that the next block uses again.
struct ItemBlock {
  ItemBlockHeader header{};
  std::vector<Item> items;
  std::vector<std::uint32_t> body_ends;  ///< in `bodies`, one of each item
  std::vector<std::byte> bodies;

  [[nodiscard]] std::span<const std::byte> body(std::size_t number) const {
    const std::size_t begin = number == 0 ? 0 : body_ends[number - 1];
    return std::span(bodies).subspan(begin, body_ends[number] - begin);
  }
};

/// Decodes a block; by group, the items get group 0, and the directory tells theirs (item_run.h).
/// Memory: at most 300 KiB, and 255 times the length of the bodies.
///   errors  kSegmentInvalid (offset relative to the payload); `out` is anything then
Result<void> decode_item_block(const ItemBlockFrame& frame, std::span<const std::byte> bytes,
                               ItemBlock& out);

/// Decodes the items of a block without their bodies.
///   errors  as decode_item_block(), of what it looks at
Result<void> decode_items(const ItemBlockFrame& frame, std::span<const std::byte> bytes,
                          std::vector<Item>& out);
/// Reads one item of a block, without those before it; of a run by group it gets group 0.
///   number  below frame.item_count
///   errors  kSegmentInvalid (offset relative to the payload)
Result<Item> read_item(const ItemBlockFrame& frame, std::span<const std::byte> bytes,
                       std::uint32_t number);
/// The body of one item of a block. Cost: that of unpacking all of them.
///   errors  as decode_item_block()
Result<std::vector<std::byte>> read_item_body(const ItemBlockFrame& frame,
                                              std::span<const std::byte> bytes,
                                              std::uint32_t number);

/// The rules that decode_item_block() leaves to deep verification: items ascend, there is one way
/// to write them, and no reader takes the bodies for others.
///   bytes   those of the block
///   block   decoded from them, with the groups of its items
///   before  the last item of the block before, if there is one
///   errors  kSegmentInvalid (offset relative to the payload)
Result<void> check_item_block(const ItemBlockFrame& frame, std::span<const std::byte> bytes,
                              const ItemBlock& block, const std::optional<Item>& before);

}  // namespace crawlstore::format
