// SPDX-License-Identifier: Apache-2.0
#include "container/superblocks.h"

#include <gmock/gmock.h>

#include "container/container_store.h"
#include "support/lockless_storage.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using container::read_superblock_set;
using container::read_superblocks;
using container::settle_superblocks;
using container::write_superblock;
using format::kSuperblockOffsets;
using format::Superblock;
using ::testing::ElementsAre;
using ::testing::IsNull;

const Uuid kUuid = fixed_identity().uuid;

Superblock superblock(std::uint64_t generation, std::uint64_t pass = 0) {
  Superblock result{};
  result.generation = generation;
  result.pass = pass;
  result.root_payload_bytes = 80;
  return format::seal_superblock(result, kUuid, container::slot_of(generation), 0);
}

/// A file that has superblocks and nothing else.
class Slots {
 public:
  Slots()
      : recorder_(make_memory_file(Bytes(80 * kKiB))), storage_(recorder_.open(OpenMode::kWrite)) {}

  Slots& put(std::uint64_t generation, std::uint32_t copy, std::uint64_t pass = 0) {
    must(write_superblock(*storage_, superblock(generation, pass), kUuid,
                          container::slot_of(generation), copy));
    return *this;
  }
  Slots& put_both(std::uint64_t generation) { return put(generation, 0).put(generation, 1); }
  Slots& tear(std::uint32_t slot, std::uint32_t copy) {
    must(storage_->write(kSuperblockOffsets[slot][copy] + 512, random_bytes(512, 1)));
    return *this;
  }
  [[nodiscard]] container::SuperblockSet read() {
    return must(read_superblock_set(*storage_, kUuid));
  }
  [[nodiscard]] Storage& storage() { return *storage_; }
  /// The superblocks of a writer that opens the file now.
  [[nodiscard]] container::OwnSuperblocks own() {
    container::OwnSuperblocks own(*storage_, kUuid);
    must(own.read_valid_set());
    return own;
  }
  [[nodiscard]] Recorder& recorder() { return recorder_; }

 private:
  Recorder recorder_;
  std::unique_ptr<Storage> storage_;
};

std::uint64_t generation_of(const Superblock* found) {
  return found == nullptr ? 0 : found->generation;
}

// spec: container.md#superblock choosing
TEST(Superblocks, PicksTheHigherGeneration) {
  Slots slots;
  slots.put_both(4).put_both(5);
  EXPECT_EQ(generation_of(slots.read().winner()), 5U);
}

TEST(Superblocks, PicksTheHigherPassOfOneGeneration) {
  Slots slots;
  slots.put(4, 0, 1).put(4, 1, 2);
  EXPECT_EQ(slots.read().winner()->pass, 2U);
}

TEST(Superblocks, PicksTheLowerCopyOfEqualPasses) {
  Slots slots;
  slots.put_both(4);
  EXPECT_EQ(slots.read().winner()->copy_index, 0U);
}

TEST(Superblocks, PicksTheOlderSlotWhenTheNewerIsTorn) {
  Slots slots;
  slots.put_both(4).put_both(5).tear(1, 0).tear(1, 1);
  EXPECT_EQ(generation_of(slots.read().winner()), 4U);
}

TEST(Superblocks, PicksOneWholeCopyOfATornSlot) {
  Slots slots;
  slots.put_both(4).put_both(5).tear(1, 0);
  EXPECT_EQ(generation_of(slots.read().winner()), 5U);
}

TEST(Superblocks, TakesOnlyTheGenerationBelowForThePrevious) {
  Slots slots;
  slots.put_both(4).put_both(7);
  EXPECT_THAT(slots.read().previous(), IsNull());
  slots.put_both(6);
  EXPECT_EQ(generation_of(slots.read().previous()), 6U);
}

TEST(Superblocks, RejectsACopyOfAnotherPlace) {
  Slots slots;
  slots.put_both(5);
  Bytes copy(4 * kKiB);
  must(slots.storage().read(kSuperblockOffsets[1][0], copy));
  must(slots.storage().write(kSuperblockOffsets[0][0], copy));
  EXPECT_THAT(slots.read().best_of(0), IsNull());
}

TEST(Superblocks, RejectsACopyOfAnotherFile) {
  Slots slots;
  slots.put_both(5);
  EXPECT_EQ(code_of(read_superblocks(slots.storage(), Uuid{})), Errc::kSuperblockDamaged);
}

