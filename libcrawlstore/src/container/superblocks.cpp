// SPDX-License-Identifier: Apache-2.0
//
// Invariants: superblocks are read with Storage::read into private memory, never through a mapping;
// a copy that cannot be read is not an invalid copy and is never overwritten blindly.
#include "container/superblocks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include "format/layout.h"

namespace crawlstore::container {
namespace {

using format::kSuperblockBytes;
using format::kSuperblockOffsets;
using CopyBytes = std::array<std::byte, kSuperblockBytes>;
using SetBytes = std::array<std::array<CopyBytes, 2>, 2>;
using State = SuperblockCopy::State;

SuperblockCopy read_copy(Storage& storage, const Uuid& uuid, std::uint32_t slot, std::uint32_t copy,
                         CopyBytes& bytes) {
  bytes.fill(std::byte{0});
  const std::uint64_t offset = kSuperblockOffsets[slot][copy];
  const auto got = storage.read(offset, bytes);
  if (!got) return {State::kUnreadable, {}, got.error()};
  if (*got < bytes.size()) {
    return {State::kInvalid,
            {},
            {Errc::kTruncated, 0, {}, offset, "the file ends inside a superblock copy"}};
  }
  if (format::is_empty_copy(bytes)) return {State::kEmpty, {}, {}};
  const auto parsed = format::parse_superblock(bytes, uuid, slot, copy);
  if (!parsed) return {State::kInvalid, {}, parsed.error()};
  return {State::kValid, *parsed, {}};
}

Result<SuperblockSet> read_set(Storage& storage, const Uuid& uuid, SetBytes& bytes) {
  SuperblockSet set;
  int unreadable = 0;
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
      auto& place = set.copies[slot][copy];
      place = read_copy(storage, uuid, slot, copy, bytes[slot][copy]);
      if (place.state == State::kUnreadable) ++unreadable;
    }
  }
  if (unreadable == 4) return fail(Errc::kIo, "no superblock copy can be read", 0);
  return set;
}

/// Returns the error of a set without a valid copy: kTruncated if any, which says more than damage.
Error error_of(const SuperblockSet& set) {
  for (const auto& slot : set.copies) {
    for (const auto& copy : slot) {
      if (copy.error.code == Errc::kTruncated) return copy.error;
    }
  }
  return {Errc::kSuperblockDamaged, 0, {}, kSuperblockOffsets[0][0], "no superblock copy is whole"};
}

const format::Superblock* valid(const SuperblockCopy& copy) {
  return copy.state == State::kValid ? &copy.superblock : nullptr;
}

/// The newer of two, then the one of the higher pass, then the first. Either may be null.
const format::Superblock* better(const format::Superblock* a, const format::Superblock* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (a->generation != b->generation) return a->generation > b->generation ? a : b;
  return a->pass >= b->pass ? a : b;
}

/// The best copy of a slot that leads to a root.
const format::Superblock* leading(const SuperblockSet& set, std::uint32_t slot) {
  const auto root_of = [&](std::uint32_t copy) {
    const auto* superblock = valid(set.copies[slot][copy]);
    return superblock == nullptr || format::is_tombstone(*superblock) ? nullptr : superblock;
  };
  return better(root_of(0), root_of(1));
}

/// Returns the copy of the slot that is rewritten first: the invalid or older one, else the one
/// with the higher pass, else copy 0.
std::uint32_t first_to_rewrite(const SuperblockSet& set, std::uint32_t slot) {
  const auto* zero = valid(set.copies[slot][0]);
  const auto* one = valid(set.copies[slot][1]);
  if (zero == nullptr) return 0;
  if (one == nullptr) return 1;
  if (zero->generation != one->generation) return zero->generation < one->generation ? 0 : 1;
  return one->pass > zero->pass ? 1 : 0;
}

std::uint64_t highest_pass(const SuperblockSet& set, std::uint32_t slot) {
  std::uint64_t pass = 0;
  for (const auto& copy : set.copies[slot]) {
    if (const auto* superblock = valid(copy)) pass = std::max(pass, superblock->pass);
  }
  return pass;
}

/// Makes the copies of a slot what the valid one of them is, so that what a crash left of a commit
/// cannot come back. Without a valid one the slot was never used: its copies become empty.
Result<void> mend_slot(OwnSuperblocks& own, std::uint32_t slot) {
  const SuperblockSet& set = own.set();
  const auto* best = set.best_of(slot);  // its copy is not written
  for (std::uint32_t copy = 0; copy < 2; ++copy) {
    const auto* superblock = valid(set.copies[slot][copy]);
    if (best == nullptr) {
      if (set.copies[slot][copy].state != State::kInvalid) continue;
      CRAWLSTORE_TRY(own.write_zeros(slot, copy));
    } else if (superblock == nullptr || !format::same_generation(*superblock, *best)) {
      CRAWLSTORE_TRY(own.write(*best, slot, copy));
    }
  }
  return {};
}

