// SPDX-License-Identifier: Apache-2.0
//
// The remains of a commit whose superblocks are gone, and the way it comes back.
#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/drum_view.h>
#include <crawlstore/tools/verify.h>

#include "container/container_store.h"
#include "container/rollback.h"
#include "container/superblocks.h"
#include "format/root_extent.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

/// 2,000 keys, and a last commit with 1,000 more that wait.
class LostCommit : public ::testing::Test {
 protected:
  LostCommit() {
    (void)add_keys(0, 2000, true);
    before_ = contents(*file_);
    newest_ = add_keys(2000, 1000, false);
    after_ = contents(*file_);
    before_.resize(after_.size());
    load(before_);
    EXPECT_EQ(generation() + 1, newest_);
    load(after_);
  }

  /// Returns the generation that has them.
  [[nodiscard]] std::uint64_t add_keys(std::uint64_t first, std::uint64_t count, bool merge) const {
    auto store = must(Store::open(storage()));
    auto drum = must(Drum<std::uint64_t>::open(store, "keys", {}));
    NullDispatcher nobody;
    drum.attach(nobody);
    for (std::uint64_t i = 0; i < count; ++i) must(drum.update(first + i));
    if (merge) must(drum.merge());
    must(drum.close());
    return must(store.commit()).value;
  }

  /// `after_` with the bytes of `from` in the places of one slot.
  void set_slot(std::uint64_t generation, const Bytes& from) {
    for (const auto offset : format::kSuperblockOffsets[generation % 2]) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(offset), 4096,
                  after_.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    load(after_);
  }
  void load(const Bytes& bytes) { file_ = make_memory_file(bytes, 64 * kMiB); }
  [[nodiscard]] std::unique_ptr<Storage> storage() const {
    return open_memory_storage(file_, OpenMode::kWrite);
  }
  [[nodiscard]] VerifyReport verified() const {
    return must(verify(*storage(), {.level = VerifyLevel::kDeep, .progress = {}}));
  }
  [[nodiscard]] Result<Generation> forward() const {
    return container::roll_forward(storage(), 0, {}, container::all_kinds());
  }
  [[nodiscard]] std::uint64_t generation() const {
    return must(Snapshot::open(std::shared_ptr<Storage>(storage()))).generation().value;
  }
  [[nodiscard]] std::uint64_t key_count() const {
    const auto snapshot = must(Snapshot::open(std::shared_ptr<Storage>(storage())));
    const auto drum = must(list_drums(snapshot)).at(0);
    return drum.key_count + drum.pending_count;
  }
  [[nodiscard]] Extent root() const {
    const auto set = must(container::read_superblock_set(*storage(), fixed_identity().uuid));
    return format::root_extent(*set.winner());
  }

  std::shared_ptr<MemoryFile> file_ = ContainerStore(64 * kMiB).file();
  std::uint64_t newest_ = 0;
  Bytes before_;  // as it was before the last commit
  Bytes after_;
};

TEST_F(LostCommit, IsReadWhateverHappensToARangeOf28KiB) {
  const Bytes zeros(after_.size());
  for (const Bytes* const from : {&zeros, &std::as_const(before_)}) {
    for (const std::size_t length : {20 * kKiB, 28 * kKiB}) {
      for (std::size_t begin = 4 * kKiB; begin + length <= 80 * kKiB; begin += 512) {
        Bytes bytes = after_;
        std::copy_n(from->begin() + static_cast<std::ptrdiff_t>(begin), length,
                    bytes.begin() + static_cast<std::ptrdiff_t>(begin));
        load(bytes);
        ASSERT_EQ(generation(), newest_) << begin;
        ASSERT_FALSE(verified().damaged()) << begin;
      }
    }
  }
}

// spec: commit.md#rollback rule 6
TEST_F(LostCommit, IsNotPublishedAfterAnotherProgramHasWritten) {
  set_slot(newest_, Bytes(after_.size()));
  Bytes written;
  const auto progress = [&](std::uint64_t /*done*/, std::uint64_t /*total*/) {
    const auto other = storage();
    const auto set = must(container::read_superblock_set(*other, fixed_identity().uuid));
    auto superblock = *set.winner();
    ++superblock.pass;
    must(container::write_superblock(*other, superblock, fixed_identity().uuid,
                                     superblock.slot_index, 0));
    written = contents(*file_);
    return true;
  };
  const auto forwarded = container::roll_forward(storage(), 0, progress, container::all_kinds());
  EXPECT_EQ(code_of(forwarded), Errc::kReplaced);
  EXPECT_TRUE(contents(*file_) == written);
}

