// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pictures of the inspector against those in tests/inspector/golden.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "inspector/shell/picture.h"

namespace crawlstore::testing {

/// Levels of a channel, of 256, by which a pixel may differ: what nobody sees. The processor
/// decides the last bits of a reciprocal square root in ImGui's lines (spec/decisions/0008).
inline constexpr int kLevelsMax = 2;

/// Never of pictures that could not be read.
inline bool is_like(const inspector::Picture& a, const inspector::Picture& b) {
  if (a.width != b.width || a.height != b.height || a.pixels.empty()) return false;
  return std::ranges::equal(a.pixels, b.pixels, [](std::uint32_t left, std::uint32_t right) {
    return std::ranges::all_of(std::array{0U, 8U, 16U, 24U}, [&](unsigned shift) {
      const auto level = [&](std::uint32_t pixel) {
        return static_cast<int>(pixel >> shift & 255U);
      };
      return std::abs(level(left) - level(right)) <= kLevelsMax;
    });
  });
}

/// Expects that the picture at `path` is like the golden one of that name; with
/// CRAWLSTORE_UPDATE_GOLDEN it becomes that. One that differs is kept in reports/.
inline void compare_picture(const std::string& path, const std::string& name) {
  namespace fs = std::filesystem;
  const std::string golden_path =
      std::string(CRAWLSTORE_SOURCE_DIR) + "/tests/inspector/golden/" + name;
  if (std::getenv("CRAWLSTORE_UPDATE_GOLDEN") != nullptr) {
    fs::copy_file(path, golden_path, fs::copy_options::overwrite_existing);
  }
  const bool is_same = is_like(inspector::read_png(path), inspector::read_png(golden_path));
  EXPECT_TRUE(is_same) << name << " differs; the new picture is in reports/";
  if (is_same) return;
  const char* build = std::getenv("CRAWLSTORE_BUILD_DIR");
  const std::string reports = std::string(build != nullptr ? build : "/tmp") + "/reports";
  fs::create_directories(reports);
  fs::copy_file(path, reports + "/" + name, fs::copy_options::overwrite_existing);
}

}  // namespace crawlstore::testing
