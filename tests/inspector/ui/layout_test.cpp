// SPDX-License-Identifier: Apache-2.0
// Which panels are open, and how that comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/inspector_file.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using inspector::PaneLayout;
using inspector::Settings;
using ::testing::ElementsAre;

/// The tabs on the screen, from left to right.
std::vector<std::string> shown_tabs(HeadlessShell& shell) {
  std::vector<std::pair<float, std::string>> tabs;
  for (const auto& item : shell.app().probe().items()) {
    if (item.label.starts_with("tab.")) tabs.emplace_back(item.min.x, item.label.substr(4));
  }
  std::ranges::sort(tabs);
  std::vector<std::string> names;
  for (auto& [left, name] : tabs) names.push_back(std::move(name));
  return names;
}

/// The settings that another start would find.
class InspectorLayout : public ::testing::Test {
 protected:
  HeadlessShell start() const {
    return HeadlessShell({1280, 800, inspector::load_settings(path_), path_});
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "inspector.json";
};

TEST(InspectorLayouts, NameOnlyPanelsThatExistEachOnce) {
  for (const inspector::NamedLayout& named : inspector::named_layouts()) {
    const PaneLayout& layout = named.layout;
    SCOPED_TRACE(layout.name);
    EXPECT_EQ(inspector::find_layout(layout.name), &named);
    EXPECT_THAT(layout.tabs, ::testing::Contains(layout.front));
    for (const std::string& tab : layout.tabs) {
      EXPECT_EQ(std::ranges::count(layout.tabs, tab), 1);
      EXPECT_EQ(std::ranges::count(inspector::panel_kinds(), tab, &inspector::PanelKind::id), 1);
    }
  }
}

TEST(InspectorLayouts, OpenTheirTabsInTheirOrder) {
  HeadlessShell shell({1280, 800, {}});
  open_file(shell, golden("pages"));
  for (const inspector::NamedLayout& named : inspector::named_layouts()) {
    run_step(shell, "goto", "report");
    run_step(shell, "command", "layout." + named.layout.name);
    auto tabs = named.layout.tabs;
    std::erase(tabs, "frontier");  // of which the file has none
    EXPECT_EQ(shown_tabs(shell), tabs);
    EXPECT_EQ(shell.app().location().panel, named.layout.front);
    run_step(shell, "key", "Alt+Left");
    EXPECT_EQ(shell.app().location().panel, "report");
  }
}

TEST(InspectorLayouts, KeepWhatAPanelShowsThatStaysOpen) {
  HeadlessShell shell({});
  open_file(shell, golden("many_blocks"));
  run_step(shell, "goto", "segments");
  run_step(shell, "click", "segments.filter");
  run_step(shell, "type", "kind:partition");
  run_step(shell, "command", "layout.structure");
  run_step(shell, "click", "tab.segments");
  EXPECT_NE(shell.app().probe().find("segments.filter")->text.find("partition"), std::string::npos);
}

TEST_F(InspectorLayout, ComesBackAtTheNextStart) {
  {
    HeadlessShell shell = start();
    open_file(shell, golden("many_blocks"));
    run_step(shell, "command", "layout.structure");
    run_step(shell, "goto", "log");
    run_step(shell, "goto", "segments");
    run_step(shell, "command", "close_tab");
    run_step(shell, "click", "tab.map");
  }
  HeadlessShell shell = start();
  EXPECT_THAT(shown_tabs(shell), ElementsAre());
  shell.settle();
  EXPECT_THAT(shown_tabs(shell), ElementsAre("start"));
  // Another file: the tabs are the application's.
  open_file(shell, golden("keys_and_pending"));
  EXPECT_THAT(shown_tabs(shell), ElementsAre("map", "hex", "log"));
  EXPECT_EQ(shell.app().location().panel, "map");
  EXPECT_EQ(shell.app().settings().layout.name, "structure");
}

TEST_F(InspectorLayout, StaysWhenTheFileIsClosedBeforeTheEnd) {
  {
    HeadlessShell shell = start();
    open_file(shell, golden("many_blocks"));
    run_step(shell, "command", "layout.queue");
    run_step(shell, "command", "close");
    EXPECT_THAT(shown_tabs(shell), ElementsAre("start"));
  }
  EXPECT_EQ(inspector::load_settings(path_).layout, inspector::find_layout("queue")->layout);
}

TEST_F(InspectorLayout, IsThatOfTheLastFileWhenTheNextIsOpenedFromTheStartPanel) {
  HeadlessShell shell = start();
  open_file(shell, golden("many_blocks"));
  run_step(shell, "command", "layout.structure");
  run_step(shell, "click", "tab.segments");
  run_step(shell, "key", "Ctrl+O");
  EXPECT_THAT(shown_tabs(shell), ElementsAre("map", "segments", "hex", "start"));
  run_step(shell, "click", "start.path");
  run_step(shell, "type", golden("empty"));
  run_step(shell, "key", "Enter");
  EXPECT_THAT(shown_tabs(shell), ElementsAre("map", "segments", "hex"));
  EXPECT_EQ(shell.app().location().panel, "segments");
}

TEST_F(InspectorLayout, OpensPanelsThatTheFileCannotFill) {
  HeadlessShell shell = start();
  open_file(shell, golden("empty"));
  run_step(shell, "command", "layout.queue");
  EXPECT_EQ(shell.app().location().panel, "buckets");
  EXPECT_TRUE(shell.app().probe().shows("no DRUM"));
}

/// A file without pages has no tabs for them; the next file that has some gets them back.
TEST_F(InspectorLayout, KeepsTabsOfPagesForFilesThatHaveSome) {
  const auto all = inspector::find_layout("explore")->layout.tabs;
  {
    HeadlessShell shell = start();
    open_file(shell, golden("many_blocks"));
    EXPECT_THAT(shown_tabs(shell), ElementsAre("overview", "segments", "buckets", "generations"));
    run_step(shell, "goto", "segments");
  }
  HeadlessShell shell = start();
  open_file(shell, golden("pages"));
  EXPECT_EQ(shown_tabs(shell), all);
}

TEST_F(InspectorLayout, IsSavedUnderItsNameAndReset) {
  {
    HeadlessShell shell = start();
    open_file(shell, golden("pages"));
    run_step(shell, "goto", "report");
    run_step(shell, "command", "layout.save");
    run_step(shell, "command", "layout.forensics");
  }
  HeadlessShell shell = start();
  open_file(shell, golden("pages"));
  run_step(shell, "command", "layout.explore");
  const auto first = inspector::find_layout("explore")->layout.tabs;
  auto with_report = first;
  with_report.emplace_back("report");
  EXPECT_EQ(shown_tabs(shell), with_report);
  EXPECT_EQ(shell.app().location().panel, "report");
  run_step(shell, "command", "layout.reset");
  EXPECT_EQ(shown_tabs(shell), first);
  EXPECT_TRUE(inspector::load_settings(path_).saved_layouts.empty());
}

TEST_F(InspectorLayout, TakesTheOrderOfTabsThatAreDragged) {
  HeadlessShell shell = start();
  open_file(shell, golden("many_blocks"));
  run_step(shell, "command", "layout.structure");
  run_step(shell, "drag", "tab.hex -60 0");
  EXPECT_THAT(shown_tabs(shell), ElementsAre("map", "hex", "segments"));
  run_step(shell, "key", "Ctrl+Tab");
  EXPECT_EQ(shell.app().location().panel, "segments");
  run_step(shell, "command", "layout.save");
  EXPECT_THAT(inspector::load_settings(path_).layout.tabs, ElementsAre("map", "hex", "segments"));
  run_step(shell, "command", "layout.reset");
  EXPECT_THAT(shown_tabs(shell), ElementsAre("map", "segments", "hex"));
}

TEST_F(InspectorLayout, LeavesOutPanelsOfAnotherVersion) {
  Settings settings;
  settings.layout = {"queue", {"no such", "hex", "of_version_9"}, "no such"};
  HeadlessShell shell({1280, 800, settings});
  open_file(shell, golden("many_blocks"));
  EXPECT_THAT(shown_tabs(shell), ElementsAre("hex"));
  settings.layout = {"queue", {"no such"}, "no such"};
  HeadlessShell other({1280, 800, settings});
  open_file(other, golden("many_blocks"));
  EXPECT_THAT(shown_tabs(other), ElementsAre("overview"));
}

TEST_F(InspectorLayout, KeepsWidthsThatAreDragged) {
  HeadlessShell shell = start();
  open_file(shell, golden("many_blocks"));
  run_step(shell, "goto", "segments");
  run_step(shell, "click", "segments[0].kind");
  const auto& layout = shell.app().settings().layout;
  const float navigator = layout.navigator_width;
  const float details = layout.details_width;
  run_step(shell, "drag", "splitter.left 50 0");
  run_step(shell, "drag", "splitter.right 50 0");
  EXPECT_EQ(layout.navigator_width, navigator + 50);
  EXPECT_EQ(layout.details_width, details - 50);
  run_step(shell, "command", "layout.explore");
  EXPECT_EQ(layout.navigator_width, navigator);
  EXPECT_EQ(layout.details_width, details);
}

}  // namespace
}  // namespace crawlstore::testing
