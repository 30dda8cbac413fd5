// SPDX-License-Identifier: Apache-2.0
// Runs every script of tests/inspector/robot and compares the pictures that it takes, pixel by
// pixel and within kLevelsMax, with those in tests/inspector/golden. CRAWLSTORE_UPDATE_GOLDEN=1
// writes them anew: look at each before you commit it.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <gtest/gtest.h>

#include "inspector/frontier_file.h"
#include "inspector/golden_picture.h"
#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"
#include "inspector/shards_files.h"

namespace crawlstore::testing {
namespace {

namespace fs = std::filesystem;
using inspector::HeadlessShell;
using inspector::parse_script;
using inspector::Picture;
using inspector::ScriptStep;

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

/// A copy of a golden file, as pins of other tests that read it stand in the picture of its pins.
std::string copy_golden(const TemporaryFolder& folder, const std::string& name) {
  std::string path = folder / (name + ".crawl");
  fs::copy_file(golden(name), path, fs::copy_options::skip_existing);
  return path;
}

/// A file with one damaged chunk of pending auxiliary bytes, in the middle of its run.
void write_damaged_file(const std::string& path) {
  constexpr std::size_t kByte = 300'000;
  std::string bytes = read_text(golden("aux_of_many_chunks"));
  ASSERT_GT(bytes.size(), kByte);
  bytes[kByte] = static_cast<char>(~bytes[kByte]);
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A file with 64 MiB behind its high water mark, beside which all else is small.
void write_long_file(const std::string& path) {
  std::ofstream(path, std::ios::binary) << read_text(golden("keys_and_pending"));
  fs::resize_file(path, std::uintmax_t{64} << 20U);
}

/// Files of three shards, the last of which is a step behind.
///   returns  their paths, with blanks between
std::string write_shards(const std::string& folder) {
  ShardFiles files(folder);
  files.crawl(0);
  files.exchange();
  files.crawl(1);
  files.exchange(2);
  files.score("pagerank");
  files.score("half", 2);
  for (PageDb& pages : files.pages) must(pages.close());
  for (Store& store : files.stores) must(store.close());
  return files.paths[0] + " " + files.paths[1] + " " + files.paths[2];
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

/// `open NAME` opens a copy of a golden file, `open made/pages`, `made/scores` and `made/queue`
/// those of pages_file.h, `made/frontier` and `made/frontier_changes` those of frontier_file.h,
/// `made/damaged` and `made/long` those of the functions above, `open_shards made` the three of
/// shards_files.h; `screenshot NAME` is compared with
/// that golden picture.
// acceptance: 15
TEST_P(Robot, FindsWhatItLooksFor) {
  ASSERT_TRUE(fs::exists("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
      << "the pictures are of the fonts in the package fonts-dejavu-core";
  if (GetParam() == "unicode" && !fs::exists(kFallbackFont)) {
    GTEST_SKIP() << "the pictures need the package fonts-droid-fallback";
  }
  const TemporaryFolder folder;
  auto steps = parse_script(read_text(kFolder + "/robot/" + GetParam() + ".script"));
  ASSERT_FALSE(steps.empty());
  std::vector<std::string> pictures;
  for (ScriptStep& step : steps) {
    if (step.verb == "open" && (step.argument == "made/damaged" || step.argument == "made/long")) {
      const bool is_long = step.argument == "made/long";
      step.argument = folder / "changed.crawl";
      is_long ? write_long_file(step.argument) : write_damaged_file(step.argument);
    }
    if (step.verb == "open" && step.argument.starts_with("made/")) {
      const bool has_scores = step.argument == "made/scores";
      const bool has_queue = step.argument == "made/queue";
      const bool has_hosts = step.argument == "made/hosts";
      const bool is_changed = step.argument == "made/frontier_changes";
      const bool has_frontier = is_changed || step.argument == "made/frontier";
      step.argument = folder / "pages.crawl";
      if (has_hosts) {
        write_hosts_file(step.argument);
      } else if (has_frontier) {
        write_frontier_file(step.argument, is_changed);
      } else {
        write_pages_file(step.argument, has_scores, has_queue);
      }
    }
    if (step.verb == "open_shards") step.argument = write_shards(folder.path());
    if (step.verb == "open" && step.argument.find('/') == std::string::npos) {
      step.argument = copy_golden(folder, step.argument);
    }
    if (step.verb != "screenshot") continue;
    pictures.push_back(step.argument);
    step.argument = folder / step.argument;
  }
  HeadlessShell shell({900, 560, {}});
  // The tour is for whatever file is open.
  const bool has_file = std::ranges::find(steps, "open", &ScriptStep::verb) != steps.end();
  if (!has_file) open_file(shell, copy_golden(folder, "keys_and_pending"));
  ASSERT_EQ(shell.run(steps), "");
  for (const std::string& name : pictures) {
    compare_picture(folder / name, name);
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, Robot, ::testing::ValuesIn(scripts()),
                         [](const auto& script) { return script.param; });

/// A picture that no script takes any more is a picture of nothing.
TEST(RobotFolder, HasNoPictureThatNoScriptTakes) {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder + "/robot")) {
    if (entry.is_regular_file()) all += read_text(entry.path().string());
  }
  for (const auto& entry : fs::directory_iterator(kFolder + "/golden")) {
    EXPECT_NE(all.find("screenshot " + entry.path().filename().string()), std::string::npos)
        << entry.path();
  }
}

}  // namespace
}  // namespace crawlstore::testing
