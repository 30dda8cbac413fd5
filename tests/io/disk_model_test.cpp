// SPDX-License-Identifier: Apache-2.0

#include "support/disk_model.h"

#include <gtest/gtest.h>

#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

/// A model of a file of four pages of ones, and its operations as verbs.
class Disk : public ::testing::Test {
 protected:
  void write(std::uint64_t offset, const std::vector<std::byte>& bytes) {
    apply({OperationKind::kWrite, false, {offset, bytes.size()}, bytes, {}});
  }
  void allocate(Extent extent) { apply({OperationKind::kAllocate, false, extent, {}, {}}); }
  void truncate(std::uint64_t size_bytes) {
    apply({OperationKind::kTruncate, false, {size_bytes, 0}, {}, {}});
  }
  void punch(Extent extent) { apply({OperationKind::kPunch, false, extent, {}, {}}); }
  void sync() { apply({OperationKind::kSync, false, {}, {}, {}}); }
  void fail_sync() { apply({OperationKind::kSync, true, {}, {}, {}}); }
  void evict() { apply({OperationKind::kEvict, false, {}, {}, {}}); }

  void apply(const Operation& operation) { model_.apply(operation, operation_count_++); }

  std::vector<std::byte> disk(std::uint64_t offset, std::uint64_t length_bytes) const {
    const auto begin = model_.disk().begin() + static_cast<std::ptrdiff_t>(offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(length_bytes)};
  }

  std::vector<std::byte> cache(std::uint64_t offset, std::uint64_t length_bytes) const {
    const auto begin = model_.cache().begin() + static_cast<std::ptrdiff_t>(offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(length_bytes)};
  }

  DiskModel model_{filled(16384, 1)};
  std::size_t operation_count_ = 0;
};

TEST_F(Disk, KeepsWritesPendingUntilASync) {
  write(0, filled(4096, 2));
  EXPECT_EQ(disk(0, 4096), filled(4096, 1));
  EXPECT_EQ(model_.unsynced().size(), 1U);
  sync();
  EXPECT_EQ(disk(0, 4096), filled(4096, 2));
  EXPECT_TRUE(model_.unsynced().empty());
}

TEST_F(Disk, IgnoresFailedCallsButForThePartOfAWrite) {
  apply({OperationKind::kWrite, true, {0, 4096}, filled(10, 2), {}});
  apply({OperationKind::kTruncate, true, {0, 0}, {}, {}});
  apply({OperationKind::kPunch, true, {0, 8192}, {}, {}});
  apply({OperationKind::kAllocate, true, {0, 1 << 20}, {}, {}});
  EXPECT_EQ(cache(0, 11).back(), std::byte{1});
  EXPECT_EQ(cache(0, 10), filled(10, 2));
  EXPECT_EQ(model_.cache().size(), 16384U);
  EXPECT_EQ(model_.unsynced().size(), 1U);
}

TEST_F(Disk, KeepsFailedWritesInTheOrderOfTheLog) {
  write(0, filled(4096, 2));
  fail_sync();
  write(8192, filled(4096, 3));
  const std::vector<Effect> effects = model_.unsynced();
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(effects[0].operation_index, 0U);
  EXPECT_EQ(effects[1].operation_index, 2U);
}

TEST_F(Disk, KeepsLostWritesDoubtfulAfterALaterSync) {
  write(0, filled(4096, 2));
  fail_sync();
  write(8192, filled(4096, 3));
  sync();
  EXPECT_EQ(disk(0, 4096), filled(4096, 1));
  EXPECT_EQ(disk(8192, 4096), filled(4096, 3));
  ASSERT_EQ(model_.unsynced().size(), 1U);  // it may still have got there
  EXPECT_EQ(model_.unsynced()[0].operation_index, 0U);
}

TEST_F(Disk, MakesALostPageDirtyAsAWhole) {
  write(0, filled(4096, 2));
  fail_sync();
  write(100, filled(1, 3));
  sync();
  EXPECT_EQ(disk(0, 100), filled(100, 2));
  EXPECT_EQ(disk(101, 3995), filled(3995, 2));
  EXPECT_TRUE(model_.unsynced().empty());
}

