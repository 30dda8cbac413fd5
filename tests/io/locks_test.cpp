// SPDX-License-Identifier: Apache-2.0
//
// Locks between storages, the same for files and for memory: one process here.

#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include <crawlstore/storage.h>

#include "support/bytes.h"
#include "support/temporary_folder.h"

namespace crawlstore {
namespace {

using testing::code_of;
using Generations = std::vector<Generation>;

enum class Make { kSystem, kMemory };

class Locks : public ::testing::TestWithParam<Make> {
 protected:
  Locks() {
    if (GetParam() == Make::kMemory) file_ = make_memory_file({}, std::uint64_t{1} << 20);
    if (GetParam() == Make::kSystem) testing::put_file(folder_ / "file", {});
    writer_ = open(OpenMode::kWrite);
    reader_ = open(OpenMode::kRead);
  }

  std::unique_ptr<Storage> open(OpenMode mode) {
    if (file_ != nullptr) return open_memory_storage(file_, mode);
    auto opened = open_storage(folder_ / "file", mode);
    return opened ? std::move(*opened) : nullptr;
  }

  Generations pinned(std::uint64_t from = 0, std::uint64_t to = ~std::uint64_t{0}) {
    return writer_->pinned({from}, {to}).value_or(Generations{{~std::uint64_t{0}}});
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<MemoryFile> file_;
  std::unique_ptr<Storage> writer_;
  std::unique_ptr<Storage> reader_;
};

INSTANTIATE_TEST_SUITE_P(Io, Locks, ::testing::Values(Make::kSystem, Make::kMemory),
                         [](const auto& made) {
                           return made.param == Make::kSystem ? "System" : "Memory";
                         });

TEST_P(Locks, ExcludesASecondWriter) {
  const auto second = open(OpenMode::kWrite);
  ASSERT_TRUE(writer_->lock_writer(0));
  EXPECT_EQ(code_of(second->lock_writer(0)), Errc::kLocked);
  writer_->unlock_writer();
  EXPECT_TRUE(second->lock_writer(0));
}

TEST_P(Locks, KeepsTheWriterLockWhenAskedTwice) {
  ASSERT_TRUE(writer_->lock_writer(0));
  EXPECT_TRUE(writer_->lock_writer(0));
  EXPECT_EQ(code_of(open(OpenMode::kWrite)->lock_writer(0)), Errc::kLocked);
}

TEST_P(Locks, FreesTheWriterLockWithItsStorage) {
  ASSERT_TRUE(writer_->lock_writer(0));
  writer_.reset();
  EXPECT_TRUE(open(OpenMode::kWrite)->lock_writer(0));
}

TEST_P(Locks, FreesTheWriterLockOfAStorageWithViews) {
  ASSERT_TRUE(writer_->allocate({0, 4096}));
  ASSERT_TRUE(writer_->view({0, 4096}));
  ASSERT_TRUE(writer_->lock_writer(0));
  writer_.reset();
  EXPECT_TRUE(open(OpenMode::kWrite)->lock_writer(0));
}

TEST_P(Locks, KeepsTheWriterLockWhenAnotherStorageEnds) {
  ASSERT_TRUE(writer_->lock_writer(0));
  open(OpenMode::kWrite).reset();
  open(OpenMode::kRead).reset();
  EXPECT_EQ(code_of(open(OpenMode::kWrite)->lock_writer(0)), Errc::kLocked);
}

TEST_P(Locks, WaitsForTheWriterLock) {
  ASSERT_TRUE(writer_->lock_writer(0));
  std::thread leaver([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    writer_->unlock_writer();
  });
  const auto second = open(OpenMode::kWrite);
  EXPECT_TRUE(second->lock_writer(20000));
  leaver.join();
}

TEST_P(Locks, ReportsLockedAfterWaiting) {
  ASSERT_TRUE(writer_->lock_writer(0));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(open(OpenMode::kWrite)->lock_writer(50)), Errc::kLocked);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(50));
}

TEST_P(Locks, ReportsPinsOfOthersAscending) {
  for (const std::uint64_t generation : {900U, 3U, 5U, 4U, 70U}) {
    ASSERT_TRUE(reader_->pin({generation}));
  }
  EXPECT_EQ(pinned(), (Generations{{3}, {4}, {5}, {70}, {900}}));
}

TEST_P(Locks, ReportsPinsInTheRangeOnly) {
  for (std::uint64_t generation = 1; generation < 20; ++generation) {
    ASSERT_TRUE(reader_->pin({generation}));
  }
  EXPECT_EQ(pinned(5, 8), (Generations{{5}, {6}, {7}}));
  EXPECT_EQ(pinned(8, 8), Generations{});
  EXPECT_EQ(pinned(9, 8), Generations{});
  EXPECT_EQ(pinned(20), Generations{});
}

TEST_P(Locks, ReportsAGenerationOnceForManyReaders) {
  const auto other = open(OpenMode::kRead);
  ASSERT_TRUE(reader_->pin({7}));
  ASSERT_TRUE(other->pin({7}));
  EXPECT_EQ(pinned(), (Generations{{7}}));
  reader_->unpin({7});
  EXPECT_EQ(pinned(), (Generations{{7}}));
  other->unpin({7});
  EXPECT_EQ(pinned(), Generations{});
}

TEST_P(Locks, SeesItsOwnPins) {
  ASSERT_TRUE(writer_->pin({7}));
  EXPECT_EQ(pinned(), (Generations{{7}}));
}

TEST_P(Locks, CountsPinsOfOneGeneration) {
  ASSERT_TRUE(reader_->pin({7}));
  ASSERT_TRUE(reader_->pin({7}));
  reader_->unpin({7});
  EXPECT_EQ(pinned(), (Generations{{7}}));
  reader_->unpin({7});
  EXPECT_EQ(pinned(), Generations{});
}

TEST_P(Locks, KeepsPinsWhenAnotherStorageEnds) {
  ASSERT_TRUE(reader_->pin({7}));
  auto other = open(OpenMode::kRead);
  ASSERT_TRUE(other->pin({7}));
  other.reset();
  EXPECT_EQ(pinned(), (Generations{{7}}));
}

TEST_P(Locks, FreesPinsWithTheirStorage) {
  ASSERT_TRUE(reader_->pin({7}));
  ASSERT_TRUE(reader_->pin({8}));
  reader_.reset();
  EXPECT_EQ(pinned(), Generations{});
}

TEST_P(Locks, KeepsPinsAndTheWriterLockApart) {
  ASSERT_TRUE(reader_->pin({0}));
  EXPECT_TRUE(writer_->lock_writer(0));
  EXPECT_EQ(pinned(), (Generations{{0}}));
}

TEST_P(Locks, TakesNoLockWithoutPins) {
  const auto careless = open(OpenMode::kReadNoPin);
  EXPECT_TRUE(careless->pin({7}));
  EXPECT_EQ(pinned(), Generations{});
  careless->unpin({7});
}

TEST_P(Locks, RejectsGenerationsWithoutALockByte) {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << 62) - 2;
  EXPECT_EQ(code_of(reader_->pin({kLast + 1})), Errc::kInvalidArgument);
  ASSERT_TRUE(reader_->pin({kLast}));
  EXPECT_EQ(pinned(), (Generations{{kLast}}));
}

TEST_P(Locks, NamesTheHolders) {
  ASSERT_TRUE(reader_->pin({7}));
  ASSERT_TRUE(reader_->pin({9}));
  const std::vector<PinHolder> holders = writer_->pin_holders();
  ASSERT_EQ(holders.size(), 2U);
  EXPECT_EQ(holders[0].generation, Generation{7});
  EXPECT_EQ(holders[1].generation, Generation{9});
  EXPECT_EQ(holders[0].pid, ::getpid());
}

TEST_P(Locks, CountsPinsOfManyThreads) {
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t turn = 0; turn < 200; ++turn) {
        EXPECT_TRUE(reader_->pin({turn % 3 + thread % 2}));
        reader_->unpin({turn % 3 + thread % 2});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pinned(), Generations{});
}

}  // namespace
}  // namespace crawlstore
