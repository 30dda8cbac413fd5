// SPDX-License-Identifier: Apache-2.0
// Where keys go; and the signs that do not need colours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using ::testing::Contains;

/// The stops that Tab, or another key, leads to until it is where it began.
std::vector<std::string> walk(HeadlessShell& shell, const std::string& key) {
  std::vector<std::string> labels;
  for (int i = 0; i < 200; ++i) {
    run_step(shell, "key", key);
    const std::string label = shell.app().focus().label();
    if (!labels.empty() && label == labels.front()) return labels;
    labels.push_back(label);
  }
  ADD_FAILURE() << "200 stops, and no end";
  return labels;
}

TEST(Focus, WalksRoundEveryPanelAndBack) {
  HeadlessShell shell({});
  open_file(shell, golden("pages"));
  for (const auto& kind : inspector::panel_kinds()) {
    SCOPED_TRACE(kind.id);
    run_step(shell, "goto", std::string(kind.id));
    EXPECT_EQ(shell.app().focus().label(), "");
    if (kind.id == "jobs") continue;  // with nothing to press
    auto forth = walk(shell, "Tab");
    EXPECT_THAT(forth, ::testing::Each(::testing::Ne("")));
    auto back = walk(shell, "Shift+Tab");
    ASSERT_EQ(back.size(), forth.size());
    std::ranges::reverse(back);
    EXPECT_EQ(forth, back);
  }
}

TEST(Focus, ReachesEveryPanelAndDrumInTheNavigator) {
  HeadlessShell shell({1280, 900, {}});
  open_file(shell, golden("pages"));
  run_step(shell, "key", "Alt+1");
  const auto labels = walk(shell, "Down");
  const auto view = shell.app().session().view();
  std::size_t panel_count = 0;
  for (const auto& kind : inspector::panel_kinds()) {
    if (!has_things(shell.app().session(), kind)) continue;
    EXPECT_THAT(labels, Contains("navigator." + std::string(kind.id)));
    ++panel_count;
  }
  EXPECT_GE(panel_count + 2, inspector::panel_kinds().size()) << "all but frontier and shards";
  for (const DrumInfo& drum : view->drums) EXPECT_THAT(labels, Contains("drum." + drum.name));
  for (const PagesInfo& pages : view->pages) {
    EXPECT_THAT(labels, Contains("pages." + pages.name));
  }
  EXPECT_EQ(labels.size(), panel_count + view->drums.size() + view->pages.size());
}

TEST(Focus, LeavesATextFieldByTabAndKeepsItsText) {
  HeadlessShell shell({});
  open_file(shell, golden("many_blocks"));
  run_step(shell, "goto", "segments");
  run_step(shell, "click", "segments.filter");
  run_step(shell, "type", "kind:drum");
  EXPECT_EQ(shell.app().focus().label(), "segments.filter");
  run_step(shell, "key", "Tab");
  EXPECT_EQ(shell.app().focus().label(), "segments");
  run_step(shell, "key", "Down");
  EXPECT_EQ(shell.app().probe().find("segments.filter")->text, "kind:drum");
  EXPECT_TRUE(shell.app().probe().shows("segments, row"));
}

TEST(Focus, GoesToTheTableThatWasClicked) {
  HeadlessShell shell({});
  open_file(shell, golden("keys_and_pending"));
  run_step(shell, "goto", "buckets");
  run_step(shell, "click", "buckets.As a table");
  run_step(shell, "click", "buckets[0].first_key");
  run_step(shell, "key", "Down");
  EXPECT_TRUE(shell.app().probe().shows("of bucket 1"));
  run_step(shell, "click", "keys[1].row");
  run_step(shell, "key", "Up");
  EXPECT_TRUE(shell.app().probe().shows("of bucket 1"));
  EXPECT_EQ(shell.app().focus().label(), "keys");
}

TEST(Focus, LeavesKeysToBoxesThatAreOpen) {
  HeadlessShell shell({});
  open_file(shell, golden("many_blocks"));
  run_step(shell, "goto", "segments");
  run_step(shell, "key", "Ctrl+P");
  run_step(shell, "key", "Down");
  run_step(shell, "key", "Tab");
  EXPECT_EQ(shell.app().focus().label(), "");
  EXPECT_FALSE(shell.app().probe().shows("segments, row"));
}

TEST(Focus, PressesOnlyTheButtonThatHasIt) {
  HeadlessShell shell({});
  open_file(shell, golden("many_blocks"));
  run_step(shell, "goto", "problems");
  run_step(shell, "key", "Tab");
  run_step(shell, "key", "Tab");
  run_step(shell, "key", "Tab");
  ASSERT_EQ(shell.app().focus().label(), "problems.deep");
  run_step(shell, "key", "Enter");
  EXPECT_EQ(shell.app().session().health.checked()->level, VerifyLevel::kDeep);
}

TEST(StatusBar, ShowsASignForWhatIsWrong) {
  HeadlessShell shell({});
  open_file(shell, golden("many_blocks"));
  EXPECT_EQ(shell.app().probe().find("sign.bad"), nullptr);
  EXPECT_EQ(shell.app().probe().find("sign.warning"), nullptr);
  open_file(shell, golden("copy_0_torn"));
  EXPECT_NE(shell.app().probe().find("sign.warning"), nullptr);
}

TEST(StatusBar, ShowsAnotherSignForAFileThatIsDamaged) {
  const TemporaryFolder folder;
  auto bytes = file_bytes(golden("many_blocks"));
  bytes[0x28000 + 100] ^= std::byte{1};
  put_file(folder / "a.crawl", bytes);
  HeadlessShell shell({});
  open_file(shell, folder / "a.crawl");
  run_step(shell, "command", "verify");
  ASSERT_TRUE(shell.app().session().health.is_damaged());
  EXPECT_NE(shell.app().probe().find("sign.bad"), nullptr);
  EXPECT_EQ(shell.app().probe().find("sign.warning"), nullptr);
  EXPECT_THAT(shell.app().probe().find("status.problems")->text, ::testing::EndsWith("problem"));
}

}  // namespace
}  // namespace crawlstore::testing
