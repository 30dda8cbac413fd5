// SPDX-License-Identifier: Apache-2.0
#include "format/name.h"

#include <string>

#include <gtest/gtest.h>

namespace crawlstore::format {
namespace {

using namespace std::string_view_literals;

// spec: container.md#names
TEST(Name, AcceptsAllOfUnicodeThatCanBeShown) {
  for (const auto name : {""sv, "urls"sv, "a b"sv, "\xC3\xA9"sv, "\xC2\xA0"sv, "\xED\x9F\xBF"sv,
                          "\xEE\x80\x80"sv, "\xF0\x90\x80\x80"sv, "\xF4\x8F\xBF\xBF"sv}) {
    EXPECT_TRUE(is_valid_name(name)) << name;
  }
}

// spec: container.md#names
TEST(Name, RejectsMoreThan255Bytes) {
  EXPECT_TRUE(is_valid_name(std::string(255, 'a')));
  EXPECT_FALSE(is_valid_name(std::string(256, 'a')));
}

// spec: container.md#names
TEST(Name, RejectsControlCharacters) {
  for (const auto name : {"\0"sv, "a\n"sv, "\x1F"sv, "\x7F"sv, "\xC2\x80"sv, "\xC2\x9F"sv}) {
    EXPECT_FALSE(is_valid_name(name));
  }
}

// spec: container.md#names
TEST(Name, RejectsBytesThatAreNoUtf8) {
  for (const auto name : {"\x80"sv, "\xC3"sv, "\xC3g"sv, "\xE2\x82"sv, "\xF0\x90\x80"sv, "\xF8"sv,
                          "\xFF"sv, "a\xBF"sv}) {
    EXPECT_FALSE(is_valid_name(name));
  }
}

// spec: container.md#names
TEST(Name, RejectsLongFormsSurrogatesAndWhatIsAboveUnicode) {
  for (const auto name : {"\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x9F\xBF"sv, "\xF0\x8F\xBF\xBF"sv,
                          "\xED\xA0\x80"sv, "\xED\xBF\xBF"sv, "\xF4\x90\x80\x80"sv}) {
    EXPECT_FALSE(is_valid_name(name));
  }
}

TEST(Name, IsCheckedForCallers) {
  const auto code_of = [](std::string_view name) {
    const auto checked = check_name(name);
    return checked ? Errc{} : checked.error().code;
  };
  EXPECT_EQ(code_of("pages"), Errc{});
  EXPECT_EQ(code_of(std::string(255, 'a')), Errc{});
  EXPECT_EQ(code_of(std::string(256, 'a')), Errc::kTooLarge);
  EXPECT_EQ(code_of(""), Errc::kTooLarge);
  EXPECT_EQ(code_of("a\n"), Errc::kInvalidArgument);
}

}  // namespace
}  // namespace crawlstore::format
