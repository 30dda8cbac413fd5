// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/script.h"

#include <string>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::inspector {
namespace {

TEST(Script, SplitsStepsIntoVerbAndArgument) {
  const auto steps = parse_script(
      "# a comment\n"
      "open /tmp/a file.crawl\n"
      "\n"
      "   \t\n"
      "  key   Ctrl+Shift+P  \n"
      "\tclose\t\r\n"
      "  # another\n"
      "type # this is text");
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0].line, 2U);
  EXPECT_EQ(steps[0].verb, "open");
  EXPECT_EQ(steps[0].argument, "/tmp/a file.crawl");
  EXPECT_EQ(steps[1].line, 5U);
  EXPECT_EQ(steps[1].verb, "key");
  EXPECT_EQ(steps[1].argument, "Ctrl+Shift+P");
  EXPECT_EQ(steps[2].verb, "close");
  EXPECT_EQ(steps[2].argument, "");
  EXPECT_EQ(steps[3].line, 8U);
  EXPECT_EQ(steps[3].argument, "# this is text");
}

TEST(Script, TakesNothingForNoSteps) {
  EXPECT_TRUE(parse_script("").empty());
  EXPECT_TRUE(parse_script("\n\n# nothing\n").empty());
}

TEST(Script, GivesEveryStepAVerb) {
  testing::SeededRandom random;
  std::size_t count = 0;
  for (int i = 0; i < 5000; ++i) {
    std::size_t line = 0;
    for (const ScriptStep& step : parse_script(random.hostile_text(60))) {
      ++count;
      EXPECT_GT(step.line, line);
      line = step.line;
      EXPECT_FALSE(step.verb.empty());
      EXPECT_EQ(step.verb.find_first_of(" \t\n"), std::string::npos);
      EXPECT_NE(step.verb[0], '#');
      EXPECT_EQ(step.argument.find('\n'), std::string::npos);
      if (!step.argument.empty()) {
        EXPECT_NE(step.argument.front(), ' ');
        EXPECT_NE(step.argument.back(), ' ');
      }
    }
  }
  EXPECT_GT(count, 1000U);
}

}  // namespace
}  // namespace crawlstore::inspector
