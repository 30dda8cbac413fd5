// SPDX-License-Identifier: Apache-2.0
//
// The promises of every storage, tested on the system's and on the one in memory.

#include <gtest/gtest.h>

#include <crawlstore/storage.h>

#include "support/bytes.h"
#include "support/temporary_folder.h"

namespace crawlstore {
namespace {

using testing::bytes_of;
using testing::code_of;
using testing::filled;
using testing::read_bytes;

enum class Make { kSystem, kMemory };

/// One empty file, opened as often as wanted.
class AnyStorage : public ::testing::TestWithParam<Make> {
 protected:
  AnyStorage() {
    if (GetParam() == Make::kMemory) file_ = make_memory_file({}, std::uint64_t{1} << 24);
    if (GetParam() == Make::kSystem) testing::put_file(folder_ / "file", {});
  }

  std::unique_ptr<Storage> open(OpenMode mode = OpenMode::kWrite) {
    if (file_ != nullptr) return open_memory_storage(file_, mode);
    auto opened = open_storage(folder_ / "file", mode);
    return opened ? std::move(*opened) : nullptr;
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<MemoryFile> file_;
};

TEST(MemoryStorage, IsAnEmptyFileWithoutOne) {
  const auto storage = open_memory_storage(nullptr, OpenMode::kWrite);
  EXPECT_EQ(*storage->size(), 0U);
  EXPECT_EQ(code_of(storage->write(0, bytes_of("hello"))), Errc::kNoSpace);
}

INSTANTIATE_TEST_SUITE_P(Io, AnyStorage, ::testing::Values(Make::kSystem, Make::kMemory),
                         [](const auto& made) {
                           return made.param == Make::kSystem ? "System" : "Memory";
                         });

TEST_P(AnyStorage, ReturnsWhatWasWritten) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(5000, bytes_of("hello")));
  EXPECT_EQ(read_bytes(*storage, 5000, 5), bytes_of("hello"));
  EXPECT_EQ(*storage->size(), 5005U);
}

TEST_P(AnyStorage, TakesBackNoPinThatWasNotGiven) {
  const auto storage = open(OpenMode::kRead);
  storage->unpin({7});
  ASSERT_TRUE(storage->pin({7}));
  storage->unpin({7});
  storage->unpin({7});
  EXPECT_TRUE(open()->pinned({0}, {100})->empty());
}

TEST_P(AnyStorage, ReadsZerosInAHole) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(5000, bytes_of("hello")));
  EXPECT_EQ(read_bytes(*storage, 10, 100), filled(100, 0));
}

TEST_P(AnyStorage, ReadsLessAtTheEndOnly) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, bytes_of("hello")));
  EXPECT_EQ(read_bytes(*storage, 3, 10), bytes_of("lo"));
  EXPECT_EQ(read_bytes(*storage, 5, 10).size(), 0U);
  EXPECT_EQ(read_bytes(*storage, 1 << 20, 10).size(), 0U);
}

TEST_P(AnyStorage, ShowsWritesInAnEarlierView) {
  const auto storage = open();
  ASSERT_TRUE(storage->allocate({0, 8192}));
  const std::byte* const bytes = *storage->view({4096, 4096});
  ASSERT_TRUE(storage->write(4096, bytes_of("new")));
  EXPECT_EQ(bytes[0], std::byte{'n'});
}

TEST_P(AnyStorage, KeepsPointersWhenItGrows) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, bytes_of("first")));
  const std::byte* const first = *storage->view({0, 5});
  for (std::uint64_t offset = 4096; offset < 8 << 20; offset *= 2) {
    ASSERT_TRUE(storage->write(offset, bytes_of("later")));
    EXPECT_EQ(*storage->view({0, 5}), first);
    EXPECT_EQ(*storage->view({offset, 5}), first + offset);
    EXPECT_EQ(first[offset], std::byte{'l'});
  }
}

TEST_P(AnyStorage, GrowsToTheEndOfAnAllocation) {
  const auto storage = open();
  ASSERT_TRUE(storage->allocate({4096, 8192}));
  EXPECT_EQ(*storage->size(), 12288U);
  EXPECT_EQ(read_bytes(*storage, 0, 12288), filled(12288, 0));
}

TEST_P(AnyStorage, KeepsBytesThatAreAllocatedAgain) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, bytes_of("hello")));
  ASSERT_TRUE(storage->allocate({0, 4096}));
  EXPECT_EQ(read_bytes(*storage, 0, 5), bytes_of("hello"));
}

TEST_P(AnyStorage, ForgetsBytesThatWereCutOff) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, filled(1 << 20, 7)));
  ASSERT_TRUE(storage->truncate(100));
  EXPECT_EQ(*storage->size(), 100U);
  ASSERT_TRUE(storage->allocate({0, 1 << 20}));
  EXPECT_EQ(read_bytes(*storage, 100, (1 << 20) - 100), filled((1 << 20) - 100, 0));
  EXPECT_EQ(read_bytes(*storage, 0, 100), filled(100, 7));
}

TEST_P(AnyStorage, RejectsATruncationThatWouldGrow) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, bytes_of("hello")));
  EXPECT_EQ(code_of(storage->truncate(6)), Errc::kInvalidArgument);
  EXPECT_EQ(*storage->size(), 5U);
}

