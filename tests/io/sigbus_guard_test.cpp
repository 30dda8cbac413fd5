// SPDX-License-Identifier: Apache-2.0

#include "io/sigbus_guard.h"

#include <csignal>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <crawlstore/storage.h>

#include "support/bytes.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"

namespace crawlstore {
namespace {

using testing::filled;

constexpr std::uint64_t kLengthBytes = std::uint64_t{1} << 20;

class CutFile : public ::testing::Test {
 protected:
  CutFile() {
    testing::put_file(path_, filled(kLengthBytes, 7));
    storage_ = std::move(*open_storage(path_, OpenMode::kRead));
    bytes_ = *storage_->view({0, kLengthBytes});
  }

  void cut(std::uint64_t size_bytes) { std::filesystem::resize_file(path_, size_bytes); }

  /// Really loads the byte.
  unsigned load(std::uint64_t offset) const {
    unsigned char byte = 0xEE;
    __atomic_load(reinterpret_cast<const unsigned char*>(bytes_ + offset), &byte, __ATOMIC_RELAXED);
    return byte;
  }

  testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "file";
  std::unique_ptr<Storage> storage_;
  const std::byte* bytes_ = nullptr;
};

TEST_F(CutFile, ReadsZerosPastTheCut) {
  cut(8192);
  EXPECT_EQ(load(100'000), 0U);
  EXPECT_EQ(load(kLengthBytes - 1), 0U);
}

TEST_F(CutFile, KeepsWhatIsStillThere) {
  cut(8192);
  EXPECT_EQ(load(100'000), 0U);
  EXPECT_EQ(load(0), 7U);
  EXPECT_EQ(load(8191), 7U);
}

TEST_F(CutFile, ReportsTheFirstFault) {
  cut(8192);
  EXPECT_EQ(storage_->first_fault(), std::nullopt);
  load(100'001);
  load(20'000);
  EXPECT_EQ(storage_->first_fault(), 100'001U);
}

TEST_F(CutFile, KeepsOtherStoragesFree) {
  const auto other = std::move(*open_storage(path_, OpenMode::kRead));
  ASSERT_TRUE(other->view({0, kLengthBytes}));
  cut(8192);
  load(100'000);
  EXPECT_EQ(other->first_fault(), std::nullopt);
}

TEST_F(CutFile, StartsAnewWhenItIsOpenedAgain) {
  cut(8192);
  load(100'000);
  storage_ = std::move(*open_storage(path_, OpenMode::kRead));
  ASSERT_TRUE(storage_->view({0, 8192}));
  EXPECT_EQ(storage_->first_fault(), std::nullopt);
}

TEST_F(CutFile, SurvivesFaultsInManyThreads) {
  cut(0);
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t page = thread; page < kLengthBytes / 4096; page += 2) {
        EXPECT_EQ(load(page * 4096), 0U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(storage_->first_fault().has_value());
}

TEST_F(CutFile, KeepsErrno) {
  cut(0);
  errno = ETIMEDOUT;
  load(4096);
  EXPECT_EQ(errno, ETIMEDOUT);
}

TEST_F(CutFile, SurvivesAFaultInAForkedChild) {
  cut(0);
  EXPECT_EQ(testing::run_in_child([&] { return static_cast<int>(load(4096)); }), 0);
  EXPECT_EQ(storage_->first_fault(), std::nullopt);
}

TEST_F(CutFile, SurvivesMoreFaultsThanThereAreMappings) {
  // Every second page of zeros is a mapping of its own; the system allows 65,530.
  constexpr std::uint64_t kPageCount = 150'000;
  std::filesystem::resize_file(path_, kPageCount * 4096);
  bytes_ = *storage_->view({0, kPageCount * 4096});
  cut(0);
  unsigned sum = 0;
  for (std::uint64_t page = 0; page < kPageCount; page += 2) sum += load(page * 4096);
  EXPECT_EQ(sum, 0U);
  EXPECT_EQ(storage_->first_fault(), 0U);
}

TEST(GuardedRange, FreesItsSlot) {
  const auto bytes = filled(1, 0);
  for (std::size_t turn = 0; turn < 2 * io::kGuardedRangeCountMax; ++turn) {
    ASSERT_TRUE(io::GuardedRange::make(bytes.data(), 1));
  }
}

TEST(GuardedRange, ReportsAFullTable) {
  const auto bytes = filled(1, 0);
  std::vector<io::GuardedRange> ranges;
  for (;;) {
    auto range = io::GuardedRange::make(bytes.data(), 1);
    if (!range) {
      EXPECT_EQ(range.error().code, Errc::kOutOfMemory);
      break;
    }
    ranges.push_back(std::move(*range));
    ASSERT_LE(ranges.size(), io::kGuardedRangeCountMax);
  }
}

/// For processes of their own, which no other test has given a guard: installs the guard after
/// `earlier`, then faults in a mapping that the guard does not know.
void fault_elsewhere() {
  std::unique_ptr<Storage> storage;
  void* mapped = nullptr;
  {
    const testing::TemporaryFolder folder;  // gone before the process is
    testing::put_file(folder / "guarded", filled(8192, 7));
    storage = std::move(*open_storage(folder / "guarded", OpenMode::kRead));
    (void)*storage->view({0, 8192});
    testing::put_file(folder / "other", filled(8192, 7));
    const int descriptor = ::open((folder / "other").c_str(), O_RDWR | O_CLOEXEC);
    mapped = ::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, descriptor, 0);
    EXPECT_EQ(::ftruncate(descriptor, 0), 0);
  }
  unsigned char byte = 0;
  __atomic_load(static_cast<const unsigned char*>(mapped), &byte, __ATOMIC_RELAXED);
}

void exit_with_7(int, siginfo_t*, void*) {
  ::_exit(7);
}

class GuardDeathTest : public ::testing::Test {
 protected:
  // A process of its own, started anew: there the guard has not been installed yet.
  GuardDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void handle_with(void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
  }
};

TEST_F(GuardDeathTest, PassesOtherFaultsToTheEarlierHandler) {
  EXPECT_EXIT(
      {
        handle_with(exit_with_7);
        fault_elsewhere();
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(GuardDeathTest, PassesOtherFaultsToAnEarlierPlainHandler) {
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, [](int) { ::_exit(8); });
        fault_elsewhere();
      },
      ::testing::ExitedWithCode(8), "");
}

TEST_F(GuardDeathTest, KeepsOtherFaultsDeadlyWithoutAHandler) {
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, SIG_DFL);
        fault_elsewhere();
      },
      ::testing::KilledBySignal(SIGBUS), "");
}

TEST_F(GuardDeathTest, KeepsASentSignalDeadlyWithoutAHandler) {
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, SIG_DFL);
        const auto range = io::GuardedRange::make(filled(1, 0).data(), 1);
        ::raise(SIGBUS);
        ::_exit(1);
      },
      ::testing::KilledBySignal(SIGBUS), "");
}

TEST_F(GuardDeathTest, IgnoresASentSignalThatWasIgnoredBefore) {
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, SIG_IGN);
        const auto range = io::GuardedRange::make(filled(1, 0).data(), 1);
        ::raise(SIGBUS);
        ::_exit(9);
      },
      ::testing::ExitedWithCode(9), "");
}

}  // namespace
}  // namespace crawlstore
