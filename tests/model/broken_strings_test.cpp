// SPDX-License-Identifier: Apache-2.0
#include "model/broken_strings.h"

#include <gtest/gtest.h>

namespace crawlstore::model {
namespace {

using Numbers = std::vector<std::size_t>;

void expect_mended(std::string_view json, std::string_view text, const Numbers& broken) {
  const auto mended = mend_broken_strings(json);
  ASSERT_TRUE(mended.has_value()) << json;
  EXPECT_EQ(mended->text, text);
  EXPECT_EQ(mended->broken_strings, broken);
}

TEST(BrokenStrings, AreReplacedAndTheirStringsNumbered) {
  expect_mended(R"(["a\udc80b"])", "[\"a?b\"]", {0});
  expect_mended(R"({"a": "\ud83d", "\udfff": ["", "\uDC80\uD800"]})",
                "{\"a\": \"?\", \"?\": [\"\", \"??\"]}", {1, 2, 4});
  expect_mended(R"("\ud83d\ud83d\ude00")", "\"?\\ud83d\\ude00\"", {0});
  expect_mended(R"("\ud83dx\\\udc80")", "\"?x\\\\?\"", {0});
}

TEST(BrokenStrings, AreThoseWithBytesThatAreNoUtf8) {
  expect_mended("[\"\xff\", \"\xC3\xA9\", \"a\xE2\x82\"]", "[\"?\", \"\xC3\xA9\", \"a??\"]",
                {0, 2});
  expect_mended("[\"\xED\xB2\x80\", \"\xC0\xA2\"]", "[\"???\", \"??\"]", {0, 1});
  expect_mended("\"\\udc80\xFE\xF0\x9F\x98\x80\"", "\"??\xF0\x9F\x98\x80\"", {0});
  expect_mended("{\"\xF0\x9F\x98", "{\"???", {0});
  EXPECT_TRUE(mend_broken_strings("\"\xff\"")->has_bytes);
  EXPECT_FALSE(mend_broken_strings(R"("\udc80")")->has_bytes);
}

/// Outside of strings they are no JSON, and stay so.
TEST(BrokenStrings, AreNoBytesOutsideOfStrings) {
  for (const std::string_view json : {"\xff", "\"a\" \xff", "\"\\\xff\""}) {
    EXPECT_FALSE(mend_broken_strings(json)) << json;
  }
}

TEST(BrokenStrings, AreAbsentFromOtherText) {
  for (const std::string_view json :
       {"", "\"", "[1, null]", R"("\ud83d\ude00")", R"("\\ud800")", R"("\"\\\ud7ff\ue000")",
        R"("\uD8)", R"("\u+d80")", R"("\)", R"(\ud800)", R"("x" \ud800)"}) {
    EXPECT_FALSE(mend_broken_strings(json)) << json;
  }
}

}  // namespace
}  // namespace crawlstore::model
