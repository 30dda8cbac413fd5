// SPDX-License-Identifier: Apache-2.0
#include "cli/verdict_line.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace crawlstore::cli {
namespace {

std::string line_of(std::string_view url, bool as_json) {
  std::string text;
  append_line(text, Verdict::kUnique, url, as_json);
  return text;
}

TEST(VerdictLine, HasTheBytesOfTheUrl) {
  EXPECT_EQ(line_of("http://a.test/\xFF b", false), "unique\thttp://a.test/\xFF b\n");
}

TEST(VerdictLine, KeepsSeparatorsOutOfTheUrl) {
  for (const char* url : {"http://a/\tx", "http://a/\nunique\thttp://forged/", "http://a/\r"}) {
    const std::string line = line_of(url, false);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 1) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\r'), 0) << line;
  }
}

TEST(VerdictLine, EscapesInJson) {
  EXPECT_EQ(line_of("http://a/\tx", true),
            "{\"verdict\":\"unique\",\"url\":\"http://a/\\u0009x\"}\n");
}

}  // namespace
}  // namespace crawlstore::cli
