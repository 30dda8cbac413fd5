// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/shown_text.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "model/utf8.h"
#include "support/seeded.h"

namespace crawlstore::inspector {
namespace {

using model::Cell;
using model::Unit;
using namespace std::string_literals;

TEST(ShownText, LeavesWhatCanBeDrawnAlone) {
  for (const char* text : {"", "plain", "back\\slash \\x00", "\u4f8b\u0645\u00fc", "\uffff"}) {
    EXPECT_EQ(shown_text(text), text);
  }
}

TEST(ShownText, TellsWhatCannotBeDrawn) {
  EXPECT_EQ(shown_text("a\0b\x1b\x7f\n"s), R"(a\x00b\x1b\x7f\x0a)");
  EXPECT_EQ(shown_text("\u0085"), R"(\xc2\x85)");
  EXPECT_EQ(shown_text("\xff\xed\xa0\x80\u4f8b"), "\\xff\\xed\\xa0\\x80\u4f8b");
  EXPECT_EQ(shown_text("\U0001f600\U0010ffff"), R"(\u{1f600}\u{10ffff})");
  EXPECT_EQ(shown_text("\\ \xff"), R"(\\ \xff)");
}

TEST(ShownText, ShowsNumbersAsTheirUnitSays) {
  EXPECT_EQ(shown_text(Cell{std::uint64_t{2048}}, Unit::kBytes), "2.0 KiB");
  EXPECT_EQ(shown_text(Cell{"\n"s}, Unit::kText), "\\x0a");
}

/// The bytes that `copied` stands for.
std::string bytes_of_copy(const CopiedText& copied) {
  if (!copied.is_hex) return copied.text;
  std::string bytes;
  for (std::size_t i = 0; i + 1 < copied.text.size(); i += 3) {
    bytes += static_cast<char>(std::stoi(copied.text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// acceptance: 17
TEST(CopiedText, IsTheBytesWhateverTheyAre) {
  testing::SeededRandom random;
  for (int i = 0; i < 2000; ++i) {
    const std::string bytes = random.hostile_text(12);
    const CopiedText copied = copied_text(Cell{bytes}, Unit::kText);
    EXPECT_EQ(bytes_of_copy(copied), bytes);
    // The text is one that a clipboard can hold: it takes UTF-8, up to a NUL.
    EXPECT_TRUE(model::is_utf8(copied.text));
    EXPECT_EQ(copied.text.find('\0'), std::string::npos);
  }
  EXPECT_FALSE(copied_text(Cell{"\r\n\t\U0001f600"s}, Unit::kText).is_hex);
  EXPECT_EQ(copied_text(Cell{"\0\xff"s}, Unit::kText).text, "00 ff");
  EXPECT_EQ(copied_text(Cell{std::uint64_t{81920}}, Unit::kOffset).text, "0x14000");
}

// acceptance: 17
TEST(ShownText, IsAlwaysOneDrawableLine) {
  testing::SeededRandom random;
  for (int i = 0; i < 2000; ++i) {
    const std::string shown = shown_text(random.hostile_text(12));
    EXPECT_TRUE(model::is_utf8(shown));
    for (const char c : shown) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    EXPECT_EQ(shown_text(shown), shown);
  }
}

/// With letters of width 1.
std::string broken(std::string_view text, float room) {
  return broken_at_blanks(text, room,
                          [](std::string_view part) { return static_cast<float>(part.size()); });
}

TEST(BrokenAtBlanks, BreaksNoNumberAndNoName) {
  EXPECT_EQ(broken("12,681 keys; 21.19 bytes a key", 20), "12,681 keys; 21.19\nbytes a key");
  EXPECT_EQ(broken("12,681 keys; 21.19 bytes a key", 16), "12,681 keys;\n21.19 bytes a\nkey");
  EXPECT_EQ(broken("at learn.microsoft.com", 12), "at\nlearn.microsoft.com");
}

TEST(BrokenAtBlanks, KeepsTheBreaksAndTheWords) {
  EXPECT_EQ(broken("one\n\ntwo three", 5), "one\n\ntwo\nthree");
  EXPECT_EQ(broken("", 5), "");
  EXPECT_EQ(broken("end ", 2), "end\n");
  testing::SeededRandom random;
  for (int i = 0; i < 500; ++i) {
    std::string text = random.hostile_text(40);
    std::string lines = broken(text, 7);
    for (std::string* one : {&text, &lines}) std::ranges::replace(*one, ' ', '\n');
    EXPECT_EQ(lines, text);
  }
}

}  // namespace
}  // namespace crawlstore::inspector
