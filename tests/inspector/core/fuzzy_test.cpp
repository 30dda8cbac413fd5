// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/fuzzy.h"

#include <string>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::inspector {
namespace {

/// Both are found, and the first is the better one.
void expect_better(const char* wanted, const char* better, const char* worse) {
  const auto first = fuzzy_score(wanted, better);
  const auto second = fuzzy_score(wanted, worse);
  ASSERT_TRUE(first) << better;
  ASSERT_TRUE(second) << worse;
  EXPECT_GT(*first, *second) << wanted << ": " << better << " against " << worse;
}

bool is_subsequence(const std::string& wanted, const std::string& text) {
  std::size_t found = 0;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  const auto skip_blanks = [&] {
    while (found < wanted.size() && wanted[found] == ' ') ++found;
  };
  skip_blanks();
  for (const char letter : text) {
    if (found < wanted.size() && lower(letter) == lower(wanted[found])) {
      ++found;
      skip_blanks();
    }
  }
  return found == wanted.size();
}

TEST(FuzzyScore, PrefersPrefixesAndStartsOfWords) {
  expect_better("go", "Go to", "Category");
  expect_better("gb", "Go Back", "Begb");
  expect_better("ver", "Verify", "Recover");
  expect_better("ver", "Run verify", "Recover");
  expect_better("vd", "Verify deeply", "Void");
  expect_better("cl", "clear_log", "chunk_all");
  expect_better("ex", "Export rows", "Next index");
}

TEST(FuzzyScore, PrefersRunsOfLetters) {
  expect_better("map", "a map", "mxaxp");
  expect_better("copy", "xcopyx", "xcxoxpxyx");
}

TEST(FuzzyScore, ChargesLittleForWhatIsSkippedBefore) {
  expect_better("map", "a map", "the map");
  // ... so that a start of a word far away still wins against the inside of a word.
  expect_better("m", "aaaa aaaa aaaa map", "amaaa aaaa aaaa aa");
}

TEST(FuzzyScore, FindsExactlyWhatHasTheLettersInOrder) {
  testing::SeededRandom random;
  int found = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string wanted = random.hostile_text(3);
    const std::string text = random.hostile_text(30);
    const bool is_there = is_subsequence(wanted, text);
    EXPECT_EQ(fuzzy_score(wanted, text).has_value(), is_there) << wanted << " in " << text;
    found += is_there ? 1 : 0;
  }
  EXPECT_GT(found, 1000);
  EXPECT_TRUE(fuzzy_score("", ""));
  EXPECT_FALSE(fuzzy_score("a", ""));
}

TEST(FuzzyScore, IgnoresCase) {
  EXPECT_EQ(fuzzy_score("GOTO", "go to"), fuzzy_score("goto", "GO TO"));
}

TEST(FuzzyScore, EndsSoonOnLongTexts) {
  const std::string many(2000, 'a');
  EXPECT_TRUE(fuzzy_score(many, many + many));
  EXPECT_FALSE(fuzzy_score(many + "b", many + many));
}

TEST(WordsScore, WantsEachWordToBeginAWord) {
  const std::string help = "looks for damage: every checksum, and na\xc3\xafve rules";
  for (const char* wanted : {"damage", "Dam", "every damage", "  looks ", "and", "rules for"}) {
    EXPECT_TRUE(words_score(wanted, help)) << wanted;
  }
  for (const char* wanted : {"", "  ", "amage", "damages", "damage crawl", "\xaf", "ve"}) {
    EXPECT_FALSE(words_score(wanted, help)) << wanted;
  }
}

TEST(WordsScore, IsBetweenLettersInARowAndLettersApart) {
  const auto words = words_score("crawl", "opens a crawl file");
  EXPECT_LT(words, fuzzy_score("crawl", "Crawl"));
  EXPECT_GT(words, fuzzy_score("crawl", "accurate newlines"));
}

}  // namespace
}  // namespace crawlstore::inspector