/// READ SB into `bytes`, which then hold what the set says.
Result<SuperblockSet> read_valid(Storage& storage, const Uuid& uuid, SetBytes& bytes) {
  auto before = std::make_unique<SetBytes>();
  Error error;
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto set = read_set(storage, uuid, bytes);
    if (!set) return set;
    if (set->winner() != nullptr) return set;
    error = error_of(*set);
    if (attempt > 0 && bytes == *before) break;
    *before = bytes;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return tl::unexpected<Error>(error);
}

/// Writes a tombstone by `write`, which takes superblock, slot and copy.
template <class Write>
Result<void> write_tombstone_by(Storage& storage, std::uint64_t generation, const Write& write) {
  format::Superblock tombstone{};
  tombstone.generation = generation;
  for (std::uint32_t copy = 0; copy < 2; ++copy) {
    CRAWLSTORE_TRY(write(tombstone, slot_of(generation), copy));
    CRAWLSTORE_TRY(storage.sync());
    ++tombstone.pass;
  }
  return {};
}

}  // namespace

Result<format::Identity> read_identity(Storage& storage) {
  std::array<std::byte, sizeof(format::Identity)> page{};
  CRAWLSTORE_TRY(const auto got, storage.read(0, page));
  return format::parse_identity(std::span(page).first(got));
}

const format::Superblock* SuperblockSet::best_of(std::uint32_t slot) const {
  return better(valid(copies[slot][0]), valid(copies[slot][1]));
}

const format::Superblock* SuperblockSet::winner() const {
  return better(leading(*this, 0), leading(*this, 1));
}

std::uint64_t SuperblockSet::highest_generation() const {
  const auto* best = better(best_of(0), best_of(1));
  return best == nullptr ? 0 : best->generation;
}

std::optional<std::uint32_t> SuperblockSet::lost_slot() const {
  const auto* best = winner();
  if (best == nullptr) return std::nullopt;
  const std::uint32_t slot = 1 - best->slot_index;
  const auto* other = best_of(slot);
  if (other != nullptr) {
    const bool is_set_back =
        !format::is_tombstone(*other) && other->generation + 1 != best->generation;
    return is_set_back ? std::optional(slot) : std::nullopt;
  }
  if (best->generation > 1) return slot;
  // The first commit writes copy 1 when copy 0 is durable.
  const SuperblockCopy& second = copies[slot][1];
  const bool was_written = second.state == State::kInvalid && second.error.code != Errc::kTruncated;
  return was_written ? std::optional(slot) : std::nullopt;
}

const format::Superblock* SuperblockSet::previous() const {
  const auto* best = winner();
  if (best == nullptr) return nullptr;
  const auto* other = leading(*this, 1 - best->slot_index);
  return other != nullptr && other->generation + 1 == best->generation ? other : nullptr;
}

bool SuperblockSet::hides_a_slot() const {
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    if (best_of(slot) != nullptr) continue;
    for (const auto& copy : copies[slot]) {
      if (copy.state == State::kUnreadable) return true;
    }
  }
  return false;
}

std::uint64_t SuperblockSet::damaged_copy_count() const {
  std::uint64_t count = 0;
  for (const auto& slot : copies) {
    for (const auto& copy : slot) {
      if (copy.state == State::kInvalid || copy.state == State::kUnreadable) ++count;
    }
  }
  return count;
}

Result<SuperblockSet> read_superblock_set(Storage& storage, const Uuid& uuid) {
  auto bytes = std::make_unique<SetBytes>();
  return read_set(storage, uuid, *bytes);
}

Result<SuperblockSet> read_superblocks(Storage& storage, const Uuid& uuid) {
  auto bytes = std::make_unique<SetBytes>();
  return read_valid(storage, uuid, *bytes);
}

Result<void> write_superblock(Storage& storage, const format::Superblock& superblock,
                              const Uuid& uuid, std::uint32_t slot, std::uint32_t copy) {
  const format::Superblock sealed = format::seal_superblock(superblock, uuid, slot, copy);
  return storage.write(kSuperblockOffsets[slot][copy],
                       std::as_bytes(std::span<const format::Superblock, 1>(&sealed, 1)));
}

