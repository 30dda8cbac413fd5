// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace crawlstore::cli {
namespace {

constexpr const char* kRest =
    "50 %, 5,308,416 keys, pages and links, 1,234,567 keys, pages and links/s, 4.3 s left";

TEST(ProgressLine, HasABarWhereThereIsRoom) {
  EXPECT_EQ(progress_line("verify: ", 0.5, "50 %", 79), "verify: [############............] 50 %");
  EXPECT_EQ(progress_line("verify: ", 0.5, "50 %", 25), "verify: [#####.....] 50 %");
}

TEST(ProgressLine, HasNoBarOfANumberThatIsNotKnown) {
  EXPECT_EQ(progress_line("import: ", -1, "50 lines", 79), "import: 50 lines");
}

TEST(ProgressLine, LeavesTheBarOutBeforeItIsCut) {
  EXPECT_EQ(progress_line("verify: ", 0.5, "50 %", 22), "verify: 50 %");
  EXPECT_EQ(progress_line("verify: ", 0.5, "50 %", 10), "verify: 50");
}

TEST(ProgressLine, IsNeverWiderThanItMayBe) {
  for (std::size_t width = 0; width < 200; ++width) {
    EXPECT_LE(progress_line("diff: ", 0.5, kRest, width).size(), width);
  }
}

}  // namespace
}  // namespace crawlstore::cli
