// SPDX-License-Identifier: Apache-2.0
// Nothing is cut off: all that the probe knows, every text, link, button and field, lies inside of
// the window that it is drawn in, and that inside of the pane around it; or there is a scrollbar
// that brings it into sight. Rows of tables, lines of bytes and tabs scroll by means of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using ::testing::IsEmpty;

struct Screen {
  int width;
  int height;
  float scale;
};

void PrintTo(const Screen& screen, std::ostream* out) {
  *out << screen.width << "x" << screen.height << " at " << screen.scale;
}

class Clipping : public ::testing::TestWithParam<Screen> {
 protected:
  static HeadlessShell shell() {
    inspector::Settings settings;
    settings.scale = GetParam().scale;
    return HeadlessShell({GetParam().width, GetParam().height, settings});
  }
  static std::vector<std::string> clipped(HeadlessShell& shell) {
    std::vector<std::string> found;
    for (const auto& item : shell.app().probe().items()) {
      if (item.is_clipped) found.push_back(item.label + " \"" + item.text + "\"");
    }
    return found;
  }
  /// The tab bar scrolls, and has to have scrolled to the tab in front.
  static void expect_tab_in_sight(HeadlessShell& shell, std::string_view panel) {
    const auto* tab = shell.app().probe().find("tab." + std::string(panel));
    const auto* left = shell.app().probe().find("splitter.left");
    const auto* right = shell.app().probe().find("splitter.right");
    const float middle = (tab->min.x + tab->max.x) / 2;
    EXPECT_GT(middle, left->max.x) << panel;
    EXPECT_LT(middle, right != nullptr ? right->min.x : static_cast<float>(GetParam().width))
        << panel;
  }
};

// acceptance: 18
TEST_P(Clipping, LeavesEveryPanelWhole) {
  auto window = shell();
  run_step(window, "frames", "2");
  EXPECT_THAT(clipped(window), IsEmpty()) << "start";
  for (const char* name : {"keys_and_pending", "buckets_64"}) {
    open_file(window, golden(name));
    for (const auto& kind : inspector::panel_kinds()) {
      run_step(window, "goto", std::string(kind.id));
      EXPECT_THAT(clipped(window), IsEmpty()) << name << " " << kind.id;
      expect_tab_in_sight(window, kind.id);
    }
  }
}

// acceptance: 18
TEST_P(Clipping, LeavesWhatIsSelectedWhole) {
  auto window = shell();
  open_file(window, golden("keys_and_pending"));
  for (const char* place :
       {"segment/6", "bucket/urls/1", "key/urls/d17707977078336c", "hex/offset/0x8000"}) {
    run_step(window, "goto", place);
    EXPECT_THAT(clipped(window), IsEmpty()) << place;
  }
  run_step(window, "goto", "segments");
  run_step(window, "key", "Tab");
  run_step(window, "key", "Enter");
  run_step(window, "type", "nosuchcolumn=3");
  EXPECT_THAT(clipped(window), IsEmpty()) << "filter";
  run_step(window, "goto", "diff");
  run_step(window, "click", "diff.previous");
  EXPECT_THAT(clipped(window), IsEmpty()) << "diff";
  for (const char* choice : {"map.by size", "map.as a table"}) {
    run_step(window, "goto", "map");
    run_step(window, "click", choice);
    EXPECT_THAT(clipped(window), IsEmpty()) << choice;
  }
  run_step(window, "key", "Ctrl+P");
  EXPECT_THAT(clipped(window), IsEmpty()) << "palette";
  run_step(window, "key", "Escape");
  run_step(window, "command", "go_to");
  EXPECT_THAT(clipped(window), IsEmpty()) << "question";
}

// acceptance: 18
TEST_P(Clipping, LeavesWhatIsWrongWhole) {
  const TemporaryFolder folder;
  const std::string path = folder / "a file with a name that is not short at all.crawl";
  auto bytes = file_bytes(golden("buckets_64"));
  for (std::size_t at = 0x28000; at < bytes.size(); at += 0x1000) bytes[at] ^= std::byte{1};
  bytes[0xc000] ^= std::byte{1};
  put_file(path, bytes);
  auto window = shell();
  open_file(window, path);
  run_step(window, "command", "verify_deep");
  ASSERT_TRUE(window.app().session().health.is_damaged());
  for (const auto& kind : inspector::panel_kinds()) {
    run_step(window, "goto", std::string(kind.id));
    EXPECT_THAT(clipped(window), IsEmpty()) << kind.id;
  }
  open_file(window, folder / "nowhere.crawl");
  EXPECT_THAT(clipped(window), IsEmpty()) << "start, with a problem";
}

std::vector<Screen> screens() {
  std::vector<Screen> all;
  for (const float scale : {1.0F, 1.5F, 2.0F}) {
    all.push_back({800, 500, scale});
    all.push_back({1280, 800, scale});
    all.push_back({2560, 1440, scale});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Screens, Clipping, ::testing::ValuesIn(screens()), [](const auto& screen) {
  return std::to_string(screen.param.width) + "_at_" +
         std::to_string(static_cast<int>(100 * screen.param.scale));
});

}  // namespace
}  // namespace crawlstore::testing
