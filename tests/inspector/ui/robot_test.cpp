// SPDX-License-Identifier: Apache-2.0
// Runs every script of tests/inspector/robot and compares the pictures that it takes, pixel by
// pixel and within kLevelsMax, with those in tests/inspector/golden. CRAWLSTORE_UPDATE_GOLDEN=1
// writes them anew: look at each before you commit it.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"
#include "inspector/shell/picture.h"

namespace crawlstore::testing {
namespace {

namespace fs = std::filesystem;
using inspector::HeadlessShell;
using inspector::parse_script;
using inspector::Picture;
using inspector::read_png;
using inspector::ScriptStep;

/// Levels of a channel, of 256, by which a pixel may differ: what nobody sees. The processor
/// decides the last bits of a reciprocal square root in ImGui's lines (spec/decisions/0008).
constexpr int kLevelsMax = 2;
constexpr const char* kFallbackFont =
    "/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf";
const std::string kFolder = std::string(CRAWLSTORE_SOURCE_DIR) + "/tests/inspector";

std::vector<std::string> scripts() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder + "/robot")) {
    if (entry.path().extension() == ".script") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Never of pictures that could not be read.
bool is_like(const Picture& a, const Picture& b) {
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

TEST(RobotPictures, AreAlikeUpToTwoLevelsOfAChannel) {
  const Picture golden(4, 3, 0xff806040);
  for (const unsigned shift : {0U, 8U, 16U}) {
    for (std::size_t at = 0; at < golden.pixels.size(); ++at) {
      Picture other = golden;
      other.pixels[at] = golden.pixels[at] + (2U << shift);
      EXPECT_TRUE(is_like(other, golden) && is_like(golden, other));
      other.pixels[at] = golden.pixels[at] + (3U << shift);
      EXPECT_FALSE(is_like(other, golden) || is_like(golden, other)) << "3 levels, in one pixel";
    }
  }
  EXPECT_FALSE(is_like(Picture(3, 4, 0xff806040), golden));
  EXPECT_FALSE(is_like(Picture(), Picture())) << "neither could be read";
}

class Robot : public ::testing::TestWithParam<std::string> {};

/// `open NAME` opens a golden file, `open made/pages`, `made/scores` and `made/queue` those of
/// pages_file.h; `screenshot NAME` is compared with that golden picture.
// acceptance: 15
TEST_P(Robot, FindsWhatItLooksFor) {
  ASSERT_TRUE(fs::exists("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
      << "the pictures are of the fonts in the package fonts-dejavu-core";
  if (GetParam() == "unicode" && !fs::exists(kFallbackFont)) {
    GTEST_SKIP() << "the pictures need the package fonts-droid-fallback";
  }
  const TemporaryFolder folder;
  const bool must_update = std::getenv("CRAWLSTORE_UPDATE_GOLDEN") != nullptr;
  auto steps = parse_script(read_text(kFolder + "/robot/" + GetParam() + ".script"));
  ASSERT_FALSE(steps.empty());
  std::vector<std::string> pictures;
  for (ScriptStep& step : steps) {
    if (step.verb == "open" && step.argument.starts_with("made/")) {
      const bool has_scores = step.argument == "made/scores";
      const bool has_queue = step.argument == "made/queue";
      step.argument = folder / "pages.crawl";
      write_pages_file(step.argument, has_scores, has_queue);
    }
    if (step.verb == "open" && step.argument.find('/') == std::string::npos) {
      step.argument = golden(step.argument);
    }
    if (step.verb != "screenshot") continue;
    pictures.push_back(step.argument);
    step.argument = folder / step.argument;
  }
  HeadlessShell shell({900, 560, {}});
  // The tour is for whatever file is open.
  const bool has_file = std::ranges::find(steps, "open", &ScriptStep::verb) != steps.end();
  if (!has_file) open_file(shell, golden("keys_and_pending"));
  ASSERT_EQ(shell.run(steps), "");
  for (const std::string& name : pictures) {
    const std::string golden_path = kFolder + "/golden/" + name;
    if (must_update) {
      fs::copy_file(folder / name, golden_path, fs::copy_options::overwrite_existing);
    }
    const bool is_same = is_like(read_png(folder / name), read_png(golden_path));
    EXPECT_TRUE(is_same) << name << " differs; the new picture is in reports/";
    if (is_same) continue;
    const char* build = std::getenv("CRAWLSTORE_BUILD_DIR");
    const std::string reports = std::string(build != nullptr ? build : "/tmp") + "/reports";
    fs::create_directories(reports);
    fs::copy_file(folder / name, reports + "/" + name, fs::copy_options::overwrite_existing);
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, Robot, ::testing::ValuesIn(scripts()),
                         [](const auto& script) { return script.param; });

/// A picture that no script takes any more is a picture of nothing.
TEST(RobotFolder, HasNoPictureThatNoScriptTakes) {
  std::string all;
  for (const std::string& name : scripts()) {
    all += read_text(kFolder + "/robot/" + name + ".script");
  }
  for (const auto& entry : fs::directory_iterator(kFolder + "/golden")) {
    EXPECT_NE(all.find("screenshot " + entry.path().filename().string()), std::string::npos)
        << entry.path();
  }
}

}  // namespace
}  // namespace crawlstore::testing
