// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading, choosing and writing superblocks: spec/container.md#superblock, READ SB and step 0.

#include <array>
#include <memory>
#include <optional>

#include <crawlstore/storage.h>

#include "container/commit_policy.h"
#include "format/layout.h"
#include "format/superblock.h"

namespace crawlstore::container {

/// One copy as it was read.
struct SuperblockCopy {
  enum class State : std::uint8_t { kEmpty, kValid, kInvalid, kUnreadable };
  State state = State::kInvalid;
  format::Superblock superblock{};
  Error error;  ///< why it is kInvalid or kUnreadable
};

/// All four copies, [slot][copy].
struct SuperblockSet {
  std::array<std::array<SuperblockCopy, 2>, 2> copies;

  /// The valid copy of the slot with the highest generation, then the highest pass.
  [[nodiscard]] const format::Superblock* best_of(std::uint32_t slot) const;
  /// The valid copy with the highest generation of all that lead to a root.
  [[nodiscard]] const format::Superblock* winner() const;
  /// The highest generation of all valid copies, tombstones too; 0 without any.
  [[nodiscard]] std::uint64_t highest_generation() const;
  /// The generation one below the winner, when the other slot still holds it.
  [[nodiscard]] const format::Superblock* previous() const;
  /// A slot without a valid copy in which a copy could not be read.
  [[nodiscard]] bool hides_a_slot() const;
  /// The slot beside the winner's, when it has no valid copy although there were commits, or one
  /// that is neither of the generation before nor a tombstone: no crash explains that, and a commit
  /// newer than the winner may be lost.
  [[nodiscard]] std::optional<std::uint32_t> lost_slot() const;
  /// Copies that are neither valid nor empty.
  [[nodiscard]] std::uint64_t damaged_copy_count() const;
};

/// Reads and checks the identity page. errors as format::parse_identity
Result<format::Identity> read_identity(Storage& storage);

/// Reads all copies once. errors kIo only when no copy at all can be read.
Result<SuperblockSet> read_superblock_set(Storage& storage, const Uuid& uuid);

/// READ SB: until one copy is valid; up to 100 times over 1 s, "damaged" only when two readings in
/// a row gave identical bytes.
///   errors  kTruncated when the file ends before a copy or in it, else kSuperblockDamaged; kIo
Result<SuperblockSet> read_superblocks(Storage& storage, const Uuid& uuid);

/// Writes one copy, sealed. Never syncs.
Result<void> write_superblock(Storage& storage, const format::Superblock& superblock,
                              const Uuid& uuid, std::uint32_t slot, std::uint32_t copy);

/// Writes a tombstone of `generation` into both copies of its slot, one at a time, and syncs.
Result<void> write_tombstone(Storage& storage, const Uuid& uuid, std::uint64_t generation);

/// The text of kReplaced where other superblocks are in the file than its writer left there.
inline constexpr const char* kOverwrittenText =
    "another program has written into the file; nothing more is written to it from here";

/// The superblocks as their one writer knows them: what it read first, and what it wrote since.
/// Other bytes in the file are another program's, which no lock has kept away.
///
/// Threads: one at a time. The storage outlives it.
class OwnSuperblocks {
 public:
  OwnSuperblocks(Storage& storage, const Uuid& uuid);

  /// Reads all copies once, or by READ SB. errors as the functions of these names
  Result<void> read_set();
  Result<void> read_valid_set();
  [[nodiscard]] const SuperblockSet& set() const { return set_; }

  Result<void> write(const format::Superblock& superblock, std::uint32_t slot, std::uint32_t copy);
  Result<void> write_zeros(std::uint32_t slot, std::uint32_t copy);
  Result<void> sync() { return storage_.sync(); }
  /// Does the same as the function of this name.
  Result<void> write_tombstone(std::uint64_t generation);

  /// Whether all copies still hold the bytes that this writer knows. A copy that cannot be read
  /// says nothing as long as the other one of its slot can.
  ///   errors  kReplaced when they do not; kIo when no copy of a slot can be read
  [[nodiscard]] Result<void> check() const;

 private:
  using CopyBytes = std::array<std::byte, format::kSuperblockBytes>;

  Storage& storage_;
  // Another handle, so that looks are no part of what a commit or merge is told to have read;
  // nullptr where there can be none.
  std::shared_ptr<Storage> lookout_;
  Uuid uuid_;
  SuperblockSet set_;
  std::array<std::array<CopyBytes, 2>, 2> bytes_{};
};

/// Step 0: rewrites the winner's slot, one copy at a time, and makes both copies of the other slot
/// what the valid one of them is. A lost slot (see lost_slot()) gets a tombstone.
///   own      as it was read when the store was opened
///   past_damaged_winner  rewrites the slot of the previous generation, which rollback opened
///   errors   kReplaced when the file shows other superblocks, and those of the storage; the writer
///            is poisoned by any of them
Result<void> settle_superblocks(OwnSuperblocks& own, const CommitPolicy& policy,
                                bool past_damaged_winner = false);

/// The slot that generation `generation` lives in.
constexpr std::uint32_t slot_of(std::uint64_t generation) {
  return static_cast<std::uint32_t>(generation % 2);
}

}  // namespace crawlstore::container
