// SPDX-License-Identifier: Apache-2.0
// The start panel: what recent files are like, and which entries of a folder come first.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "inspector/inspector_file.h"

namespace crawlstore::testing {
namespace {

namespace fs = std::filesystem;
using inspector::HeadlessShell;

class StartPanel : public ::testing::Test {
 protected:
  StartPanel() {
    fs::copy_file(golden("keys_and_pending"), folder_ / "rest.crawl");
    std::ofstream(folder_ / "text.txt") << "no crawl file";
    fs::create_directory(folder_ / "a folder");
    fs::current_path(fs::path(folder_ / "."));
  }
  ~StartPanel() override { fs::current_path(before_); }

  /// A shell with these recent files.
  HeadlessShell& start(const std::vector<std::string>& names) {
    inspector::HeadlessOptions options{900, 560, {}};
    for (const std::string& name : names) options.settings.recent.push_back(folder_ / name);
    shell_.emplace(options);
    shell_->settle();
    return *shell_;
  }
  std::string shown(const std::string& label) {
    const auto* item = shell_->app().probe().find(label);
    return item == nullptr ? "nothing" : item->text;
  }

  TemporaryFolder folder_;
  fs::path before_ = fs::current_path();
  std::optional<HeadlessShell> shell_;
};

TEST_F(StartPanel, TellsSizeAndGenerationOfRecentFilesAndWhichAreLive) {
  auto live = Store::create(folder_ / "live.crawl");
  ASSERT_TRUE(live);
  add_urls(*live, 0, 10);
  start({"live.crawl", "gone.crawl", "rest.crawl", "text.txt"});
  EXPECT_EQ(shown("recent[0].state"), "generation 3");
  EXPECT_EQ(shown("recent[0].live"), "live");
  EXPECT_EQ(shown("recent[1].state"), "not there");
  EXPECT_EQ(shown("recent[1].live"), "nothing");
  EXPECT_EQ(shown("recent[2].state"), "generation 4");
  EXPECT_EQ(shown("recent[2].live"), "nothing");
  EXPECT_NE(shown("recent[2].bytes").find("KiB"), std::string::npos);
  EXPECT_EQ(shown("recent[3].state"), "no crawl file");
}

TEST_F(StartPanel, LooksAgainWhenSomebodyComesBackAfterAWhile) {
  start({"new.crawl"});
  EXPECT_EQ(shown("recent[0].state"), "not there");
  fs::copy_file(folder_ / "rest.crawl", folder_ / "new.crawl");
  run_step(*shell_, "hover", "recent[0]");
  EXPECT_EQ(shown("recent[0].state"), "not there");
  run_step(*shell_, "advance", "6");
  run_step(*shell_, "hover", "start.open");
  EXPECT_EQ(shown("recent[0].state"), "generation 4");
}

TEST_F(StartPanel, PutsCrawlFilesBeforeFoldersAndFoldersBeforeTheRest) {
  start({});
  EXPECT_EQ(shown("files[0].name"), "rest.crawl");
  EXPECT_EQ(shown("files[1].name"), "a folder");
  EXPECT_EQ(shown("files[2].name"), "text.txt");
}

TEST_F(StartPanel, OffersToRecoverAFileWithoutAnIdentityPage) {
  const std::string path = folder_ / "rest.crawl";
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << std::string(4096, 0);
  start({});
  EXPECT_EQ(shown("recovery.start"), "nothing");
  run_step(*shell_, "open", path);
  ASSERT_EQ(shell_->app().location().panel, "start");
  run_step(*shell_, "click", "recovery.start");
  run_step(*shell_, "key", "Enter");
  shell_->settle();
  EXPECT_TRUE(fs::exists(folder_ / "rest-recovered.crawl"));
  ASSERT_NE(shell_->app().session().recovery, nullptr);
  EXPECT_TRUE(shell_->app().session().recovery->report);
  run_step(*shell_, "command", "recover " + (folder_ / "rest-recovered.crawl"));
  EXPECT_EQ(shell_->app().session().log.back().text, "there is such a file");
  run_step(*shell_, "click", "recovery.open");
  EXPECT_EQ(shell_->app().session().view()->path, folder_ / "rest-recovered.crawl");
  EXPECT_TRUE(shell_->app().session().refused_path.empty());
}

}  // namespace
}  // namespace crawlstore::testing