TEST_F(LostCommit, IsNamedAndPublishedAgainWhenItsSlotIsGone) {
  const Extent lost = root();
  set_slot(newest_, Bytes(after_.size()));
  EXPECT_EQ(generation(), newest_ - 1);
  const auto report = verified();
  ASSERT_EQ(report.findings.size(), 3U) << text_of(report);
  EXPECT_EQ(report.findings[2].kind, FindingKind::kDamaged);
  EXPECT_EQ(report.findings[2].generation.value, newest_);
  EXPECT_EQ(report.findings[2].error.offset, lost.offset_bytes);
  const auto opened = Store::open(storage());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::kSuperblockDamaged);
  EXPECT_EQ(must(forward()).value, newest_);
  EXPECT_EQ(key_count(), 3000U);
  EXPECT_EQ(text_of(verified()), "");
  (void)add_keys(5000, 10, false);
  EXPECT_EQ(key_count(), 3010U);
}

TEST_F(LostCommit, IsTakenForUnfinishedWhenItsSlotWasSetBack) {
  set_slot(newest_, before_);
  const auto report = verified();
  ASSERT_EQ(report.findings.size(), 1U) << text_of(report);
  EXPECT_EQ(report.findings[0].kind, FindingKind::kUnfinished);
  EXPECT_TRUE(report.whole());
  EXPECT_EQ(must(forward()).value, newest_);
  EXPECT_EQ(key_count(), 3000U);
  EXPECT_EQ(text_of(verified()), "");
}

TEST_F(LostCommit, ComesBackWithoutAnySuperblock) {
  for (const std::uint64_t generation : {newest_ - 1, newest_}) {
    set_slot(generation, Bytes(after_.size()));
  }
  EXPECT_EQ(must(forward()).value, newest_);
  EXPECT_EQ(key_count(), 3000U);
  EXPECT_EQ(text_of(verified()), "");
}

// spec: commit.md#rollback rule 4
TEST_F(LostCommit, IsGivenUpByRollback) {
  set_slot(newest_, Bytes(after_.size()));
  EXPECT_EQ(must(container::rollback_damaged(storage(), fixed_time())).value, newest_ + 1);
  EXPECT_EQ(key_count(), 2000U);
  EXPECT_EQ(text_of(verified()), "");
  (void)add_keys(5000, 10, false);
  EXPECT_EQ(key_count(), 2010U);
  EXPECT_EQ(text_of(verified()), "");
}

// spec: commit.md#rollback rules 2, 4
TEST_F(LostCommit, IsGivenUpWhenTheFileWasCutForIt) {
  {
    auto store = must(Store::open(storage()));
    must(store.compact());
    newest_ = store.generation().value;
  }
  after_ = contents(*file_);
  const auto before = ContainerStore(after_).reader({.previous = true});
  const std::uint64_t needed = before->directory().superblock.high_water_bytes;
  std::uint64_t used = 0;
  for (const Extent& extent : before->directory().live_extents()) {
    used = std::max(used, extent.end_bytes());
  }
  ASSERT_LT(used, needed) << "only held extents are cut off";
  after_.resize(used);
  set_slot(newest_, Bytes(after_.size()));
  EXPECT_EQ(must(container::rollback_damaged(storage(), fixed_time())).value, newest_ + 1);
  EXPECT_EQ(key_count(), 3000U);
  EXPECT_EQ(text_of(verified()), "");
}

