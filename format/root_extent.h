// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The extent of a directory root: its FlatBuffer, zeros, and RootEnd
/// (spec/container.md#directory). Pure functions over bytes; any thread.

#include <optional>
#include <span>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "layout.h"

namespace crawlstore::format {

/// Length of the extent of a root whose FlatBuffer has `payload_bytes` (at most kRootBytesMax).
std::uint64_t root_extent_bytes(std::uint64_t payload_bytes);

/// The high water mark, and that the root's extent lies below it. Call after check_features(), so
/// that a file with unknown rules is not named damaged.
///   errors  kDirectoryInvalid (offset = that of the copy)
Result<void> check_root_place(const Superblock& superblock);

/// The extent of the root that a superblock leads to. Call after check_root_place(), or within it.
Extent root_extent(const Superblock& superblock);

/// The bytes of the extent.
///   superblock  with generation, features, time, high water mark and root offset; gets the length
///               of the FlatBuffer and the checksum
std::vector<std::byte> seal_root(std::span<const std::byte> payload, const Identity& identity,
                                 Superblock& superblock);

/// Whether the checksum of the extent is the one in the superblock, and the one at its own end.
///   bytes  the whole extent
bool is_root_whole(std::span<const std::byte> bytes, const Uuid& uuid,
                   const Superblock& superblock);

/// That the end of the extent says what the superblock says. Call for a whole one.
///   errors  kDirectoryInvalid
Result<void> check_root_end(std::span<const std::byte> bytes, const Uuid& uuid,
                            const Superblock& superblock);

/// The identity page that a store had, by the end of a whole root of it.
///   end  the last 120 bytes
Identity identity_of_root_end(std::span<const std::byte> end);

/// The superblock of the root that ends with `end`, whose extent lies in a place where one may lie;
/// slot and copy are those of a first copy. Nothing: these bytes are no end of a root of this
/// store. Whether the root is whole is for its other bytes to show.
///   end         the last 120 bytes before `end_bytes`, a place in the file
std::optional<Superblock> superblock_of_root_end(std::span<const std::byte> end,
                                                 std::uint64_t end_bytes, const Uuid& uuid);

}  // namespace crawlstore::format
