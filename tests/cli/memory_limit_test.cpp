// SPDX-License-Identifier: Apache-2.0
#include "cli/memory_limit.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// A made-up /proc and /sys.
class MemoryLimit : public ::testing::Test {
 protected:
  void SetUp() override { put("/proc/meminfo", "MemFree: 1 kB\nMemTotal:       8388608 kB\n"); }

  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::uint64_t limit_bytes() { return memory_limit_bytes(folder_.path()); }

  testing::TemporaryFolder folder_;
};

TEST_F(MemoryLimit, IsThatOfTheMachineWithoutGroups) {
  EXPECT_EQ(limit_bytes(), 8192 * kMiB);
}

TEST_F(MemoryLimit, FollowsGroupsOfVersion2Upwards) {
  put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
  put("/proc/self/cgroup", "0::/user.slice/app.scope\n");
  put("/sys/fs/cgroup/user.slice/app.scope/memory.max", "max\n");
  EXPECT_EQ(limit_bytes(), 8192 * kMiB);
  put("/sys/fs/cgroup/user.slice/memory.max", "268435456\n");
  EXPECT_EQ(limit_bytes(), 256 * kMiB);
  put("/sys/fs/cgroup/user.slice/app.scope/memory.max", "1048576\n");
  EXPECT_EQ(limit_bytes(), kMiB);
}

TEST_F(MemoryLimit, FollowsGroupsOfVersion1BesideVersion2) {
  put("/proc/self/mountinfo",
      "25 20 0:22 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
      "26 20 0:23 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "27 20 0:24 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n");
  put("/proc/self/cgroup", "4:memory:/job/7\n1:cpu:/\n0::/\n");
  put("/sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit_bytes(), 8192 * kMiB);
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(limit_bytes(), 512 * kMiB);
}

TEST_F(MemoryLimit, FindsTheGroupOfAContainer) {
  // The mount shows only the container's own part of the tree.
  put("/proc/self/mountinfo",
      "27 20 0:24 /docker/abc /sys/fs/cgroup/memory rw - cgroup c memory\n");
  put("/proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "104857600\n");
  EXPECT_EQ(limit_bytes(), 100 * kMiB);
}

TEST_F(MemoryLimit, DoesNotTrustWhatItCannotRead) {
  put("/proc/self/mountinfo", "nonsense\n - cgroup2\n1 2 3 - cgroup2 x y\n");
  put("/proc/self/cgroup", "\n:\nnonsense\n");
  put("/proc/meminfo", "MemTotal:\n");
  EXPECT_EQ(limit_bytes(), 1024 * kMiB);
}

TEST_F(MemoryLimit, KeepsADefaultOfAQuarter) {
  EXPECT_EQ(default_memory_bytes(), std::max(memory_limit_bytes() / 4, kMiB));
}

}  // namespace
}  // namespace crawlstore::cli