Result<void> write_tombstone(Storage& storage, const Uuid& uuid, std::uint64_t generation) {
  return write_tombstone_by(storage, generation,
                            [&](const format::Superblock& tombstone, auto slot, auto copy) {
                              return write_superblock(storage, tombstone, uuid, slot, copy);
                            });
}

OwnSuperblocks::OwnSuperblocks(Storage& storage, const Uuid& uuid)
    : storage_(storage), uuid_(uuid) {
  if (auto lookout = storage.reopen()) lookout_ = std::move(*lookout);
}

Result<void> OwnSuperblocks::read_set() {
  CRAWLSTORE_TRY(set_, container::read_set(storage_, uuid_, bytes_));
  return {};
}

Result<void> OwnSuperblocks::read_valid_set() {
  CRAWLSTORE_TRY(set_, read_valid(storage_, uuid_, bytes_));
  return {};
}

Result<void> OwnSuperblocks::write(const format::Superblock& superblock, std::uint32_t slot,
                                   std::uint32_t copy) {
  const format::Superblock sealed = format::seal_superblock(superblock, uuid_, slot, copy);
  const auto bytes = std::as_bytes(std::span<const format::Superblock, 1>(&sealed, 1));
  CRAWLSTORE_TRY(storage_.write(kSuperblockOffsets[slot][copy], bytes));
  set_.copies[slot][copy] = {State::kValid, sealed, {}};
  std::ranges::copy(bytes, bytes_[slot][copy].begin());
  return {};
}

Result<void> OwnSuperblocks::write_zeros(std::uint32_t slot, std::uint32_t copy) {
  const CopyBytes zeros{};
  CRAWLSTORE_TRY(storage_.write(kSuperblockOffsets[slot][copy], zeros));
  set_.copies[slot][copy] = {State::kEmpty, {}, {}};
  bytes_[slot][copy] = zeros;
  return {};
}

Result<void> OwnSuperblocks::write_tombstone(std::uint64_t generation) {
  return write_tombstone_by(storage_, generation,
                            [this](const format::Superblock& tombstone, auto slot, auto copy) {
                              return write(tombstone, slot, copy);
                            });
}

Result<void> OwnSuperblocks::check() const {
  Storage& from = lookout_ != nullptr ? *lookout_ : storage_;
  CopyBytes now;
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    int unreadable_count = 0;
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
      const std::uint64_t offset = kSuperblockOffsets[slot][copy];
      now.fill(std::byte{0});
      if (const auto got = from.read(offset, now); !got) {
        if (++unreadable_count == 2) return tl::unexpected<Error>(got.error());
        continue;
      }
      if (set_.copies[slot][copy].state == State::kUnreadable) continue;  // of unknown content
      if (std::memcmp(now.data(), bytes_[slot][copy].data(), now.size()) == 0) continue;
      return fail(Errc::kReplaced, kOverwrittenText, offset);
    }
  }
  return {};
}

Result<void> settle_superblocks(OwnSuperblocks& own, const CommitPolicy& policy,
                                bool past_damaged_winner) {
  CRAWLSTORE_TRY(own.check());
  const SuperblockSet& set = own.set();
  format::Superblock settled = past_damaged_winner ? *set.previous() : *set.winner();
  const std::uint32_t slot = settled.slot_index;
  const std::uint32_t first = first_to_rewrite(set, slot);
  const bool has_lost_slot = set.lost_slot().has_value();
  if (policy.settle_raises_pass) settled.pass = highest_pass(set, slot) + 1;
  // Sync the writes of a writer that was killed: no copy is written while the other one of its slot
  // is not durable.
  if (policy.settle_syncs_before) CRAWLSTORE_TRY(own.sync());
  // Another writer that began at the same time would raise the pass to the same value.
  if (policy.look_after_first_sync) CRAWLSTORE_TRY(own.check());
  if (has_lost_slot) CRAWLSTORE_TRY(own.write_tombstone(settled.generation + 1));

  CRAWLSTORE_TRY(own.write(settled, slot, first));
  if (policy.settle_sync_first) CRAWLSTORE_TRY(own.sync());
  // The copy of the higher pass is the one that may not be durable when this stops half way.
  if (policy.settle_raises_pass && policy.settle_passes_differ) ++settled.pass;
  CRAWLSTORE_TRY(own.write(settled, slot, 1 - first));
  if (policy.settle_mends_other_slot && !has_lost_slot) CRAWLSTORE_TRY(mend_slot(own, 1 - slot));
  if (policy.settle_sync_second) CRAWLSTORE_TRY(own.sync());
  return policy.reread_after_settle ? own.check() : Result<void>{};
}

}  // namespace crawlstore::container
