// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/atomic_file.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace crawlstore::inspector {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

class AtomicFiles : public ::testing::Test {
 protected:
  std::string text() {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t file_count() {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), {}));
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "rows.csv";
};

TEST_F(AtomicFiles, AppearAsAWhole) {
  AtomicFile file(path_);
  file.write("a,b\r\n");
  file.write("\0\n\xff"s);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(file.finish(), "");
  EXPECT_EQ(text(), "a,b\r\n\0\n\xff"s);
  EXPECT_EQ(file_count(), 1U);
}

// acceptance: 20
TEST_F(AtomicFiles, LeaveNothingWhenTheyAreCancelled) {
  {
    AtomicFile file(path_);
    file.write("half a row");
  }
  EXPECT_EQ(file_count(), 0U);
}

// acceptance: 20
TEST_F(AtomicFiles, LeaveTheFileOfBeforeWhenTheyAreCancelled) {
  std::ofstream(path_) << "old";
  {
    AtomicFile file(path_);
    file.write("new");
    EXPECT_EQ(text(), "old");
  }
  EXPECT_EQ(text(), "old");
  EXPECT_EQ(file_count(), 1U);
  AtomicFile file(path_);
  file.write("new");
  EXPECT_EQ(file.finish(), "");
  EXPECT_EQ(text(), "new");
}

// acceptance: 20
TEST_F(AtomicFiles, LeaveNothingWhenTheyCannotTakeTheirName) {
  fs::create_directories(path_ + "/not_empty");
  {
    AtomicFile file(path_);
    file.write("rows");
    EXPECT_NE(file.finish(), "");
  }
  EXPECT_EQ(file_count(), 1U);
  EXPECT_TRUE(fs::is_directory(path_));
}

// acceptance: 20
TEST_F(AtomicFiles, DoNotMeetOthersOfTheirName) {
  AtomicFile one(path_);
  one.write("one ");
  {
    AtomicFile other(path_);
    other.write("other");
    one.write("one");
    EXPECT_EQ(file_count(), 2U);
    EXPECT_EQ(other.finish(), "");
    EXPECT_EQ(text(), "other");
  }
  { const AtomicFile cancelled(path_); }
  EXPECT_EQ(file_count(), 2U);
  EXPECT_EQ(one.finish(), "");
  EXPECT_EQ(text(), "one one");
  EXPECT_EQ(file_count(), 1U);
}

// acceptance: 20
TEST_F(AtomicFiles, AreWholeHoweverManyWriteAtOnce) {
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'i'; ++letter) {
    writers.emplace_back([this, letter] {
      for (int i = 0; i < 20; ++i) {
        AtomicFile file(path_);
        for (int piece = 0; piece < 50; ++piece) file.write(std::string(1000, letter));
        if (i % 5 == 0) continue;  // cancelled
        EXPECT_EQ(file.finish(), "");
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string found = text();
  EXPECT_EQ(found, std::string(50'000, found.front()));
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(AtomicFiles, LeaveThePartOfAnotherAlone) {
  std::ofstream(path_ + ".part") << "of a process that was killed";
  {
    AtomicFile file(path_);
    file.write("rows");
    EXPECT_EQ(file.finish(), "");
  }
  EXPECT_EQ(text(), "rows");
  std::ifstream part(path_ + ".part", std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(part), {}), "of a process that was killed");
  EXPECT_EQ(file_count(), 2U);
}

TEST_F(AtomicFiles, DoNotFollowALinkThatLiesInTheirWay) {
  fs::create_symlink(folder_ / "elsewhere", path_ + ".part");
  AtomicFile file(path_);
  file.write("rows");
  EXPECT_EQ(file.finish(), "");
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
  EXPECT_EQ(text(), "rows");
}

TEST_F(AtomicFiles, SayWhenTheyCannotBegin) {
  AtomicFile file(folder_ / "no such folder/x.csv");
  file.write("rows");
  EXPECT_EQ(file.finish(),
            "cannot write " + folder_.path() + "/no such folder/x.csv: No such file or directory");
  EXPECT_EQ(file_count(), 0U);
}

// acceptance: 20
TEST_F(AtomicFiles, LeaveNothingOnAFullDisk) {
  testing::TemporaryMount disk("size=64k");
  if (!disk.is_mounted()) GTEST_SKIP() << "needs root";
  const std::string path = disk / "rows.csv";
  {
    AtomicFile file(path);
    for (int i = 0; i < 100; ++i) file.write(std::string(4096, 'x'));
    EXPECT_NE(file.finish(), "");
  }
  EXPECT_TRUE(fs::is_empty(disk / "."));
}

}  // namespace
}  // namespace crawlstore::inspector
