// SPDX-License-Identifier: Apache-2.0
#include "container/verify_superblocks.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace crawlstore::container {
namespace {

using format::kSuperblockBytes;
using format::kSuperblockOffsets;
using State = SuperblockCopy::State;

/// One copy as bytes, or why it cannot be read.
struct SlotCopy {
  std::array<std::byte, kSuperblockBytes> bytes{};
  std::optional<Error> failure;
  friend bool operator==(const SlotCopy& a, const SlotCopy& b) {
    return a.failure == b.failure && a.bytes == b.bytes;
  }
};
using SlotCopies = std::array<std::array<SlotCopy, 2>, 2>;

void read_copies(Storage& storage, SlotCopies& copies) {
  for (std::size_t slot = 0; slot < 2; ++slot) {
    for (std::size_t copy = 0; copy < 2; ++copy) {
      SlotCopy& place = copies[slot][copy];
      const std::uint64_t offset = kSuperblockOffsets[slot][copy];
      place.bytes.fill(std::byte{0});
      const auto got = storage.read(offset, place.bytes);
      place.failure = std::nullopt;
      if (!got) place.failure = got.error();
      if (got && *got < place.bytes.size()) {
        place.failure = Error{Errc::kTruncated, 0, {}, offset, "the file ends inside a superblock"};
      }
      if (place.failure) place.failure->offset = offset;
    }
  }
}

/// Fills the reading. Returns whether every copy is valid or empty, and the two of a slot agree.
bool parse_copies(const SlotCopies& copies, const Uuid& uuid, SuperblockReading& reading) {
  bool clean = true;
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
      const SlotCopy& place = copies[slot][copy];
      SuperblockCopy& out = reading.set.copies[slot][copy];
      Error& error = reading.errors[slot][copy];
      out = {};
      error = {Errc::kSuperblockDamaged,
               0,
               {},
               kSuperblockOffsets[slot][copy],
               "a superblock copy is empty"};
      if (place.failure) {
        error = *place.failure;
        out.state = error.code == Errc::kTruncated ? State::kInvalid : State::kUnreadable;
      } else if (format::is_empty_copy(place.bytes)) {
        out.state = State::kEmpty;
      } else if (const auto parsed = format::parse_superblock(place.bytes, uuid, slot, copy)) {
        out = {State::kValid, *parsed, {}};
      } else {
        error = parsed.error();
      }
      clean = clean && (out.state == State::kValid || out.state == State::kEmpty);
    }
    const auto& [first, second] = reading.set.copies[slot];
    clean = clean && first.state == second.state &&
            (first.state == State::kEmpty ||
             format::same_generation(first.superblock, second.superblock));
  }
  return clean;
}

/// Returns the fault of a copy of a slot whose best copy is `best`; code 0 if there is none.
Error fault_of(const SuperblockCopy& copy, const Error& error, const format::Superblock& best,
               std::uint64_t offset) {
  if (copy.state != State::kValid) return error;
  if (copy.superblock.generation != best.generation) {
    return {Errc::kSuperblockDamaged, 0, {}, offset, "a superblock copy is of an older generation"};
  }
  if (!format::same_generation(copy.superblock, best)) {
    return {Errc::kSuperblockDamaged, 0, {}, offset, "the two copies of a superblock slot differ"};
  }
  return {};
}

/// A slot without a valid copy. Before the second commit that is legal: nothing was there yet, or a
/// crash has torn what the first commit wrote. Later it led to the newest generation, perhaps.
void verify_invalid_slot(Verification& verification, const SuperblockReading& reading,
                         std::size_t slot) {
  const auto* winner = reading.set.winner();
  const bool is_unused = winner != nullptr && winner->generation == 1 && !reading.set.lost_slot();
  for (std::size_t copy = 0; copy < 2; ++copy) {
    const State state = reading.set.copies[slot][copy].state;
    if (is_unused && state == State::kEmpty) continue;
    const bool may_be_newest = !is_unused || state == State::kUnreadable;
    verification.found(may_be_newest ? FindingKind::kDamaged : FindingKind::kReducedRedundancy, {},
                       reading.errors[slot][copy]);
  }
}

}  // namespace

