// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The structs of frontiers, as they lie in the file: spec/frontier.md#frontiers.

#include <cstddef>
#include <cstdint>

#include "layout.h"

namespace crawlstore::format {

inline constexpr std::uint64_t kItemIdMax = (std::uint64_t{1} << 63U) - 1;
/// The highest number of a group; there is one less than 2^32 of them.
inline constexpr std::uint32_t kGroupMax = 0xFFFF'FFFE;
/// Milliseconds since 1970.
inline constexpr std::uint64_t kItemTimeMax = (std::uint64_t{1} << 48U) - 1;
inline constexpr std::uint32_t kItemBodyBytesMax = 65'536;
inline constexpr std::uint32_t kGroupKeyBytesMax = 65'535;
/// The most that a block has.
inline constexpr std::uint32_t kBlockItemsMax = 4096;
inline constexpr std::uint32_t kBlockBodyBytesMax = 131'072;

/// The first bytes of a group run; then the columns.
struct GroupRunHeader {
  std::uint64_t magic;
  std::uint32_t first_group;
  std::uint32_t group_count;
  std::uint64_t key_bytes;
  std::uint16_t codec;
  std::uint16_t reserved_1;
  std::uint32_t reserved_2;
  std::uint64_t block_count;
};
static_assert(sizeof(GroupRunHeader) == 40);

/// The first bytes of a block of items; then the columns and the bodies.
struct ItemBlockHeader {
  std::uint64_t lowest_order;
  std::uint64_t lowest_id;
  std::uint64_t lowest_time;
  std::uint32_t lowest_group;
  std::uint32_t shortest_body;
  std::uint32_t body_bytes;
  std::uint8_t order_shift;
  std::uint8_t order_bytes;
  std::uint8_t id_bytes;
  std::uint8_t time_bytes;
  std::uint8_t group_bytes;
  std::uint8_t length_bytes;
  std::uint16_t codec;
  std::uint32_t reserved;
};
static_assert(sizeof(ItemBlockHeader) == 48 && offsetof(ItemBlockHeader, codec) == 42);

/// A block in the index of an item run.
struct ItemBlockPlace {
  std::uint32_t stored_bytes;
  std::uint32_t item_count;
};
static_assert(sizeof(ItemBlockPlace) == 8);

inline constexpr std::uint32_t kItemsByTime = 1;  ///< flag of an item run

/// The last bytes of an item run.
struct ItemRunFooter {
  std::uint64_t item_count;
  std::uint64_t block_bytes;
  std::uint64_t directory_bytes;
  std::uint64_t body_bytes;
  std::uint32_t group_count;
  std::uint32_t block_count;
  std::uint32_t flags;
  std::uint32_t reserved;
  std::uint64_t magic;
};
static_assert(sizeof(ItemRunFooter) == 56 && offsetof(ItemRunFooter, magic) == 48);

inline constexpr std::uint32_t kStepsArePiece = 1;  ///< flag of a step run

/// The first bytes of a step run; then the records.
struct StepRunHeader {
  std::uint64_t magic;
  std::uint64_t first_step;
  std::uint64_t step_count;
  std::uint32_t first_group;
  std::uint32_t end_group;
  std::uint32_t flags;
  std::uint32_t reserved;
};
static_assert(sizeof(StepRunHeader) == 40);

inline constexpr std::uint64_t kGroupRunMagic = 0x315350554F524743;  // "CGROUPS1"
inline constexpr std::uint64_t kItemRunMagic = 0x314E524D45544943;   // "CITEMRN1"
inline constexpr std::uint64_t kStepRunMagic = 0x314E525045545343;   // "CSTEPRN1"

static_assert(
    kNoPadding<GroupRunHeader, ItemBlockHeader, ItemBlockPlace, ItemRunFooter, StepRunHeader>);

}  // namespace crawlstore::format