TEST_F(Disk, LeavesTheOtherPagesOfALostWriteLost) {
  write(0, filled(12288, 2));
  fail_sync();
  write(4096, filled(4096, 3));
  sync();
  EXPECT_EQ(disk(0, 4096), filled(4096, 1));
  EXPECT_EQ(disk(4096, 4096), filled(4096, 3));
  EXPECT_EQ(disk(8192, 4096), filled(4096, 1));
  ASSERT_EQ(model_.unsynced().size(), 1U);
  EXPECT_EQ(model_.unsynced()[0].pieces.size(), 2U);
}

TEST_F(Disk, DirtiesNoPageThatIsWhole) {
  write(100, filled(10, 2));
  EXPECT_EQ(model_.unsynced()[0].pieces[0].offset_bytes, 100U);
  EXPECT_EQ(model_.unsynced()[0].pieces[0].bytes.size(), 10U);
}

TEST_F(Disk, SettlesTheDoubtByEviction) {
  write(0, filled(4096, 2));
  fail_sync();
  evict();
  EXPECT_EQ(cache(0, 4096), filled(4096, 1));
  EXPECT_TRUE(model_.unsynced().empty());
}

TEST_F(Disk, KeepsDirtyPagesFromEviction) {
  write(0, filled(4096, 2));
  fail_sync();
  write(0, filled(1, 3));
  evict();
  EXPECT_EQ(cache(0, 1), filled(1, 3));
  EXPECT_EQ(cache(1, 4095), filled(4095, 2));
  EXPECT_EQ(model_.unsynced().size(), 2U);
}

TEST_F(Disk, SyncsALengthThatAFailedSyncLeft) {
  write(16384, filled(4096, 2));
  fail_sync();
  sync();
  EXPECT_EQ(model_.disk().size(), 20480U);
  EXPECT_EQ(disk(16384, 4096), filled(4096, 0));
  EXPECT_EQ(cache(16384, 4096), filled(4096, 2));
}

TEST_F(Disk, SyncsPunchesAndTruncationsThatAFailedSyncLeft) {
  punch({0, 4096});
  truncate(12288);
  fail_sync();
  EXPECT_EQ(model_.disk().size(), 16384U);
  sync();
  EXPECT_EQ(model_.disk().size(), 12288U);
  EXPECT_EQ(disk(0, 4096), filled(4096, 0));
}

TEST_F(Disk, ForgetsLostPagesThatArePunchedOrCutOff) {
  write(0, filled(4096, 2));
  write(12288, filled(4096, 2));
  fail_sync();
  punch({0, 4096});
  truncate(12288);
  EXPECT_TRUE(model_.lost_pages().empty());
  sync();
  EXPECT_TRUE(model_.unsynced().empty());
}

TEST_F(Disk, RemembersBytesThatWereCutOff) {
  write(12288, filled(4096, 2));
  sync();
  truncate(4096);
  sync();
  EXPECT_EQ(model_.stale().size(), 16384U);
  EXPECT_EQ(model_.stale()[12288], std::byte{2});
}

TEST_F(Disk, GrowsByAllocation) {
  allocate({16384, 4096});
  EXPECT_EQ(model_.cache().size(), 20480U);
  EXPECT_EQ(model_.disk().size(), 16384U);
  sync();
  EXPECT_EQ(model_.disk().size(), 20480U);
}

TEST_F(Disk, DescribesOperations) {
  EXPECT_EQ(describe(Operation{OperationKind::kWrite, true, {0x4000, 0x1000}, {}, {}}),
            "write 0x4000+0x1000 failed");
  EXPECT_EQ(describe(Operation{OperationKind::kSync, false, {}, {}, {}}), "sync");
  EXPECT_EQ(describe(Operation{OperationKind::kMark, false, {}, {}, "acknowledged 5"}),
            "mark acknowledged 5");
}

}  // namespace
}  // namespace crawlstore::testing
