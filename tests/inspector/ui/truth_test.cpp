// SPDX-License-Identifier: Apache-2.0
// What the window says of the file's health is so, whichever panel met it, and one damaged chunk
// hides no more than it holds.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using ::testing::HasSubstr;

class InspectorOfADamagedFile : public ::testing::Test {
 protected:
  InspectorOfADamagedFile() {
    Store store = must(Store::create(path_));
    PageDb pages = must(PageDb::open(store));
    crawl_web(pages, 3, 3000, kCrawlTimeUs);
    must(pages.merge());
    must(pages.close());
    must(store.close());
  }

  void damage(std::initializer_list<std::string_view> kinds) const {
    for (const std::string_view kind : kinds) damage_longest_run(path_, kind);
  }
  std::string shown(const std::string& label) {
    const auto* item = shell_.app().probe().find(label);
    return item == nullptr ? "nothing" : item->text;
  }
  bool shows(std::string_view text) { return shell_.app().probe().shows(text); }
  void visit(const std::string& location) { run_step(shell_, "goto", location); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "file.crawl";
  HeadlessShell shell_{{1280, 800, {}}};
};

TEST_F(InspectorOfADamagedFile, CountsWhatAPanelMeetsAtOnce) {
  damage({"in_links"});  // which the overview does not read
  open_file(shell_, path_);
  EXPECT_THAT(shown("status.problems"), HasSubstr("no problems, "));
  EXPECT_THAT(shown("status.problems"), HasSubstr("% checked"));
  visit("pages");
  EXPECT_EQ(shown("status.problems"), "1 problem");
  visit("overview");
  EXPECT_TRUE(shows("DAMAGED"));
  EXPECT_EQ(shown("overview.problems"), "1 problem");
  visit("problems");
  EXPECT_TRUE(shows("chunk_damaged"));
  // The check finds the same, and it stays one.
  run_step(shell_, "command", "verify");
  EXPECT_EQ(shown("status.problems"), "1 problem");
  visit("pages");
  EXPECT_EQ(shown("status.problems"), "1 problem");
}

TEST_F(InspectorOfADamagedFile, SaysWhichShareWasChecked) {
  open_file(shell_, path_);
  visit("overview");
  EXPECT_FALSE(shows("whole"));
  EXPECT_TRUE(shows("superblocks and directories were checked"));
  run_step(shell_, "command", "verify");
  EXPECT_EQ(shown("status.problems"), "no problems");
  EXPECT_TRUE(shows("whole"));
  EXPECT_TRUE(shows("every checksum was checked"));
}

TEST_F(InspectorOfADamagedFile, ShowsOfPagesWhatCanBeRead) {
  damage({"page_records", "in_links"});
  open_file(shell_, path_);
  visit("pages");
  EXPECT_TRUE(shows("http://a.example/page/1"));
  EXPECT_TRUE(shows("cannot be read"));
  visit("page/0");
  EXPECT_TRUE(shows("http://a.example/"));
  EXPECT_NE(shell_.app().probe().find("page.out_links"), nullptr);
  EXPECT_EQ(shown("status.problems"), "2 problems");
  visit("hosts");
  EXPECT_NE(shell_.app().probe().find("hosts[2].host"), nullptr);
  EXPECT_TRUE(shows("Not all that is counted here can be read"));
  EXPECT_EQ(shown("column.unreadable_count"), "unreadable");
  visit("links");
  EXPECT_TRUE(shows("direction"));
  EXPECT_NE(shell_.app().probe().find("problem_segment"), nullptr);
}

TEST_F(InspectorOfADamagedFile, SaysWhatTheDamageTouches) {
  damage({"page_records", "in_links"});
  open_file(shell_, path_);
  visit("pages");
  run_step(shell_, "command", "verify");
  visit("problems");
  EXPECT_TRUE(shows("What it touches"));
  EXPECT_TRUE(shows("links in"));
  EXPECT_TRUE(shows("record"));
  EXPECT_THAT(shown("reach[0].hosts"), HasSubstr(".example"));
}

TEST_F(InspectorOfADamagedFile, CountsWhatItFindsOutAboutPages) {
  damage({"in_links", "page_records"});
  open_file(shell_, path_);
  visit("problems");
  visit("pages");
  visit("problems");
  EXPECT_EQ(shown("status.problems"), "2 problems");
}

TEST_F(InspectorOfADamagedFile, SaysSoWhenItIsLost) {
  open_file(shell_, path_);
  visit("overview");
  for (const bool is_text : {true, false}) {
    std::filesystem::remove(path_);
    if (is_text) put_file(path_, std::vector<std::byte>(100, std::byte{'a'}));
    run_step(shell_, "key", "F5");
    EXPECT_TRUE(shows("LOST"));
    EXPECT_EQ(shown("status.problems"), "1 problem");
    EXPECT_EQ(shown("overview.problems"), "1 problem");
  }
}

TEST_F(InspectorOfADamagedFile, TakesLocationsOfAnyLength) {
  open_file(shell_, path_);
  const std::string name(20'000, 'a');
  for (const std::string place : {"host/", "queue/", "scores/", "pages/host/", "graph/host/"}) {
    visit(place + name);
    visit("overview");
  }
}

TEST_F(InspectorOfADamagedFile, KeepsTheDamageOfAnotherFileApart) {
  const std::string whole = folder_ / "whole.crawl";
  std::filesystem::copy_file(path_, whole);
  {
    // Other records: what both files share is not read.
    Store store = must(Store::open(whole));
    PageDb pages = must(PageDb::open(store));
    crawl_web(pages, 3, 3000, kCrawlTimeUs + 1);
    must(pages.merge());
    must(pages.close());
    must(store.close());
  }
  damage({"page_records"});
  open_file(shell_, whole);
  visit("diff");
  run_step(shell_, "click", "diff.older");
  run_step(shell_, "type", path_);
  run_step(shell_, "key", "Enter");
  EXPECT_TRUE(shows("The older state:"));
  EXPECT_TRUE(shows("chunk damaged"));
  EXPECT_THAT(shown("status.problems"), HasSubstr("no problems"));
  EXPECT_EQ(shell_.app().probe().find("problem_segment"), nullptr);
}

TEST_F(InspectorOfADamagedFile, SaysSoWhenItIsCutWhileItIsOpen) {
  open_file(shell_, path_);
  ASSERT_EQ(::truncate(path_.c_str(), 100'000), 0);
  run_step(shell_, "advance", "1");
  EXPECT_TRUE(shows("DAMAGED"));
  EXPECT_EQ(shown("status.problems"), "1 problem");
}

TEST_F(InspectorOfADamagedFile, ForgetsDamageWithTheFileThatHadIt) {
  damage({"page_records"});
  open_file(shell_, path_);
  visit("pages");
  ASSERT_EQ(shown("status.problems"), "1 problem");
  const std::string other = folder_ / "other.crawl";
  write_pages_file(other);
  ASSERT_EQ(::rename(other.c_str(), path_.c_str()), 0);
  run_step(shell_, "advance", "1");
  EXPECT_THAT(shown("status.problems"), HasSubstr("no problems"));
}

TEST(InspectorOfAWriter, AnnouncesWhatItDoesNotShow) {
  const TemporaryFolder folder;
  const std::string path = folder / "live.crawl";
  auto store = must(Store::create(path));
  add_urls(store, 0, 100);
  HeadlessShell shell({1280, 800, {}});
  open_file(shell, path);
  run_step(shell, "key", "F6");
  const auto shown_generation = shell.app().session().view()->info.generation;
  add_urls(store, 100, 100);
  run_step(shell, "advance", "1");
  EXPECT_EQ(shell.app().session().view()->info.generation, shown_generation);
  EXPECT_TRUE(shell.app().probe().shows("is there (F5)"));
  run_step(shell, "key", "F5");
  EXPECT_GT(shell.app().session().view()->info.generation, shown_generation);
  EXPECT_FALSE(shell.app().probe().shows("is there (F5)"));
}

TEST(InspectorOfAWriter, FollowsTheNextFileWhateverF6SaidOfThisOne) {
  HeadlessShell shell({1280, 800, {}});
  open_file(shell, golden("keys_and_pending"));
  run_step(shell, "key", "F6");
  EXPECT_FALSE(shell.app().session().is_following);
  open_file(shell, golden("unicode"));
  EXPECT_TRUE(shell.app().session().is_following);
}

}  // namespace
}  // namespace crawlstore::testing
