// SPDX-License-Identifier: Apache-2.0
// Names and URLs of any bytes: they are shown, stay in their panes, lead to their bytes, and copies
// of them are exact. Pictures: tests/inspector/robot/unicode.script.
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <crawlstore/drum_view.h>

#include "inspector/core/shown_text.h"
#include "inspector/inspector_file.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using inspector::ProbeItem;
using inspector::shown_text;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Nothing reaches out of the window, nor what is in the navigator out of that.
void expect_in_place(HeadlessShell& shell, float width) {
  const float scale = shell.app().settings().scale;
  const float navigator =
      std::min(shell.app().settings().layout.navigator_width * scale, width * 0.3F);
  for (const ProbeItem& item : shell.app().probe().items()) {
    SCOPED_TRACE(item.label + " " + item.text.substr(0, 80));
    EXPECT_GE(item.min.x, 0);
    const bool is_in_navigator = item.label.starts_with("drum.");
    EXPECT_LE(item.max.x, is_in_navigator ? navigator + 16 : width);
  }
}

class Unicode : public ::testing::Test {
 protected:
  void SetUp() override {
    urls_ = waiting_urls();
    ASSERT_EQ(urls_.size(), 8U);
    open_file(shell_, golden("unicode"));
    run_step(shell_, "goto", "buckets");
    run_step(shell_, "click", "buckets.Requests that wait");
  }
  static std::string cell(std::size_t row) { return "pending[" + std::to_string(row) + "].aux"; }
  [[nodiscard]] std::string text_of(const std::string& label) {
    const ProbeItem* item = shell_.app().probe().find(label);
    return item == nullptr ? "nothing is called " + label : item->text;
  }

  HeadlessShell shell_{{1600, 1000, {}}};
  std::vector<std::string> urls_;
};

// acceptance: 17
TEST_F(Unicode, IsShownByteForByte) {
  for (std::size_t i = 0; i + 1 < urls_.size(); ++i) {
    EXPECT_EQ(text_of(cell(i)), shown_text(urls_[i]));
  }
  EXPECT_EQ(text_of(cell(7)), urls_[7].substr(0, 4096) + " ... 65536 bytes");
  EXPECT_THAT(text_of("buckets.drum." + shown_text(shell_.app().session().view()->drums[0].name)),
              HasSubstr("## "));
}

// acceptance: 17
TEST_F(Unicode, IsCopiedExactly) {
  std::size_t hex_count = 0;
  for (std::size_t i = 0; i < urls_.size(); ++i) {
    run_step(shell_, "right_click", cell(i));
    run_step(shell_, "click", "menu.copy_cell");
    const auto expected = inspector::copied_text(urls_[i], model::Unit::kText);
    EXPECT_EQ(shell_.clipboard(), expected.text) << i;
    if (expected.is_hex) ++hex_count;
  }
  EXPECT_EQ(hex_count, 2U);
}

// acceptance: 17
TEST_F(Unicode, IsFoundByTheFilterThatACellMakes) {
  for (std::size_t i = 0; i < urls_.size(); ++i) {
    run_step(shell_, "right_click", cell(i));
    run_step(shell_, "click", "menu.filter");
    EXPECT_TRUE(shell_.app().probe().shows("1 of 8")) << i;
    EXPECT_NE(shell_.app().probe().find(cell(i)), nullptr) << i;
    run_step(shell_, "key", "Alt+Left");
    run_step(shell_, "key", "Alt+Right");
    run_step(shell_, "click", "pending.filter");
    run_step(shell_, "key", "Ctrl+A");
    run_step(shell_, "key", "Delete");
    EXPECT_FALSE(shell_.app().probe().shows("1 of 8"));
  }
}

// acceptance: 17
TEST_F(Unicode, IsOneClickFromItsBytes) {
  for (std::size_t i = 0; i < urls_.size(); ++i) {
    run_step(shell_, "click", "pending[" + std::to_string(i) + "].run_offset_bytes");
    EXPECT_THAT(inspector::format_location(shell_.app().location()), StartsWith("hex/offset/0x"));
    run_step(shell_, "key", "Alt+Left");
  }
}

// acceptance: 17, 18
TEST(UnicodeLayout, StaysInItsPanes) {
  const TemporaryFolder folder;
  std::string name = "\u65e5\u672c \u0645\u0631 \U0001f600 \xff\x01## ";
  while (name.size() < 240) name += "\u8a9e";
  std::filesystem::copy_file(golden("unicode"), folder / name);
  for (const bool is_large : {false, true}) {
    SCOPED_TRACE(is_large ? "1600 1000 at 2x" : "800 500");
    HeadlessShell shell({});
    open_file(shell, folder / name);
    run_step(shell, "size", is_large ? "1600 1000" : "800 500");
    for (int i = 0; is_large && i < 4; ++i) run_step(shell, "key", "Ctrl+=");
    run_step(shell, "goto", "buckets");
    run_step(shell, "click", "buckets.Requests that wait");
    run_step(shell, "click", "pending[0].sequence");
    for (int i = 0; i < 8; ++i) {
      expect_in_place(shell, is_large ? 1600.0F : 800.0F);
      run_step(shell, "key", "Down");
    }
    run_step(shell, "goto", "start");
    expect_in_place(shell, is_large ? 1600.0F : 800.0F);
  }
}

// acceptance: 17
TEST(UnicodeNames, StandInTitleCrumbAndListOfFiles) {
  const TemporaryFolder folder;
  const std::string name = "\u65e5\u672c \xff\x01## \U0001f600.crawl";
  const std::string shown = "\u65e5\u672c \\xff\\x01## \\u{1f600}.crawl";
  std::filesystem::copy_file(golden("unicode"), folder / name);
  HeadlessShell shell({});
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  run_step(shell, "goto", "start");
  std::filesystem::current_path(before);
  run_step(shell, "double_click", shown);
  ASSERT_NE(shell.app().session().view(), nullptr);
  EXPECT_EQ(shell.app().session().view()->path, folder / name);
  EXPECT_THAT(shell.app().title(), StartsWith(shown));
  ASSERT_NE(shell.app().probe().find("crumb.file"), nullptr);
  EXPECT_EQ(shell.app().probe().find("crumb.file")->text, shown);
  run_step(shell, "goto", "start");
  ASSERT_NE(shell.app().probe().find("recent[0]"), nullptr);
  EXPECT_THAT(shell.app().probe().find("recent[0]")->text, EndsWith(shown));
  run_step(shell, "command", "close");
  run_step(shell, "click", "recent[0]");
  EXPECT_NE(shell.app().session().view(), nullptr);
}

}  // namespace
}  // namespace crawlstore::testing
