// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/command.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace crawlstore::inspector {
namespace {

Command command(std::string id, std::string keys, std::string* said) {
  Command made;
  made.id = std::move(id);
  made.title = "Title of " + made.id;
  made.keys = std::move(keys);
  made.run = [said, name = made.id](std::string_view argument) {
    *said += name + "(" + std::string(argument) + ")";
  };
  return made;
}

TEST(CommandRegistry, FindsByIdAndByKeys) {
  std::string said;
  CommandRegistry registry;
  registry.add(command("go_back", "Alt+Left", &said));
  registry.add(command("quit", "", &said));
  registry.add(command("about", "", &said));  // no keys do not clash
  ASSERT_NE(registry.find("go_back"), nullptr);
  EXPECT_EQ(registry.find("go_back")->title, "Title of go_back");
  EXPECT_EQ(registry.find(*parse_key_chord("Alt+Left")), registry.find("go_back"));
  EXPECT_EQ(registry.find(KeyChord{}), nullptr);
  EXPECT_EQ(registry.find(*parse_key_chord("Left")), nullptr);
  EXPECT_EQ(registry.find("Go_back"), nullptr);
  EXPECT_EQ(registry.find(""), nullptr);
  ASSERT_EQ(registry.all().size(), 3U);
  EXPECT_EQ(registry.all()[2].id, "about");
}

TEST(CommandRegistry, RunsWhatIsEnabled) {
  std::string said;
  CommandRegistry registry;
  registry.add(command("open", "", &said));
  bool is_enabled = false;
  Command sleeping = command("close", "", &said);
  sleeping.enabled = [&is_enabled] { return is_enabled; };
  registry.add(std::move(sleeping));
  EXPECT_TRUE(registry.run("open", "a.crawl"));
  EXPECT_FALSE(registry.run("close"));
  EXPECT_FALSE(registry.run("no such"));
  EXPECT_EQ(said, "open(a.crawl)");
  is_enabled = true;
  EXPECT_TRUE(registry.run("close"));
  EXPECT_EQ(said, "open(a.crawl)close()");
}

// acceptance: 16
TEST(CommandRegistryDeathTest, EndsTheProcessOnClashes) {
  std::string said;
  CommandRegistry registry;
  registry.add(command("find", "Ctrl+F", &said));
  EXPECT_DEATH(registry.add(command("find", "", &said)), "one id");
  EXPECT_DEATH(registry.add(command("filter", "Ctrl+F", &said)), "the same keys");
  EXPECT_DEATH(registry.add(command("filter", "ctrl+f", &said)), "do not exist");
}

}  // namespace
}  // namespace crawlstore::inspector
