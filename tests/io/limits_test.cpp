// SPDX-License-Identifier: Apache-2.0
//
// The refusals of the system: file size limits, full disks, signals in the middle of calls.

#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <crawlstore/storage.h>

#include "support/bytes.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"

namespace crawlstore {
namespace {

using testing::bytes_of;
using testing::code_of;
using testing::filled;
using testing::run_in_child;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::unique_ptr<Storage> open_new(const std::string& path) {
  testing::put_file(path, {});
  auto opened = open_storage(path, OpenMode::kWrite);
  return opened ? std::move(*opened) : nullptr;
}

/// Limits the size of this (child) process's files.
bool limit_file_size(std::uint64_t size_bytes) {
  const rlimit limit = {size_bytes, RLIM_INFINITY};
  return ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

bool is_pending(int signal_number) {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  return ::sigismember(&pending, signal_number) == 1;
}

TEST(FileSizeLimit, ReportsAWriteOverIt) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(run_in_child([&] {
              const auto storage = open_new(folder / "file");
              if (!limit_file_size(10000)) return 1;
              if (!storage->write(0, filled(10000, 1))) return 2;
              return code_of(storage->write(9000, filled(2000, 1))) == Errc::kFileSizeLimit ? 0 : 3;
            }),
            0);
}

TEST(FileSizeLimit, ReportsAnAllocationOverItAndKeepsTheLength) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(run_in_child([&] {
              const auto storage = open_new(folder / "file");
              if (!limit_file_size(10000)) return 1;
              if (code_of(storage->allocate({0, 20000})) != Errc::kFileSizeLimit) return 2;
              return *storage->size() == 0 && storage->allocate({0, 10000}) ? 0 : 3;
            }),
            0);
}

TEST(FileSizeLimit, LeavesNoSignalBehind) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(run_in_child([&] {
              const auto storage = open_new(folder / "file");
              sigset_t mask_before;
              sigset_t mask_after;
              ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
              if (!limit_file_size(10) || storage->write(0, filled(100, 1))) return 1;
              ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
              if (::sigismember(&mask_after, SIGXFSZ) != ::sigismember(&mask_before, SIGXFSZ)) {
                return 2;
              }
              return is_pending(SIGXFSZ) ? 3 : 0;
            }),
            0);
}

TEST(FileSizeLimit, KeepsASignalThatWasPendingBefore) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(run_in_child([&] {
              const auto storage = open_new(folder / "file");
              sigset_t blocked;
              ::sigemptyset(&blocked);
              ::sigaddset(&blocked, SIGXFSZ);
              ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
              ::raise(SIGXFSZ);
              if (!limit_file_size(10) || storage->write(0, filled(100, 1))) return 1;
              return is_pending(SIGXFSZ) ? 0 : 2;
            }),
            0);
}

TEST(FileSizeLimit, KillsAProcessThatBreaksItByItself) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(run_in_child([&] {
              const auto storage = open_new(folder / "file");
              if (!limit_file_size(10) || storage->write(0, filled(100, 1))) return 1;
              (void)::truncate((folder / "file").c_str(), 100);
              return 2;
            }),
            1000 + SIGXFSZ);
}

TEST(FileSizeLimit, ReportsFromCreateFile) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(run_in_child([&] {
              if (!limit_file_size(10)) return 1;
              const auto fill = [](Storage& storage, void*) {
                return storage.write(0, filled(100, 1));
              };
              const auto created = create_file(folder / "new", fill, nullptr);
              return code_of(created) == Errc::kFileSizeLimit ? 0 : 2;
            }),
            0);
}

class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!mount_.is_mounted()) GTEST_SKIP() << "only root may mount";
    storage_ = open_new(mount_ / "file");
  }

  testing::TemporaryMount mount_{"size=1m"};
  std::unique_ptr<Storage> storage_;
};

TEST_F(FullDisk, ReportsAnAllocationThatDoesNotFit) {
  EXPECT_EQ(code_of(storage_->allocate({0, 2 * kMiB})), Errc::kNoSpace);
  EXPECT_EQ(*storage_->size(), 0U);
  EXPECT_TRUE(storage_->allocate({0, kMiB / 2}));
}

TEST_F(FullDisk, KeepsTheContentWhenAnAllocationFails) {
  ASSERT_TRUE(storage_->write(0, bytes_of("content")));
  EXPECT_EQ(code_of(storage_->allocate({0, 2 * kMiB})), Errc::kNoSpace);
  EXPECT_EQ(testing::read_bytes(*storage_, 0, 100), bytes_of("content"));
}

TEST_F(FullDisk, ReportsAWriteThatDoesNotFit) {
  const auto written = storage_->write(0, filled(2 * kMiB, 1));
  EXPECT_EQ(code_of(written), Errc::kNoSpace);
  EXPECT_GT(written.error().offset, 0U);  // how far it got
}

TEST_F(FullDisk, WritesIntoWhatItReserved) {
  ASSERT_TRUE(storage_->allocate({0, kMiB / 2}));
  const auto other = open_new(mount_ / "other");
  EXPECT_FALSE(other->write(0, filled(2 * kMiB, 1)));  // takes all the rest
  EXPECT_TRUE(storage_->write(0, filled(kMiB / 2, 2)));
}

TEST_F(FullDisk, GivesPunchedSpaceToOthers) {
  ASSERT_TRUE(storage_->allocate({0, kMiB * 3 / 4}));
  const auto other = open_new(mount_ / "other");
  EXPECT_EQ(code_of(other->allocate({0, kMiB / 2})), Errc::kNoSpace);
  ASSERT_TRUE(storage_->punch({0, kMiB / 2}));
  EXPECT_TRUE(other->allocate({0, kMiB / 2}));
}

/// A timer that interrupts whatever the process does, thousands of times a second.
class FastTimer {
 public:
  FastTimer() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};  // without SA_RESTART: calls fail with EINTR
    ::sigaction(SIGALRM, &action, &earlier_);
    const itimerval often = {{0, 200}, {0, 200}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~FastTimer() {
    const itimerval never = {};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &earlier_, nullptr);
  }

 private:
  struct sigaction earlier_ = {};
};

TEST(Interruption, FinishesEveryCallUnderAFastTimer) {
  testing::TemporaryMount mount("size=100m");
  if (!mount.is_mounted()) GTEST_SKIP() << "only root may mount";
  const auto storage = open_new(mount / "file");
  const FastTimer timer;
  ASSERT_TRUE(storage->allocate({0, 64 * kMiB}));  // tmpfs undoes an interrupted one
  ASSERT_TRUE(storage->write(0, filled(16 * kMiB, 1)));
  EXPECT_EQ(testing::read_bytes(*storage, 0, 16 * kMiB), filled(16 * kMiB, 1));
  EXPECT_TRUE(storage->sync());
  EXPECT_TRUE(storage->punch({0, 8 * kMiB}));
  EXPECT_TRUE(storage->truncate(kMiB));
}

TEST(Interruption, WaitsForALockUnderAFastTimer) {
  const testing::TemporaryFolder folder;
  const auto holder = open_new(folder / "file");
  ASSERT_TRUE(holder->lock_writer(0));
  auto other = open_storage(folder / "file", OpenMode::kWrite);
  ASSERT_TRUE(other);
  const FastTimer timer;
  EXPECT_EQ(code_of((*other)->lock_writer(30)), Errc::kLocked);
}

}  // namespace
}  // namespace crawlstore