// spec: container.md#superblock
TEST(Superblocks, ReportsThatTheFileEndsBeforeACopyWhenNoneIsValid) {
  Slots slots;
  slots.put_both(4).put_both(5).tear(0, 0);
  slots.tear(1, 0);
  must(slots.storage().truncate(kSuperblockOffsets[0][1] + 100));
  EXPECT_EQ(slots.read().copies[1][1].state, container::SuperblockCopy::State::kInvalid);
  const auto cut = read_superblocks(slots.storage(), kUuid);
  ASSERT_EQ(code_of(cut), Errc::kTruncated);
  EXPECT_EQ(cut.error().offset, kSuperblockOffsets[0][1]);
  slots.put(4, 0);
  EXPECT_EQ(generation_of(must(read_superblocks(slots.storage(), kUuid)).winner()), 4U);
}

// spec: commit.md#reading rule 1
TEST(Superblocks, ReportsDamageOnlyAfterTwoEqualReadings) {
  Slots slots;
  slots.put_both(5).tear(1, 0).tear(1, 1);
  int readings = 0;
  slots.recorder().set_hook([&](CallKind kind, Extent extent) {
    if (kind != CallKind::kRead || extent.offset_bytes != kSuperblockOffsets[0][0]) return;
    if (++readings == 2) slots.recorder().set_hook({}), slots.put_both(5);
  });
  EXPECT_EQ(generation_of(must(read_superblocks(slots.storage(), kUuid)).winner()), 5U);
}

// spec: commit.md#reading rule 2
TEST(Superblocks, TellsACopyThatCannotBeReadFromAnInvalidOne) {
  Slots slots;
  slots.put_both(4).put_both(5);
  slots.recorder().inject({.calls = calls(CallKind::kRead), .nth = 3});
  const auto set = slots.read();
  EXPECT_EQ(set.copies[1][0].state, container::SuperblockCopy::State::kUnreadable);
  EXPECT_FALSE(set.hides_a_slot()) << "its other copy is valid";
}

TEST(Superblocks, ReportsASlotThatCannotBeReadAtAll) {
  Slots slots;
  slots.put_both(4);
  slots.recorder().inject({.calls = calls(CallKind::kRead), .nth = 4});
  EXPECT_TRUE(slots.read().hides_a_slot());
}

/// The writes and syncs of step 0 behind its first sync, as "write <slot>.<copy>", "zero
/// <slot>.<copy>", "sync".
std::vector<std::string> settle(Slots& slots) {
  const std::size_t before = slots.recorder().log().operations.size();
  auto own = slots.own();
  must(settle_superblocks(own, {}));
  std::vector<std::string> steps;
  EXPECT_EQ(slots.recorder().log().operations.at(before).kind, OperationKind::kSync);
  const OperationLog log = slots.recorder().log();
  for (std::size_t i = before + 1; i < log.operations.size(); ++i) {
    const Operation& operation = log.operations[i];
    if (operation.kind == OperationKind::kSync) {
      steps.emplace_back("sync");
      continue;
    }
    const auto& place = *std::find_if(
        format::kSuperblockPlaces.begin(), format::kSuperblockPlaces.end(),
        [&](const auto& one) { return one.offset_bytes == operation.extent.offset_bytes; });
    const bool is_zero = format::is_empty_copy(operation.bytes);
    steps.push_back((is_zero ? "zero " : "write ") + std::to_string(place.slot) + "." +
                    std::to_string(place.copy));
  }
  return steps;
}

// spec: commit.md#commit rule 2
TEST(Superblocks, RewritesOneCopyAtATime) {
  Slots slots;
  slots.put_both(4).put_both(5);
  EXPECT_THAT(settle(slots), ElementsAre("write 1.0", "sync", "write 1.1", "sync"));
}

TEST(Superblocks, RewritesTheInvalidCopyFirst) {
  Slots slots;
  slots.put_both(4).put_both(5).tear(1, 1);
  EXPECT_THAT(settle(slots), ElementsAre("write 1.1", "sync", "write 1.0", "sync"));
}

TEST(Superblocks, RewritesTheOlderCopyFirst) {
  Slots slots;
  slots.put_both(4).put(5, 0).put(3, 1);
  EXPECT_THAT(settle(slots), ElementsAre("write 1.1", "sync", "write 1.0", "sync"));
}

TEST(Superblocks, RewritesTheCopyWithTheHigherPassFirst) {
  Slots slots;
  slots.put_both(4).put(5, 0, 1).put(5, 1, 2);
  EXPECT_THAT(settle(slots), ElementsAre("write 1.1", "sync", "write 1.0", "sync"));
}

