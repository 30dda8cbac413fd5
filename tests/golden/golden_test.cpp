// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "golden/crafted_file.h"
#include "golden/golden_files.h"
#include "golden/golden_json.h"

namespace crawlstore::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(CRAWLSTORE_SOURCE_DIR) / "tests/golden";

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::byte> read_bytes(const fs::path& path) {
  const std::string text = read_text(path);
  const auto* begin = static_cast<const std::byte*>(static_cast<const void*>(text.data()));
  return {begin, begin + text.size()};
}

std::vector<fs::path> crawls(const char* folder) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(kFolder / folder)) {
    if (entry.path().extension() == ".crawl") all.push_back(entry.path());
  }
  return all;
}

TEST(Golden, ReadsEveryValidFileAsItsDocumentSays) {
  for (const fs::path& path : crawls("valid")) {
    const auto document = read_as_json(read_bytes(path));
    ASSERT_TRUE(document) << path << ": " << describe(document.error());
    EXPECT_EQ(document->dump(1) + '\n', read_text(fs::path(path).replace_extension("json")))
        << path;
  }
}

TEST(Golden, RejectsEveryRejectedFileWithItsClass) {
  for (const fs::path& path : crawls("rejected")) {
    const auto document = read_as_json(read_bytes(path));
    EXPECT_FALSE(document) << path;
    if (document) continue;
    EXPECT_EQ(std::string(name_of(document.error().code)) + '\n',
              read_text(fs::path(path).replace_extension("error")))
        << path << ": " << describe(document.error());
  }
}

TEST(Golden, KeepsTheBytesThatTheWriterWrites) {
  for (const GoldenFile& file : valid_files()) {
    EXPECT_EQ(file.bytes, read_bytes(kFolder / "valid" / (file.name + ".crawl"))) << file.name;
  }
}

TEST(Golden, HoldsTheDirectoryPiecesOfItsNames) {
  const auto file = [](const char* name) {
    return CraftedFile(read_bytes(kFolder / "valid" / name));
  };
  EXPECT_TRUE(file("held_inline.crawl").held_tables.empty());
  EXPECT_FALSE(file("held_inline.crawl").root.held.empty());
  EXPECT_FALSE(file("held_tables.crawl").held_tables.empty());
  EXPECT_GT(file("tables_several.crawl").tables.size(), 2U);
}

TEST(Golden, HoldsAtLeastThirtyValidAndSixtyRejectedFiles) {
  std::set<std::vector<std::byte>> different;
  for (const char* folder : {"valid", "rejected"}) {
    for (const fs::path& path : crawls(folder)) different.insert(read_bytes(path));
  }
  EXPECT_GE(crawls("valid").size(), 30U);
  EXPECT_GE(crawls("rejected").size(), 60U);
  EXPECT_EQ(different.size(), crawls("valid").size() + crawls("rejected").size());
}

}  // namespace
}  // namespace crawlstore::testing
