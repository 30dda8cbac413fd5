// SPDX-License-Identifier: Apache-2.0
// The acceptance tests of the inspector that need a fake clock, a writer, or counters. Their
// numbers are those of the design page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "golden/patch.h"
#include "inspector/inspector_file.h"
#include "support/bytes.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::uint64_t shown_generation(HeadlessShell& shell) {
  return shell.app().session().view()->info.generation.value;
}

class InspectorWithWriter : public ::testing::Test {
 protected:
  InspectorWithWriter() : store_(*Store::create(path_)) { add_urls(store_, 0, 1000); }
  /// The pins that another reader sees.
  [[nodiscard]] std::vector<PinInfo> pins() const {
    const auto snapshot = Snapshot::open(path_, {.pin = false});
    return snapshot->pins().value_or(std::vector<PinInfo>());
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "live.crawl";
  Store store_;
};

// acceptance: 9
TEST_F(InspectorWithWriter, SaysSoWhenTheFileIsCutWhileItIsOpen) {
  ASSERT_TRUE(store_.close());
  HeadlessShell shell({});
  open_file(shell, path_);
  run_step(shell, "goto", "buckets");
  ASSERT_EQ(::truncate(path_.c_str(), 100'000), 0);
  run_step(shell, "key", "F5");
  EXPECT_TRUE(shell.app().probe().shows("DAMAGED"));
  for (const auto& kind : inspector::panel_kinds()) {
    run_step(shell, "goto", std::string(kind.id));
  }
  run_step(shell, "command", "verify");
  EXPECT_THAT(shell.app().session().health.problems(), ::testing::Not(IsEmpty()));
}

// acceptance: 9
TEST_F(InspectorWithWriter, ShowsWhatItReadsFromAFileThatWasCutUnderIt) {
  ASSERT_TRUE(store_.close());
  HeadlessShell shell({});
  open_file(shell, path_);
  ASSERT_EQ(::truncate(path_.c_str(), 82'000), 0);
  // Without looking again: the mapping is longer than the file now.
  run_step(shell, "goto", "buckets");
  run_step(shell, "goto", "segments");
  run_step(shell, "goto", "hex/offset/0x14000");
  run_step(shell, "goto", "diff");
  EXPECT_NE(shell.app().session().view(), nullptr);
}

// acceptance: 10
TEST_F(InspectorWithWriter, FollowsEachCommitAndKeepsSelectionAndPlace) {
  HeadlessShell shell({});
  open_file(shell, path_);
  run_step(shell, "goto", "segments");
  run_step(shell, "click", "segments[1].kind");
  for (std::uint64_t i = 1; i <= 20; ++i) {
    add_urls(store_, 1000 * i, 10);
    run_step(shell, "advance", "0.25");
    EXPECT_EQ(shown_generation(shell), store_.generation().value);
  }
  EXPECT_EQ(shell.app().location().panel, "segments");
  EXPECT_EQ(shell.app().session().commits.size(), 20U);
  // A follower pins one generation, not twenty.
  EXPECT_LE(pins().size(), 1U);
}

TEST_F(InspectorWithWriter, StaysWhereItIsWhenItDoesNotFollow) {
  HeadlessShell shell({});
  open_file(shell, path_);
  run_step(shell, "key", "F6");
  const std::uint64_t before = shown_generation(shell);
  add_urls(store_, 5000, 10);
  run_step(shell, "advance", "1");
  EXPECT_EQ(shown_generation(shell), before);
  run_step(shell, "key", "F5");
  EXPECT_EQ(shown_generation(shell), store_.generation().value);
}

// acceptance: 11
TEST_F(InspectorWithWriter, LetsGoOfItsPinWhenNobodyLooks) {
  HeadlessShell shell({});
  open_file(shell, path_);
  run_step(shell, "key", "F6");
  EXPECT_EQ(pins().size(), 1U);
  run_step(shell, "advance", "59");
  EXPECT_EQ(pins().size(), 1U);
  run_step(shell, "advance", "2");
  EXPECT_THAT(pins(), IsEmpty());
  EXPECT_TRUE(shell.app().probe().shows("RELEASED"));
  // Somebody comes back.
  run_step(shell, "key", "F1");
  EXPECT_EQ(pins().size(), 1U);
}

// acceptance: 11
TEST_F(InspectorWithWriter, LetsGoOfAnOldPinWhileFollowingAnIdleWriter) {
  HeadlessShell shell({});
  open_file(shell, path_);
  run_step(shell, "advance", "300");
  EXPECT_THAT(pins(), IsEmpty());
  // A commit wakes it, and what is shown is new again.
  add_urls(store_, 5000, 10);
  run_step(shell, "advance", "1");
  EXPECT_EQ(shown_generation(shell), store_.generation().value);
}

// acceptance: 13
TEST(Inspector, ComesBackThroughEveryPlaceItWentTo) {
  HeadlessShell shell({});
  open_file(shell, golden("held_tables"));
  Random random(7);
  std::vector<std::string> been{inspector::format_location(shell.app().location())};
  for (int i = 0; i < 200; ++i) {
    std::string to;
    switch (random.below(4)) {
      case 0:
        to = "hex/offset/0x" + std::to_string(4096 * random.below(20));
        break;
      case 1:
        to = "segments/segment/" + std::to_string(1 + random.below(6));
        break;
      default:
        to = inspector::panel_kinds()[random.below(inspector::panel_kinds().size())].id;
    }
    run_step(shell, "goto", to);
    const std::string here = inspector::format_location(shell.app().location());
    if (here != been.back()) been.push_back(here);
  }
  for (std::size_t i = been.size(); i-- > 1;) {
    EXPECT_EQ(inspector::format_location(shell.app().location()), been[i]);
    run_step(shell, "key", "Alt+Left");
  }
  EXPECT_EQ(inspector::format_location(shell.app().location()), been.front());
}

// acceptance: 16
TEST(Inspector, RunsEveryCommandByItsId) {
  const TemporaryFolder folder;
  HeadlessShell listing({});
  for (const inspector::Command& command : listing.app().commands().all()) {
    SCOPED_TRACE(command.id);
    EXPECT_NE(command.title, "");
    EXPECT_NE(command.help, "");
    EXPECT_TRUE(!command.menu.empty() || !command.keys.empty());
    HeadlessShell shell({});
    open_file(shell, golden("many_blocks"));
    const bool wants_path = command.id == "export" || command.id == "screenshot";
    const std::string path = folder / (command.id == "export" ? "a.csv" : "a.png");
    shell.app().commands().run(command.id, wants_path ? path : "");
    shell.settle();
    EXPECT_FALSE(shell.app().probe().items().empty());
  }
}

// acceptance: 17
TEST(Inspector, ShowsNamesThatAreNoText) {
  const TemporaryFolder folder;
  const std::string path = folder / "names \xe6\x97\xa5\xe6\x9c\xac \xff\x01#.crawl";
  auto store = Store::create(path);
  ASSERT_TRUE(store);
  auto seen = UrlSeen::open(*store, "\xd9\x85\xd8\xb1 \xf0\x9f\x98\x80");
  ASSERT_TRUE(seen);
  ASSERT_TRUE(seen->update("http://xn--fsqu00a.xn--0zwm56d/\xe4\xbe\x8b"));
  ASSERT_TRUE(seen->update(std::string("\0\x01\xff", 3)));
  ASSERT_TRUE(seen->update("http://example.org/" + std::string(65'000, 'a')));
  ASSERT_TRUE(store->commit());
  HeadlessShell shell({});
  open_file(shell, path);
  ASSERT_NE(shell.app().session().view(), nullptr);
  run_step(shell, "goto", "buckets");
  run_step(shell, "click", "buckets.Requests that wait");
  for (const auto& kind : inspector::panel_kinds()) {
    run_step(shell, "goto", std::string(kind.id));
  }
}

// acceptance: 18
TEST(Inspector, DrawsEveryThemeAndScale) {
  for (const char* theme : {"theme_dark", "theme_light", "theme_contrast"}) {
    for (const char* size : {"800 500", "2560 1440"}) {
      HeadlessShell shell({});
      open_file(shell, golden("many_blocks"));
      run_step(shell, "command", theme);
      run_step(shell, "size", size);
      for (int i = 0; i < 4; ++i) run_step(shell, "key", "Ctrl+=");
      EXPECT_EQ(shell.app().settings().scale, 2);
      EXPECT_TRUE(shell.app().probe().shows("Health"));
    }
  }
}

// acceptance: 19
TEST(Inspector, SaysWhyAFileCannotBeOpened) {
  const TemporaryFolder folder;
  put_file(folder / "text.crawl", bytes_of("not a crawl file"));
  put_file(folder / "newer.crawl", rejected_file("identity_newer_version").bytes);
  const std::pair<std::string, std::string> cases[] = {
      {folder / "text.crawl", std::string(to_string(Errc::kNotACrawlFile))},
      {folder / "nowhere.crawl", std::string(to_string(Errc::kNotFound))},
      {folder.path(), std::string(to_string(Errc::kNotACrawlFile))},
      {folder / "newer.crawl", std::string(to_string(Errc::kNewerVersion))}};
  for (const auto& [path, word] : cases) {
    HeadlessShell shell({});
    open_file(shell, path);
    EXPECT_EQ(shell.app().session().view(), nullptr) << path;
    EXPECT_EQ(shell.app().location().panel, "start");
    EXPECT_TRUE(shell.app().probe().shows(path)) << path;
    EXPECT_TRUE(shell.app().probe().shows(word)) << path << " " << word;
  }
}

// acceptance: 20
TEST(Inspector, ExportsTheRowsThatAFilterShows) {
  const TemporaryFolder folder;
  HeadlessShell shell({});
  open_file(shell, golden("many_blocks"));
  run_step(shell, "goto", "segments");
  run_step(shell, "click", "segments.filter");
  run_step(shell, "type", "kind:partition");
  run_step(shell, "command", "export " + folder / "rows.csv");
  std::ifstream file(folder / "rows.csv");
  std::string head;
  std::string row;
  std::string more;
  std::getline(file, head);
  std::getline(file, row);
  EXPECT_THAT(head, HasSubstr("id,kind,storage_class"));
  EXPECT_THAT(row, HasSubstr("drum_partition"));
  EXPECT_FALSE(std::getline(file, more));
}

}  // namespace
}  // namespace crawlstore::testing
