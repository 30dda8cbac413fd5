// SPDX-License-Identifier: Apache-2.0
//
// The files that open_storage() accepts, and the fate of the file behind an opened storage.

#include "io/system_storage.h"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
using testing::read_bytes;

class SystemStorage : public ::testing::Test {
 protected:
  SystemStorage() { testing::put_file(path_, bytes_of("content")); }

  std::unique_ptr<Storage> open(OpenMode mode = OpenMode::kWrite) {
    auto opened = open_storage(path_, mode);
    EXPECT_TRUE(opened) << describe(opened.error());
    return opened ? std::move(*opened) : nullptr;
  }

  testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "file";
};

TEST_F(SystemStorage, RejectsAFifoWithoutHanging) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(code_of(open_storage(fifo, OpenMode::kRead)), Errc::kNotACrawlFile);
  EXPECT_EQ(code_of(open_storage(fifo, OpenMode::kWrite)), Errc::kNotACrawlFile);
}

TEST_F(SystemStorage, RejectsAFolder) {
  EXPECT_EQ(code_of(open_storage(folder_.path(), OpenMode::kRead)), Errc::kNotACrawlFile);
  EXPECT_EQ(code_of(open_storage(folder_.path(), OpenMode::kWrite)), Errc::kNotACrawlFile);
}

TEST_F(SystemStorage, RejectsADevice) {
  EXPECT_EQ(code_of(open_storage("/dev/null", OpenMode::kWrite)), Errc::kNotACrawlFile);
  EXPECT_EQ(code_of(open_storage("/dev/zero", OpenMode::kRead)), Errc::kNotACrawlFile);
}

TEST_F(SystemStorage, RejectsASocket) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = folder_ / "socket";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(code_of(open_storage(path, OpenMode::kRead)), Errc::kNotACrawlFile);
  ::close(descriptor);
}

TEST_F(SystemStorage, ReportsAMissingFile) {
  EXPECT_EQ(code_of(open_storage(folder_ / "none", OpenMode::kWrite)), Errc::kNotFound);
  EXPECT_EQ(code_of(open_storage(folder_ / "none/none", OpenMode::kRead)), Errc::kNotFound);
  EXPECT_EQ(code_of(open_storage("", OpenMode::kRead)), Errc::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

TEST_F(SystemStorage, OpensAnEmptyFile) {
  testing::put_file(path_, {});
  const auto storage = open(OpenMode::kRead);
  EXPECT_EQ(*storage->size(), 0U);
  EXPECT_EQ(read_bytes(*storage, 0, 10).size(), 0U);
  EXPECT_TRUE(storage->view({0, 0}));
}

TEST_F(SystemStorage, FollowsASymbolicLink) {
  ASSERT_EQ(::symlink(path_.c_str(), (folder_ / "link").c_str()), 0);
  auto storage = open_storage(folder_ / "link", OpenMode::kWrite);
  ASSERT_TRUE(storage);
  EXPECT_TRUE((*storage)->check_path());
}

TEST_F(SystemStorage, ReportsMissingPermission) {
  ASSERT_EQ(::chmod(path_.c_str(), 0400), 0);
  const int exit_code = testing::run_in_child([&] {
    if (::getuid() == 0 && !testing::become_nobody()) return 2;
    if (::getuid() != 65534) return 0;  // the owner may read; nothing to be seen here
    return code_of(open_storage(path_, OpenMode::kRead)) == Errc::kPermission ? 0 : 1;
  });
  EXPECT_EQ(exit_code, 0);
}

TEST_F(SystemStorage, PinsAFileThatItMayOnlyRead) {
  ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
  const auto writer = open(OpenMode::kRead);
  const testing::WaitingChild reader([&] {
    if (::getuid() == 0 && !testing::become_nobody()) return false;
    auto storage = open_storage(path_, OpenMode::kRead);
    if (!storage || !(*storage)->pin({7})) return false;
    if (code_of(open_storage(path_, OpenMode::kWrite)) != Errc::kPermission) return false;
    (void)storage->release();  // stays open
    return true;
  });
  ASSERT_TRUE(reader.is_ready());
  EXPECT_EQ(*writer->pinned({0}, {100}), (std::vector<Generation>{{7}}));
}

TEST_F(SystemStorage, PinsAFileThatLostItsName) {
  const auto storage = open(OpenMode::kRead);
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  EXPECT_TRUE(storage->pin({7}));
  EXPECT_EQ(storage->pinned({0}, {100})->size(), 1U);
}

TEST_F(SystemStorage, ReadsAndPinsOnAReadOnlyMount) {
  testing::TemporaryMount mount("size=1m");
  if (!mount.is_mounted()) GTEST_SKIP() << "only root may mount";
  testing::put_file(mount / "file", bytes_of("content"));
  ASSERT_TRUE(mount.make_read_only());
  EXPECT_EQ(code_of(open_storage(mount / "file", OpenMode::kWrite)), Errc::kPermission);
  auto storage = open_storage(mount / "file", OpenMode::kRead);
  ASSERT_TRUE(storage);
  EXPECT_EQ(read_bytes(**storage, 0, 7), bytes_of("content"));
  EXPECT_TRUE((*storage)->pin({7}));
  EXPECT_EQ((*storage)->pinned({0}, {100})->size(), 1U);
}

TEST_F(SystemStorage, ReportsAReplacedFile) {
  const auto storage = open();
  testing::put_file(folder_ / "other", bytes_of("other"));
  std::filesystem::rename(folder_ / "other", path_);
  EXPECT_EQ(code_of(storage->check_path()), Errc::kReplaced);
}

TEST_F(SystemStorage, ReportsADeletedFile) {
  const auto storage = open();
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  EXPECT_EQ(code_of(storage->check_path()), Errc::kReplaced);
}

TEST_F(SystemStorage, ReportsAMovedFile) {
  const auto storage = open();
  std::filesystem::rename(path_, folder_ / "elsewhere");
  EXPECT_EQ(code_of(storage->check_path()), Errc::kReplaced);
}

TEST_F(SystemStorage, KeepsItsPathWhenTheProcessGoesElsewhere) {
  const int exit_code = testing::run_in_child([&] {
    if (::chdir(folder_.path().c_str()) != 0) return 1;
    auto storage = open_storage("file", OpenMode::kWrite);
    if (!storage || ::chdir("/") != 0) return 2;
    return (*storage)->check_path() ? 0 : 3;
  });
  EXPECT_EQ(exit_code, 0);
}

TEST_F(SystemStorage, ClosesItsDescriptorsOnExec) {
  const auto storage = open();
  ASSERT_TRUE(storage->pin({7}));
  std::size_t ours = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) != path_) continue;
    ++ours;
    const int descriptor = std::stoi(entry.path().filename());
    EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(ours, 2U);
}

