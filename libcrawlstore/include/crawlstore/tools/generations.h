// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The generations that a file could be opened at: its four superblock copies, whole or not.
///
/// Works on damaged files: a copy that is not whole says why. Whether the directory behind a whole
/// copy can be read as well, verify() tells, and Snapshot::open().
/// Ownership: as in crawlstore.hpp. Threads: any. Nothing is written. The bytes are in
/// spec/container.md#superblock.

#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/storage.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

enum class CopyState : std::uint8_t {
  kEmpty,       ///< zeros: its slot was never used
  kValid,       ///< its checksum is right, and it belongs to this file and place
  kTombstone,   ///< valid, and leads nowhere: its generation is not in this file
  kInvalid,     ///< torn or damaged
  kUnreadable,  ///< the storage does not give its bytes
};

/// One superblock copy. What follows `error` is zeros unless it is kValid; of a tombstone
/// `generation` and `pass` are given.
struct GenerationInfo {
  std::uint32_t slot = 0;  ///< 0: even generations, 1: odd ones
  std::uint32_t copy = 0;  ///< 0 or 1
  std::uint64_t offset_bytes = 0;
  CopyState state{};
  /// The reason of kInvalid and kUnreadable, with the offset; of kValid, why no reader opens it all
  /// the same: unknown features, a root that cannot lie where it says. Else code 0.
  Error error;
  Generation generation;
  std::uint64_t pass = 0;  ///< orders copies of one generation by when they were written
  std::int64_t commit_time_us = 0;
  std::uint64_t high_water_bytes = 0;
  Extent root;               ///< of the directory; zeros when it cannot be there
  bool is_winner = false;    ///< what a reader opens
  bool is_previous = false;  ///< what rollback goes back to, and SnapshotOptions::previous opens
};

/// Slot 0 copy 0, slot 0 copy 1, slot 1 copy 0, slot 1 copy 1. Of two
/// equal copies the one is marked that is used. A writer may commit meanwhile: ask again.
///   cost    reads 20 KiB
///   errors  kNotACrawlFile, kNewerVersion, kOlderVersion; kIo when no copy can be read; kNotFound,
///           kPermission
[[nodiscard]] Result<std::vector<GenerationInfo>> generations(const std::string& path);
[[nodiscard]] Result<std::vector<GenerationInfo>> generations(Storage& storage);

/// `empty`, `valid`, `tombstone`, `invalid`, `unreadable`.
std::string_view name_of(CopyState state);

}  // namespace crawlstore
#pragma GCC visibility pop
