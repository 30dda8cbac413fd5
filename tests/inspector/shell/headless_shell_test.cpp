// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "inspector/shell/picture.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using inspector::parse_script;
using ::testing::HasSubstr;

TEST(HeadlessShell, SaysWhichLineOfAScriptIsWrongBeforeItRunsAny) {
  HeadlessShell shell({});
  const std::string problem = shell.run(parse_script("open nowhere.crawl\n\n# note\nklick x\n"));
  EXPECT_THAT(problem, HasSubstr("line 4"));
  EXPECT_THAT(problem, HasSubstr("klick"));
  EXPECT_FALSE(shell.app().probe().shows("nowhere.crawl"));
}

TEST(HeadlessShell, SaysWhatAStepDidNotFind) {
  HeadlessShell shell({});
  EXPECT_THAT(shell.run(parse_script("click no_such_label")), HasSubstr("no_such_label"));
  EXPECT_THAT(shell.run(parse_script("expect no such text")), HasSubstr("no such text"));
  EXPECT_THAT(shell.run(parse_script("goto no/such/place/at/all")), HasSubstr("no such"));
  EXPECT_THAT(shell.run(parse_script("command no_such_command")), HasSubstr("no_such_command"));
  EXPECT_THAT(shell.run(parse_script("key Ctrl+Nonsense")), HasSubstr("Nonsense"));
  EXPECT_THAT(shell.run(parse_script("size 1 1")), HasSubstr("size"));
}

// acceptance: 7
TEST(HeadlessShell, DrawsNothingWhenNothingHappens) {
  HeadlessShell shell({});
  open_file(shell, golden("many_blocks"));
  shell.settle();
  const std::uint64_t frames = shell.frame_count();
  for (int i = 0; i < 100; ++i) run_step(shell, "advance", "0.25");
  EXPECT_EQ(shell.frame_count(), frames);
}

// acceptance: 15
TEST(HeadlessShell, DrawsTheSamePixelsTwice) {
  const auto draw = [] {
    HeadlessShell shell({});
    open_file(shell, golden("many_blocks"));
    run_step(shell, "goto", "hex/offset/0x25000");
    return shell.picture();
  };
  EXPECT_TRUE(draw() == draw());
}

TEST(HeadlessShell, DrawsAWindowOfAnySize) {
  HeadlessShell shell({640, 400, {}});
  open_file(shell, golden("many_blocks"));
  EXPECT_EQ(shell.picture().width, 640);
  run_step(shell, "size", "2560 1440");
  EXPECT_EQ(shell.picture().width, 2560);
  EXPECT_EQ(shell.picture().height, 1440);
}

TEST(Picture, ReadsBackWhatItWrote) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/a.png";
  inspector::Picture picture(3, 2, 0xff112233U);
  picture.pixels[4] = 0xffaabbccU;
  EXPECT_EQ(inspector::write_png(picture, path), "");
  EXPECT_TRUE(inspector::read_png(path) == picture);
}

TEST(Picture, SaysWhereItCannotBeWritten) {
  const inspector::Picture picture(3, 2, 0xff112233U);
  EXPECT_THAT(inspector::write_png(picture, "/nonexistent/a.png"), HasSubstr("/nonexistent/a.png"));
}

}  // namespace
}  // namespace crawlstore::testing
