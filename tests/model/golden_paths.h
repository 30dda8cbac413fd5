// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The crawl files of tests/golden.

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace crawlstore::testing {

/// folder: "valid" or "rejected".
inline std::vector<std::string> golden_paths(const char* folder) {
  std::vector<std::string> paths;
  const auto golden = std::filesystem::path(CRAWLSTORE_SOURCE_DIR) / "tests/golden" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(golden)) {
    if (entry.path().extension() == ".crawl") paths.push_back(entry.path());
  }
  EXPECT_GE(paths.size(), 30U);
  return paths;
}

}  // namespace crawlstore::testing
