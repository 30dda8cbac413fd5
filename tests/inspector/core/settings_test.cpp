// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/settings.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "inspector/core/palette.h"
#include "model/utf8.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::inspector {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

PaneLayout random_layout(testing::SeededRandom& random, const std::string& name) {
  PaneLayout layout{name, {}, {}};
  for (std::uint64_t i = 0; i <= random.below(6); ++i) {
    layout.tabs.push_back("panel" + std::to_string(i));
  }
  layout.front = layout.tabs[random.below(layout.tabs.size())];
  layout.navigator_width = 80.0F + static_cast<float>(random.below(1521));
  layout.details_width = 80.0F + static_cast<float>(random.below(1521));
  return layout;
}

Settings random_settings(testing::SeededRandom& random) {
  Settings settings;
  settings.theme = palettes()[random.below(3)].name;
  settings.scale = 1.0F + static_cast<float>(random.below(1001)) / 1000.0F;
  settings.keep_window_size(200 + static_cast<int>(random.below(7993)),
                            150 + static_cast<int>(random.below(8043)));
  settings.layout = random_layout(random, named_layouts()[random.below(4)].layout.name);
  for (const NamedLayout& named : named_layouts()) {
    if (!random.one_in(2)) continue;
    settings.saved_layouts.push_back(random_layout(random, named.layout.name));
  }
  for (std::uint64_t i = random.below(Settings::kRecentMax + 1); i > 0;) {
    const std::string path = "/" + std::to_string(i) + random.hostile_text(6);
    if (!model::is_utf8(path)) continue;
    settings.recent.push_back(path);
    --i;
  }
  for (std::uint64_t i = random.below(5); i > 0; --i) {
    settings.keep_width("pages." + std::to_string(i),
                        1.0F + static_cast<float>(random.below(5000)));
  }
  return settings;
}

TEST(Settings, ComeBackFromTheirText) {
  testing::SeededRandom random;
  for (int i = 0; i < 300; ++i) {
    const Settings settings = random_settings(random);
    EXPECT_EQ(parse_settings(to_json(settings)), settings) << to_json(settings);
  }
}

TEST(Settings, TakeDefaultsForWhatIsOutOfRange) {
  const Settings defaults;
  for (const char* text :
       {"{}",
        R"({"scale": 0.5})",
        R"({"scale": 2.5})",
        R"({"scale": 1e300})",
        R"({"scale": -1})",
        R"({"scale": "2"})",
        R"({"scale": null})",
        R"({"window_width": 900, "window_height": 1e300})",
        R"({"window_width": 4294968296, "window_height": 700})",
        R"({"window_width": -900, "window_height": 700})",
        R"({"window_width": 199, "window_height": 700})",
        R"({"window_width": 900, "window_height": "700"})",
        R"({"window_width": 900})",
        R"({"theme": 3})",
        R"({"layout": "explore"})",
        R"({"layout": {"name": "no such", "tabs": ["map"]}})",
        R"({"layout": {"tabs": ["map"]}})",
        R"({"layout": {"name": "explore", "navigator_width": -5, "details_width": 1e9}})",
        R"({"layout": {"name": "explore", "tabs": []}})",
        R"({"saved_layouts": {}})",
        R"({"layout": {"name": "explore", "tabs": [1], "front": "no such"}})",
        R"({"saved_layouts": [3, [], {"name": 1}, {"name": "no such"}]})",
        R"({"theme": "no such"})",
        R"({"is_following": "no"})",
        R"({"recent": "x"})",
        R"({"recent": [1, 2]})",
        R"({"recent": {}})",
        R"({"of_version_9": [1, {"a": 2}]})"}) {
    EXPECT_EQ(parse_settings(text), defaults) << text;
  }
  EXPECT_EQ(parse_settings(R"({"scale": 1.5, "theme": 7})")->scale, 1.5F);
}

TEST(Settings, TakeEachTabAndEachNameOfALayoutOnce) {
  const auto settings = parse_settings(R"({"saved_layouts": [
      {"name": "queue", "tabs": ["a", "b", "a"], "front": "b"},
      {"name": "explore", "tabs": ["c"]},
      {"name": "queue", "tabs": ["d", "d", "e"], "front": "x"}]})");
  ASSERT_EQ(settings->saved_layouts.size(), 2U);
  EXPECT_EQ(settings->saved_layouts[0].front, "c");
  EXPECT_EQ(settings->saved_layouts[1].tabs, (std::vector<std::string>{"d", "e"}));
  EXPECT_EQ(settings->saved_layouts[1].front, "d");
}

TEST(Settings, TakeNoMoreTabsThanTheMost) {
  std::string tabs = "\"t\"";
  for (int i = 0; i < 1000; ++i) tabs += ",\"t" + std::to_string(i) + "\"";
  const auto settings = parse_settings(R"({"layout": {"name": "queue", "tabs": [)" + tabs + "]}}");
  EXPECT_EQ(settings->layout.tabs.size(), PaneLayout::kTabsMax);
}

