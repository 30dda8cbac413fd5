// SPDX-License-Identifier: Apache-2.0
#include "cli/spool.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace crawlstore::cli {
namespace {

std::string drained(Spool& spool) {
  std::string all;
  EXPECT_TRUE(spool.drain([&all](std::string_view piece) -> Result<void> {
    all += piece;
    return {};
  }));
  return all;
}

TEST(Spool, GivesBackAllBytesInOrder) {
  const testing::TemporaryFolder folder;
  Spool spool(folder.path(), 1000);
  for (int round = 0; round < 3; ++round) {
    std::string expected;
    for (int i = 0; i < 5000 * round; ++i) {
      const std::string line = std::to_string(i) + "\n";
      expected += line;
      spool.tail() += line;
      ASSERT_TRUE(spool.room());
      EXPECT_LT(spool.tail().size(), 1000U);
    }
    EXPECT_EQ(spool.empty(), expected.empty());
    EXPECT_EQ(drained(spool), expected);
    EXPECT_TRUE(spool.empty());
  }
}

TEST(Spool, LeavesNoFileBehind) {
  const testing::TemporaryFolder folder;
  Spool spool(folder.path(), 10);
  spool.tail() = std::string(100, 'x');
  ASSERT_TRUE(spool.room());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Spool, IsEmptyAfterAVisitorFailed) {
  const testing::TemporaryFolder folder;
  Spool spool(folder.path(), 10);
  spool.tail() = std::string(100, 'x');
  ASSERT_TRUE(spool.room());
  const auto failed = spool.drain(
      [](std::string_view) -> Result<void> { return fail(Errc::kNoSpace, "the visitor"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kNoSpace);
  EXPECT_TRUE(spool.empty());
}

TEST(Spool, ForgetsWhatIsDropped) {
  const testing::TemporaryFolder folder;
  Spool spool(folder.path(), 10);
  spool.tail() = std::string(100, 'x');
  ASSERT_TRUE(spool.room());
  spool.tail() += "y";
  spool.drop();
  EXPECT_EQ(drained(spool), "");
  spool.tail() += "z";
  EXPECT_EQ(drained(spool), "z");
}

TEST(Spool, ReportsAFolderThatIsNotThere) {
  Spool spool("/nonexistent/folder", 10);
  spool.tail() = std::string(100, 'x');
  EXPECT_FALSE(spool.room());
}

}  // namespace
}  // namespace crawlstore::cli
