// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The identity page and the superblock copies: spec/format.md#identity, container.md#superblock.
/// Pure functions over bytes; any thread.

#include <span>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "layout.h"

namespace crawlstore::format {

/// Checks magic, version, byte order, constants, zero padding, checksum; in this order, so that a
/// file of another version is named as such and not as damaged.
///   page    at least the first 4096 bytes of the file; fewer = kNotACrawlFile when the magic is
///           missing, kTruncated otherwise
///   errors  kNotACrawlFile, kNewerVersion, kOlderVersion, kIdentityDamaged, kTruncated
Result<Identity> parse_identity(std::span<const std::byte> page);

/// Fills magic, byte order, version, sizes, padding and checksum; keeps uuid, seed, created_us.
Identity seal_identity(Identity identity);

/// One copy's bytes -> the superblock, when it is valid for this place in this file.
///   errors  kSuperblockDamaged (offset = that of the copy)
Result<Superblock> parse_superblock(std::span<const std::byte> copy, const Uuid& uuid,
                                    std::uint32_t slot_index, std::uint32_t copy_index);

/// Fills magic, slot, copy, uuid, padding and checksum; keeps the rest.
Superblock seal_superblock(Superblock superblock, const Uuid& uuid, std::uint32_t slot_index,
                           std::uint32_t copy_index);

/// The same generation with the same content: everything equal but slot, copy, pass and checksum.
bool same_generation(const Superblock& a, const Superblock& b);

/// A valid copy that leads to no root: it says that its generation is not in this file, and is
/// never the winner.
constexpr bool is_tombstone(const Superblock& superblock) {
  return superblock.root_payload_bytes == 0;
}

/// Whether all 4096 bytes are zero: the copy of a slot that was never used.
bool is_empty_copy(std::span<const std::byte> copy);

/// The bits of each set that this version knows (spec/registry.md).
inline constexpr std::uint64_t kKnownCompat = 0;
inline constexpr std::uint64_t kKnownRoCompat = 0;
inline constexpr std::uint64_t kDrumFeature = 1;        // kinds 1 to 5
inline constexpr std::uint64_t kPagesFeature = 2;       // kinds 6 to 12
inline constexpr std::uint64_t kFreshKeysFeature = 4;   // kind 13
inline constexpr std::uint64_t kScoresFeature = 8;      // kind 14
inline constexpr std::uint64_t kQueueFeature = 16;      // kinds 15 and 16
inline constexpr std::uint64_t kFrontierFeature = 32;   // kinds 17 to 20
inline constexpr std::uint64_t kValuesFeature = 64;     // kind 21
inline constexpr std::uint64_t kShardsFeature = 128;    // pages of other shards
inline constexpr std::uint64_t kContentsFeature = 256;  // kind 22
inline constexpr std::uint64_t kKnownIncompat = kDrumFeature | kPagesFeature | kFreshKeysFeature |
                                                kScoresFeature | kQueueFeature | kFrontierFeature |
                                                kValuesFeature | kShardsFeature | kContentsFeature;

///   known_incompat  the bits of the kinds that the caller knows
///   errors          kUnknownFeature; kReadOnlyFeature only when `for_writing`
Result<void> check_features(const Superblock& superblock, bool for_writing,
                            std::uint64_t known_incompat = kKnownIncompat);

}  // namespace crawlstore::format