TEST(Settings, FindALayoutAsItWasSavedOrAsItIsAtFirst) {
  Settings settings;
  EXPECT_EQ(settings.find_layout("no such"), nullptr);
  const PaneLayout first = *settings.find_layout("queue");
  settings.layout = {"queue", {"hex", "map"}, "map", 100, 200};
  EXPECT_EQ(*settings.find_layout("queue"), first);
  settings.save_layout();
  settings.save_layout();
  EXPECT_EQ(settings.saved_layouts.size(), 1U);
  EXPECT_EQ(*settings.find_layout("queue"), settings.layout);
  settings.forget_layout();
  EXPECT_EQ(*settings.find_layout("queue"), first);
}

TEST(Settings, RefuseWhatIsNoJsonObject) {
  for (const char* text : {"", "{", "[]", "3", "null", "{\"scale\": 1e999999}", "{} {}", "\xff"}) {
    EXPECT_EQ(parse_settings(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_settings(std::string(100'000, '[')), std::nullopt);
}

TEST(Settings, RememberTwentyPathsTheNewestFirst) {
  Settings settings;
  for (int i = 0; i < 30; ++i) settings.remember("/" + std::to_string(i));
  ASSERT_EQ(settings.recent.size(), Settings::kRecentMax);
  EXPECT_EQ(settings.recent.front(), "/29");
  settings.remember("/15");
  ASSERT_EQ(settings.recent.size(), Settings::kRecentMax);
  EXPECT_EQ(settings.recent[0], "/15");
  EXPECT_EQ(settings.recent[1], "/29");
  EXPECT_EQ(std::count(settings.recent.begin(), settings.recent.end(), "/15"), 1);
}

TEST(Settings, LeaveOutPathsThatJsonCannotHold) {
  Settings settings;
  settings.recent = {"/a", "/\xff", "/b"};
  EXPECT_EQ(parse_settings(to_json(settings))->recent, (std::vector<std::string>{"/a", "/b"}));
}

TEST(SettingsFile, IsSavedWithItsFolders) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "not/there/yet/inspector.json";
  EXPECT_EQ(load_settings(path), Settings{});
  testing::SeededRandom random;
  const Settings settings = random_settings(random);
  EXPECT_EQ(save_settings(settings, path), "");
  EXPECT_EQ(load_settings(path), settings);
  EXPECT_EQ(save_settings(Settings{}, path), "");
  EXPECT_EQ(load_settings(path), Settings{});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "not/there/yet"), {}), 1);
}

TEST(SettingsFile, IsKeptAsideWhenItIsDamaged) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "inspector.json";
  std::ofstream(path) << "{\"theme\": \"li";
  EXPECT_EQ(load_settings(path), Settings{});
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(text_of(path + ".damaged"), "{\"theme\": \"li");
}

TEST(Settings, KeepWidthsWithinBounds) {
  Settings settings;
  settings.keep_width("pages.url", 300);
  settings.keep_width("pages.state", 1);
  settings.keep_width("pages.score", 1e9F);
  const std::map<std::string, float> expected{{"pages.url", 300},
                                              {"pages.state", Settings::kWidthLeast},
                                              {"pages.score", Settings::kWidthMost}};
  EXPECT_EQ(settings.column_widths, expected);
  settings.keep_width("pages.url", 0);
  EXPECT_FALSE(settings.column_widths.contains("pages.url"));
  for (std::size_t i = 0; i < 2 * Settings::kWidthsMax; ++i) {
    settings.keep_width("t." + std::to_string(i), 100);
  }
  EXPECT_EQ(settings.column_widths.size(), Settings::kWidthsMax);
  EXPECT_TRUE(parse_settings(R"({"column_widths": {"a.b": "x"}})")->column_widths.empty());
  EXPECT_TRUE(parse_settings(R"({"column_widths": {"a.b": -3}})")->column_widths.empty());
}

TEST(SettingsFile, StaysAsItWasWhenSavingFails) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "file") << "no folder";
  EXPECT_NE(save_settings(Settings{}, folder / "file/inspector.json"), "");
  EXPECT_EQ(text_of(folder / "file"), "no folder");
}

TEST(SettingsPath, FollowsTheXdgRules) {
  const auto keep = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string old_home = keep("HOME");
  const std::string old_config = keep("XDG_CONFIG_HOME");
  ::setenv("HOME", "/home/me", 1);
  ::setenv("XDG_CONFIG_HOME", "/cfg", 1);
  EXPECT_EQ(settings_path(), "/cfg/crawlstore/inspector.json");
  ::setenv("XDG_CONFIG_HOME", "", 1);
  EXPECT_EQ(settings_path(), "/home/me/.config/crawlstore/inspector.json");
  ::setenv("XDG_CONFIG_HOME", "relative", 1);
  EXPECT_EQ(settings_path(), "/home/me/.config/crawlstore/inspector.json");
  ::unsetenv("XDG_CONFIG_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(settings_path(), "");
  ::setenv("HOME", old_home.c_str(), 1);
  if (!old_config.empty()) ::setenv("XDG_CONFIG_HOME", old_config.c_str(), 1);
}

}  // namespace
}  // namespace crawlstore::inspector