Result<bool> verify_identity(Verification& verification) {
  const auto identity = read_identity(verification.storage);
  if (identity) {
    verification.identity = *identity;
    verification.report.checked_bytes += sizeof(format::Identity);
    return true;
  }
  const Error& error = identity.error();
  if (category(error.code) != ErrorCategory::kDamage) return tl::unexpected<Error>(error);
  verification.found(FindingKind::kDamaged, {}, error);
  return false;
}

Result<void> verify_gaps(Verification& verification) {
  std::uint64_t begin = sizeof(format::Identity);
  for (std::size_t i = 0; i <= format::kSuperblockPlaces.size(); ++i) {
    const std::uint64_t end = i < format::kSuperblockPlaces.size()
                                  ? format::kSuperblockPlaces[i].offset_bytes
                                  : format::kDataStart;
    std::vector<std::byte> gap(end - begin);
    const auto got = verification.storage.read(begin, gap);
    const auto found = [&](const Error& error) {
      return verification.found_or_fail(FindingKind::kDamaged, {}, error);
    };
    if (!got) {
      CRAWLSTORE_TRY(found(got.error()));
    } else if (*got < gap.size()) {
      return found({Errc::kTruncated, 0, {}, begin + *got, "the file ends before its data begin"});
    } else if (const auto bad = std::find_if(gap.begin(), gap.end(),
                                             [](std::byte b) { return b != std::byte{0}; });
               bad != gap.end()) {
      const auto place = static_cast<std::uint64_t>(bad - gap.begin());
      CRAWLSTORE_TRY(found({Errc::kSuperblockDamaged, 0, {}, begin + place, kGapText}));
    }
    verification.report.checked_bytes += gap.size();
    begin = end + kSuperblockBytes;
  }
  return {};
}

SuperblockReading read_superblock_copies(Storage& storage, const Uuid& uuid,
                                         std::chrono::milliseconds settle) {
  using Clock = std::chrono::steady_clock;
  auto bytes = std::make_unique<SlotCopies>();
  auto before = std::make_unique<SlotCopies>();
  SuperblockReading reading;
  auto same_since = Clock::now();
  for (int attempt = 0; attempt < 100; ++attempt) {
    read_copies(storage, *bytes);
    if (parse_copies(*bytes, uuid, reading)) break;
    const bool is_same = attempt > 0 && *bytes == *before;
    if (!is_same) same_since = Clock::now();
    if (is_same && Clock::now() - same_since >= settle) break;
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::swap(bytes, before);
  }
  return reading;
}

void verify_superblocks(Verification& verification, const SuperblockReading& reading) {
  const auto* winner = reading.set.winner();
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    const auto* best = reading.set.best_of(slot);
    if (best == nullptr) {
      verify_invalid_slot(verification, reading, slot);
      continue;
    }
    const Generation generation{best->generation};
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
      const Error fault = fault_of(reading.set.copies[slot][copy], reading.errors[slot][copy],
                                   *best, kSuperblockOffsets[slot][copy]);
      if (fault.code == Errc{}) continue;
      verification.found(FindingKind::kReducedRedundancy, generation, fault);
    }
    if (winner == nullptr || format::is_tombstone(*best)) continue;
    if (best != winner && best->generation + 1 != winner->generation) {
      verification.found(FindingKind::kDamaged, generation,
                         {Errc::kSuperblockDamaged,
                          0,
                          {},
                          kSuperblockOffsets[slot][0],
                          "the other superblock slot does not hold the previous generation"});
    }
  }
  verification.report.checked_bytes += 4 * kSuperblockBytes;
}

}  // namespace crawlstore::container