TEST(Superblocks, MendsTheWorseCopyOfTheOtherSlot) {
  Slots torn;
  torn.put_both(4).put_both(5).tear(0, 0);
  EXPECT_THAT(settle(torn), ElementsAre("write 1.0", "sync", "write 1.1", "write 0.0", "sync"));
  EXPECT_EQ(generation_of(torn.read().previous()), 4U);
  EXPECT_EQ(torn.read().copies[0][0].superblock.generation, 4U);
  Slots older;
  older.put(4, 0).put(2, 1).put_both(5);
  EXPECT_THAT(settle(older), ElementsAre("write 1.0", "sync", "write 1.1", "write 0.1", "sync"));
}

TEST(Superblocks, ClearsTheOtherSlotWhenThereWasOneCommit) {
  Slots slots;
  slots.put_both(1).tear(0, 0);
  EXPECT_FALSE(slots.read().lost_slot());
  EXPECT_THAT(settle(slots), ElementsAre("write 1.0", "sync", "write 1.1", "zero 0.0", "sync"));
}

// spec: commit.md#rollback rule 4
TEST(Superblocks, PutsATombstoneIntoALostSlotBeforeAnythingElse) {
  Slots slots;
  slots.put_both(5).tear(0, 0).tear(0, 1);
  EXPECT_EQ(slots.read().lost_slot(), 0U);
  EXPECT_THAT(settle(slots), ElementsAre("write 0.0", "sync", "write 0.1", "sync", "write 1.0",
                                         "sync", "write 1.1", "sync"));
  const auto set = slots.read();
  EXPECT_EQ(generation_of(set.winner()), 5U);
  EXPECT_EQ(set.highest_generation(), 6U);
  EXPECT_FALSE(set.lost_slot());
  EXPECT_THAT(set.previous(), IsNull());
}

TEST(Superblocks, RaisesThePassOfBothCopiesTheSecondByOneMore) {
  Slots slots;
  slots.put(5, 0, 3).put(5, 1, 1);
  settle(slots);
  const auto set = slots.read();
  EXPECT_EQ(set.copies[1][0].superblock.pass, 4U);
  EXPECT_EQ(set.copies[1][1].superblock.pass, 5U);
}

// spec: commit.md#commit rule 1
TEST(Superblocks, RefusesToSettleOthersThanTheOpenedOnes) {
  for (const std::uint64_t generation : {3UL, 5UL, 6UL}) {
    Slots slots;
    slots.put_both(4).put_both(5);
    auto own = slots.own();
    slots.put(generation, 1, 7);
    const std::size_t before = slots.recorder().log().operations.size();
    EXPECT_EQ(code_of(settle_superblocks(own, {})), Errc::kReplaced) << generation;
    EXPECT_EQ(slots.recorder().log().operations.size(), before);
  }
}

TEST(Superblocks, FindsEachCopyThatAnotherProgramChanged) {
  for (const std::uint32_t slot : {0U, 1U}) {
    for (const std::uint32_t copy : {0U, 1U}) {
      Slots slots;
      slots.put(4, 0).put(5, 0).put(5, 1);
      const auto own = slots.own();
      EXPECT_TRUE(own.check());
      slots.tear(slot, copy);
      EXPECT_EQ(code_of(own.check()), Errc::kReplaced) << slot << copy;
    }
  }
}

TEST(Superblocks, FindsNoFaultInACopyThatCannotBeReadBesideOneThatCan) {
  Slots slots;
  slots.put_both(4).put_both(5);
  LocklessStorage storage(slots.recorder().open(OpenMode::kWrite));  // whose calls can all fail
  container::OwnSuperblocks own(storage, kUuid);
  must(own.read_valid_set());
  slots.recorder().inject({.calls = calls(CallKind::kRead)});
  EXPECT_TRUE(own.check());
  slots.recorder().inject({.calls = calls(CallKind::kRead), .forever = true});
  EXPECT_EQ(code_of(own.check()), Errc::kIo);
}

TEST(Superblocks, KeepsOneWholeCopyWhereverSettlingStops) {
  for (std::uint64_t nth = 1;; ++nth) {
    Slots slots;
    slots.put_both(4).put_both(5).tear(1, 1);
    slots.recorder().inject({.nth = nth, .forever = true, .short_bytes = 700});
    auto own = slots.own();
    const auto settled = settle_superblocks(own, {});
    const bool failed = slots.recorder().has_injected();
    slots.recorder().stop_injecting();
    EXPECT_EQ(generation_of(slots.read().winner()), 5U) << "failing call " << nth;
    EXPECT_EQ(settled.has_value(), !failed);
    if (!failed) break;
  }
}

}  // namespace
}  // namespace crawlstore::testing
