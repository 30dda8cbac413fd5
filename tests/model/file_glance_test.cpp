// SPDX-License-Identifier: Apache-2.0
#include "model/file_glance.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>

#include "golden/patch.h"
#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

namespace fs = std::filesystem;
using testing::golden_paths;

TEST(FileGlance, TellsSizeAndGenerationOfEveryValidGolden) {
  for (const std::string& path : golden_paths("valid")) {
    const auto snapshot = Snapshot::open(path);
    ASSERT_TRUE(snapshot) << path;
    const FileGlance glance = glance_at(path);
    EXPECT_EQ(glance.problem, std::nullopt) << path;
    EXPECT_EQ(glance.generation, snapshot->generation()) << path;
    EXPECT_EQ(glance.file_bytes, fs::file_size(path)) << path;
    EXPECT_FALSE(glance.has_writer) << path;
  }
}

TEST(FileGlance, SeesAWriterWhileItHasTheFileOpen) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "a.crawl";
  auto store = Store::create(path);
  ASSERT_TRUE(store);
  EXPECT_TRUE(glance_at(path).has_writer);
  const auto reader = Snapshot::open(path);
  ASSERT_TRUE(store->close());
  EXPECT_FALSE(glance_at(path).has_writer) << "a reader is none";
}

TEST(FileGlance, SaysWhyAFileCannotBeOpened) {
  const testing::TemporaryFolder folder;
  const auto code_of = [](const std::string& path) {
    const auto problem = glance_at(path).problem;
    return problem ? problem->code : Errc{};
  };
  EXPECT_EQ(code_of(folder / "nowhere"), Errc::kNotFound);
  const std::string text = folder / "text";
  std::ofstream(text) << "no crawl file";
  EXPECT_EQ(code_of(text), Errc::kNotACrawlFile);
}

}  // namespace
}  // namespace crawlstore::model