TEST_P(AnyStorage, ReadsZerosWhereItWasPunched) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, filled(1 << 20, 7)));
  ASSERT_TRUE(storage->punch({4096, 8192}));
  EXPECT_EQ(read_bytes(*storage, 4096, 8192), filled(8192, 0));
  EXPECT_EQ(read_bytes(*storage, 0, 4096), filled(4096, 7));
  EXPECT_EQ(read_bytes(*storage, 12288, 4096), filled(4096, 7));
  EXPECT_EQ(*storage->size(), std::uint64_t{1} << 20);
}

TEST_P(AnyStorage, KeepsTheLengthWhenPunchedPastItsEnd) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, filled(8192, 7)));
  ASSERT_TRUE(storage->punch({4096, 1 << 20}));
  EXPECT_EQ(*storage->size(), 8192U);
  EXPECT_EQ(read_bytes(*storage, 0, 4096), filled(4096, 7));
}

TEST_P(AnyStorage, RejectsEveryChangeWhenOpenedForReading) {
  const auto storage = open(OpenMode::kRead);
  EXPECT_EQ(code_of(storage->write(0, bytes_of("x"))), Errc::kReadOnly);
  EXPECT_EQ(code_of(storage->allocate({0, 1})), Errc::kReadOnly);
  EXPECT_EQ(code_of(storage->truncate(0)), Errc::kReadOnly);
  EXPECT_EQ(code_of(storage->punch({0, 1})), Errc::kReadOnly);
  EXPECT_EQ(code_of(storage->sync()), Errc::kReadOnly);
  EXPECT_EQ(code_of(storage->lock_writer(0)), Errc::kReadOnly);
}

TEST_P(AnyStorage, AcceptsEmptyRanges) {
  const auto storage = open();
  EXPECT_TRUE(storage->write(1 << 20, {}));
  EXPECT_TRUE(storage->allocate({1 << 20, 0}));
  EXPECT_TRUE(storage->punch({1 << 20, 0}));
  EXPECT_EQ(*storage->read(1 << 20, {}), 0U);
  EXPECT_EQ(*storage->size(), 0U);
}

TEST_P(AnyStorage, RejectsOffsetsThatNoFileHas) {
  const auto storage = open();
  constexpr std::uint64_t kFar = ~std::uint64_t{0} - 2;
  EXPECT_FALSE(storage->write(kFar, bytes_of("hello")));
  EXPECT_FALSE(storage->allocate({kFar, 5}));
  EXPECT_FALSE(storage->allocate({0, kFar}));
  EXPECT_FALSE(storage->view({kFar, 5}));
  EXPECT_FALSE(storage->view({0, kFar}));
  EXPECT_EQ(*storage->size(), 0U);
}

TEST_P(AnyStorage, CountsWhatItDid) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, filled(8192, 1)));
  ASSERT_TRUE(storage->allocate({8192, 4096}));
  ASSERT_TRUE(storage->punch({0, 4096}));
  ASSERT_TRUE(storage->truncate(4096));
  ASSERT_TRUE(storage->sync());
  ASSERT_EQ(read_bytes(*storage, 1000, 5000).size(), 3096U);
  const StorageCounters counters = storage->counters();
  EXPECT_EQ(counters.bytes_written, 8192U);
  EXPECT_EQ(counters.write_count, 1U);
  EXPECT_EQ(counters.allocated_bytes, 4096U);
  EXPECT_EQ(counters.punched_bytes, 4096U);
  EXPECT_EQ(counters.truncate_count, 1U);
  EXPECT_EQ(counters.sync_count, 1U);
  EXPECT_EQ(counters.bytes_read, 3096U);
  EXPECT_EQ(counters.read_count, 1U);
}

TEST_P(AnyStorage, CountsASeekWhenAWriteStartsElsewhere) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, filled(100, 1)));    // at the head
  ASSERT_TRUE(storage->write(100, filled(100, 1)));  // goes on
  EXPECT_EQ(storage->counters().write_seek_count, 0U);
  ASSERT_TRUE(storage->write(100, filled(100, 1)));  // back
  ASSERT_TRUE(storage->write(300, filled(100, 1)));  // ahead
  EXPECT_EQ(storage->counters().write_seek_count, 2U);
}

TEST_P(AnyStorage, CountsSeeksOfReadsApartFromWrites) {
  const auto storage = open();
  ASSERT_TRUE(storage->write(0, filled(1000, 1)));
  read_bytes(*storage, 0, 100);
  ASSERT_TRUE(storage->write(1000, filled(100, 1)));
  read_bytes(*storage, 100, 100);
  EXPECT_EQ(storage->counters().read_seek_count, 0U);
  read_bytes(*storage, 500, 100);
  EXPECT_EQ(storage->counters().read_seek_count, 1U);
  EXPECT_EQ(storage->counters().write_seek_count, 0U);
}

TEST_P(AnyStorage, CountsNothingThatFailed) {
  const auto storage = open(OpenMode::kRead);
  EXPECT_FALSE(storage->write(0, bytes_of("x")));
  EXPECT_FALSE(storage->sync());
  EXPECT_EQ(storage->counters().write_count, 0U);
  EXPECT_EQ(storage->counters().sync_count, 0U);
}

TEST_P(AnyStorage, HasNoFaultAndItsPathAndItsProcess) {
  const auto storage = open();
  EXPECT_EQ(storage->first_fault(), std::nullopt);
  EXPECT_TRUE(storage->check_path());
  EXPECT_TRUE(storage->check_process());
}

}  // namespace
}  // namespace crawlstore
