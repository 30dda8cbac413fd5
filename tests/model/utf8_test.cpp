// SPDX-License-Identifier: Apache-2.0
#include "model/utf8.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace crawlstore::model {
namespace {

TEST(Utf8, KeepsWhatIsValid) {
  for (const std::string_view text :
       {"", "plain", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, RejectsLongFormsSurrogatesAndWhatIsCut) {
  for (const std::string_view text :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xE1\x80", "\xED\xA0\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC2\x41"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(Utf8, FindsABadByteAnywhere) {
  std::string text(300, 'a');
  EXPECT_TRUE(is_utf8(text));
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = '\xFF';
    EXPECT_FALSE(is_utf8(text)) << i;
    text[i] = 'a';
  }
}

TEST(Utf8, MeasuresTheFirstCodePoint) {
  EXPECT_EQ(utf8_length("ab"), 1U);
  EXPECT_EQ(utf8_length("\xE2\x82\xAC!"), 3U);
  EXPECT_EQ(utf8_length("\xE2\x82"), 0U);
  EXPECT_EQ(utf8_length(""), 0U);
}

TEST(Utf8, DecodesEveryLength) {
  for (const auto& [bytes, value] :
       {std::pair{"A", U'A'}, std::pair{"\xc3\xa9", U'\u00e9'},
        std::pair{"\xe6\x97\xa5", U'\u65e5'}, std::pair{"\xf0\x9f\x98\x80", U'\U0001f600'}}) {
    EXPECT_EQ(utf8_decode(bytes, utf8_length(bytes)), value) << bytes;
  }
}

}  // namespace
}  // namespace crawlstore::model
