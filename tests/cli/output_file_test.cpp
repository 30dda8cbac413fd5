// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace crawlstore::cli {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(OutputFile, TakesThePlaceOfAFileAsAWhole) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "out";
  std::ofstream(path) << "old";
  {
    auto output = OutputFile::open(path);
    ASSERT_TRUE(output);
    const std::string text(1'000'000, 'x');
    output->tail() += text;
    ASSERT_TRUE(output->room());
    EXPECT_EQ(content(path), "old");
    EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"out", "out.part"}));
    ASSERT_TRUE(output->finish());
    EXPECT_EQ(content(path), text);
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"out"});
}

TEST(OutputFile, LeavesNothingWithoutItsEnd) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "out") << "old";
  {
    auto output = OutputFile::open(folder / "out");
    ASSERT_TRUE(output);
    output->tail() += "new";
  }
  EXPECT_EQ(content(folder / "out"), "old");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"out"});
}

TEST(OutputFile, KeepsOutOfThePartOfAnother) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "out.part") << "somebody else's";
  auto output = OutputFile::open(folder / "out");
  ASSERT_TRUE(output);
  output->tail() += "mine";
  ASSERT_TRUE(output->finish());
  EXPECT_EQ(content(folder / "out"), "mine");
  EXPECT_EQ(content(folder / "out.part"), "somebody else's");
}

TEST(OutputFile, WritesThroughLinks) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "target") << "old";
  std::filesystem::create_symlink("target", folder / "link");
  auto output = OutputFile::open(folder / "link");
  ASSERT_TRUE(output);
  output->tail() += "new";
  ASSERT_TRUE(output->finish());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(content(folder / "target"), "new");
}

TEST(OutputFile, ReportsWhatCannotBeWritten) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(OutputFile::open(folder / "none/out").error().code, Errc::kNotFound);
  auto full = OutputFile::open("/dev/full");
  ASSERT_TRUE(full);
  full->tail() += "x";
  EXPECT_EQ(full->finish().error().code, Errc::kNoSpace);
}

}  // namespace
}  // namespace crawlstore::cli