// spec: commit.md#rollback rule 4
TEST_F(LostCommit, KeepsItsNumberWhereverGivingItUpStops) {
  set_slot(newest_, Bytes(after_.size()));
  for (std::uint64_t nth = 1;; ++nth) {
    load(after_);
    Recorder recorder(file_);
    recorder.inject({.calls = calls(CallKind::kWrite, CallKind::kSync), .nth = nth});
    (void)container::rollback_damaged(recorder.open(OpenMode::kWrite), fixed_time());
    const bool failed = recorder.has_injected();
    if (!Store::open(storage())) {
      ASSERT_TRUE(container::rollback_damaged(storage(), fixed_time())) << nth;
    }
    EXPECT_GT(add_keys(5000, 10, false), newest_) << nth;
    EXPECT_EQ(key_count(), 2010U) << nth;
    if (!failed) break;
  }
}

// spec: commit.md#rollback rule 5
TEST_F(LostCommit, IsNotPublishedUnlessItIsWhole) {
  const Bytes whole = after_;
  const auto directory = ContainerStore(after_).reader()->directory().live_extents();
  const auto older = ContainerStore(before_).reader()->directory().live_extents();
  for (const Extent& extent : directory) {
    if (std::find(older.begin(), older.end(), extent) != older.end()) continue;
    after_ = whole;
    after_[extent.offset_bytes + 8] ^= std::byte{4};
    set_slot(newest_, Bytes(after_.size()));
    const auto published = forward();
    ASSERT_FALSE(published);
    EXPECT_EQ(category(published.error().code), ErrorCategory::kDamage)
        << describe(published.error());
    EXPECT_EQ(contents(*file_), after_) << "nothing was written";
  }
}

// spec: commit.md#rollback rule 5
TEST_F(LostCommit, IsNotReplacedByAnOlderOneWhenItIsDamaged) {
  const Extent lost = root();
  for (const std::uint64_t generation : {newest_ - 1, newest_}) {
    set_slot(generation, Bytes(after_.size()));
  }
  for (const std::uint64_t place :
       {lost.offset_bytes, lost.end_bytes() - sizeof(format::RootEnd) - 8}) {
    Bytes bytes = after_;
    bytes[place] ^= std::byte{1};
    load(bytes);
    EXPECT_EQ(code_of(forward()), Errc::kDirectoryDamaged);
    EXPECT_EQ(contents(*file_), bytes) << "nothing was written";
  }
}

// spec: container.md#superblock states
TEST_F(LostCommit, IsNamedWhenItWasTheFirst) {
  file_ = ContainerStore(64 * kMiB).file();
  EXPECT_EQ(add_keys(0, 10, false), 2U);
  after_ = contents(*file_);
  set_slot(2, random_bytes(after_.size(), 1));
  EXPECT_TRUE(verified().damaged());
  EXPECT_EQ(code_of(Store::open(storage())), Errc::kSuperblockDamaged);
  EXPECT_EQ(must(forward()).value, 2U);
  EXPECT_EQ(key_count(), 10U);
  EXPECT_EQ(text_of(verified()), "");
}

// spec: container.md#superblock states
TEST_F(LostCommit, IsNamedWhenItsSlotWasSetBackFurther) {
  const Bytes three_before = before_;
  load(after_);
  newest_ = add_keys(5000, 10, false);
  newest_ = add_keys(6000, 10, false);
  after_ = contents(*file_);
  set_slot(newest_, three_before);  // of three commits before it, where it was
  EXPECT_TRUE(verified().damaged());
  EXPECT_EQ(code_of(Store::open(storage())), Errc::kSuperblockDamaged);
  EXPECT_EQ(must(forward()).value, newest_);
  EXPECT_EQ(key_count(), 3020U);
  EXPECT_EQ(text_of(verified()), "");
}

TEST_F(LostCommit, IsNotPublishedWhileAReaderUsesIt) {
  const auto reader =
      must(Snapshot::open(std::shared_ptr<Storage>(open_memory_storage(file_, OpenMode::kRead))));
  const auto storage = open_memory_storage(file_, OpenMode::kWrite);
  const Bytes zeros(4096);
  for (const auto offset : format::kSuperblockOffsets[newest_ % 2]) {
    must(storage->write(offset, zeros));
  }
  EXPECT_EQ(code_of(forward()), Errc::kBusyPinned);
}

TEST_F(LostCommit, IsNoneWhereFreeSpaceHoldsNone) {
  EXPECT_EQ(code_of(forward()), Errc::kNoPreviousGeneration);
}

}  // namespace
}  // namespace crawlstore::testing