TEST_F(SystemStorage, LeavesNoDescriptorBehind) {
  const auto count = [] {
    const std::filesystem::directory_iterator begin("/proc/self/fd");
    return std::distance(begin, {});
  };
  const auto before = count();
  for (int turn = 0; turn < 10; ++turn) {
    const auto storage = open();
    ASSERT_TRUE(storage->pin({7}));
    ASSERT_TRUE(storage->view({0, 7}));
  }
  EXPECT_EQ(count(), before);
}

TEST_F(SystemStorage, MapsLessWhenAddressesAreShort) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs all addresses";
#elif defined(__has_feature)
  if (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)) {
    GTEST_SKIP() << "a sanitizer needs all addresses";
  }
#endif
  const int exit_code = testing::run_in_child([&] {
    const rlimit limit = {std::uint64_t{1} << 30, std::uint64_t{1} << 30};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    const auto storage = open();
    const auto bytes = storage->view({0, 7});
    return bytes && **bytes == std::byte{'c'} ? 0 : 2;
  });
  EXPECT_EQ(exit_code, 0);
}

TEST_F(SystemStorage, MapsFurtherRegionsPastTheFirst) {
  const auto storage = open();
  const std::byte* const first = *storage->view({0, 7});
  constexpr std::uint64_t kFar = std::uint64_t{100} << 30;  // past the first 64 GiB
  ASSERT_TRUE(storage->write(kFar, bytes_of("far away")));  // the file is a hole up to there
  const auto far = storage->view({kFar, 8});
  ASSERT_TRUE(far) << describe(far.error());
  EXPECT_EQ(**far, std::byte{'f'});
  EXPECT_EQ(*storage->view({kFar + 4, 4}), *far + 4);
  EXPECT_EQ(*storage->view({0, 7}), first);
  EXPECT_EQ(*first, std::byte{'c'});
}

TEST_F(SystemStorage, MapsAnExtentThatStraddlesRegions) {
  const auto storage = open();
  ASSERT_TRUE(storage->view({0, 7}));
  const std::uint64_t limit = std::uint64_t{64} << 30;
  ASSERT_TRUE(storage->write(limit - 4, bytes_of("straddle")));
  const auto straddling = storage->view({limit - 4, 8});
  ASSERT_TRUE(straddling) << describe(straddling.error());
  EXPECT_EQ((*straddling)[0], std::byte{'s'});
  EXPECT_EQ((*straddling)[7], std::byte{'e'});
}

/// The number of pages of a file that are in the page cache.
std::size_t cached_count(int descriptor, std::size_t page_count, std::size_t page_bytes) {
  std::vector<unsigned char> cached(page_count);
  void* const mapped =
      ::mmap(nullptr, page_count * page_bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return page_count;
  EXPECT_EQ(::mincore(mapped, page_count * page_bytes, cached.data()), 0);
  ::munmap(mapped, page_count * page_bytes);
  return static_cast<std::size_t>(std::count_if(cached.begin(), cached.end(),
                                                [](unsigned char page) { return page % 2 != 0; }));
}

TEST_F(SystemStorage, ReadsNoMoreThanIsTouchedThroughAView) {
  constexpr std::size_t kPageCount = 4096;
  const auto storage = open();
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  ASSERT_TRUE(storage->write(0, filled(kPageCount * page_bytes, 7)));
  ASSERT_TRUE(storage->sync());
  const std::byte* const view = *storage->view({0, kPageCount * page_bytes});
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED), 0);
  const std::size_t kept = cached_count(descriptor, kPageCount, page_bytes);
  EXPECT_EQ(view[kPageCount / 2 * page_bytes], std::byte{7});
  const std::size_t read = cached_count(descriptor, kPageCount, page_bytes);
  ::close(descriptor);
  if (kept != 0) GTEST_SKIP() << "the system drops no pages of this file";
  EXPECT_GE(read, 1U);
  EXPECT_LE(read, 16U);
}

TEST_F(SystemStorage, ViewsFromManyThreads) {
  ASSERT_TRUE(open()->write(0, filled(1 << 20, 9)));
  const auto storage = open(OpenMode::kRead);
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t page = thread; page < 256; ++page) {
        EXPECT_EQ(**storage->view({page * 4096, 4096}), std::byte{9});
        EXPECT_EQ(read_bytes(*storage, page * 4096, 1), filled(1, 9));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(storage->counters().read_count, 1024U - 6);
}

}  // namespace
}  // namespace crawlstore
