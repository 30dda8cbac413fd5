// SPDX-License-Identifier: Apache-2.0
#include "cli/nearest_word.h"

#include <array>

#include <gtest/gtest.h>

namespace crawlstore::cli {
namespace {

const std::array<std::string, 4> kWords{"page", "pages", "rank", "--limit"};

TEST(NearestWord, MendsLettersThatAreWrongMissingTooManyOrSwapped) {
  EXPECT_EQ(nearest_word("pagis", kWords), "pages");
  EXPECT_EQ(nearest_word("ran", kWords), "rank");
  EXPECT_EQ(nearest_word("ranks", kWords), "rank");
  EXPECT_EQ(nearest_word("rnak", kWords), "rank");
  EXPECT_EQ(nearest_word("--limti", kWords), "--limit");
}

TEST(NearestWord, ChoosesTheFirstOfSeveral) {
  EXPECT_EQ(nearest_word("pagex", kWords), "page");
}

TEST(NearestWord, IsNoneWhereTooMuchIsWrong) {
  for (const char* word : {"", "x", "nonsense", "--quiet", "rapg"}) {
    EXPECT_EQ(nearest_word(word, kWords), std::nullopt) << word;
  }
  EXPECT_EQ(nearest_word(std::string(100, 'p'), kWords), std::nullopt);
}

}  // namespace
}  // namespace crawlstore::cli
