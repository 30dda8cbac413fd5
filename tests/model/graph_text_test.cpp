// SPDX-License-Identifier: Apache-2.0
#include "model/graph_text.h"

#include <string>

#include <gtest/gtest.h>

namespace crawlstore::model {
namespace {

using namespace std::string_literals;

std::string csv(std::string_view bytes) {
  std::string text;
  append_csv_field(text, bytes);
  return text;
}

std::string dot(std::string_view bytes) {
  std::string text;
  append_dot_label(text, bytes);
  return text;
}

std::string xml(std::string_view bytes) {
  std::string text;
  append_xml_text(text, bytes);
  return text;
}

TEST(CsvField, IsQuotedWhereItMust) {
  EXPECT_EQ(csv(""), "");
  EXPECT_EQ(csv("http://a/?b;c\tx\xFF\0"s), "http://a/?b;c\tx\xFF\0"s);
  EXPECT_EQ(csv("a,b"), "\"a,b\"");
  EXPECT_EQ(csv("a\"b\n\r"), "\"a\"\"b\n\r\"");
}

TEST(CsvField, IsNoFormulaForASpreadsheet) {
  for (const auto& [bytes, field] :
       {std::pair{"=1+1", "'=1+1"}, std::pair{"+1", "'+1"}, std::pair{"-1", "'-1"},
        std::pair{"@a", "'@a"}, std::pair{"\t=1", "'\t=1"}, std::pair{"\r=1", "\"'\r=1\""},
        std::pair{"=\"a\"", "\"'=\"\"a\"\"\""}, std::pair{"a=1", "a=1"}, std::pair{"", ""}}) {
    std::string text;
    append_csv_field(text, bytes, true);
    EXPECT_EQ(text, field);
  }
}

TEST(DotLabel, EscapesWhatMeansSomethingThere) {
  EXPECT_EQ(dot("http://a/?x=1&copy;"), "\"http://a/?x=1&amp;copy;\"");
  EXPECT_EQ(dot("a\"b\\"), R"("a\"b\\")");
  EXPECT_EQ(dot("caf\xC3\xA9"), "\"caf\xC3\xA9\"");
  EXPECT_EQ(dot("a\n\xFF"), R"("a\\x0a\\xff")");
}

TEST(XmlText, EscapesMarkup) {
  EXPECT_EQ(xml("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;'");
  EXPECT_EQ(xml("]]>"), "]]&gt;");
}

TEST(XmlText, HoldsNoCharacterThatXmlExcludes) {
  EXPECT_EQ(xml("a\0\t\x1F\x7F"s), "a\\x00\\x09\\x1f\\x7f");
  EXPECT_EQ(xml("\xEF\xBF\xBE\xEF\xBF\xBF"), "\\xef\\xbf\\xbe\\xef\\xbf\\xbf");
  EXPECT_EQ(xml("\xED\xA0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(xml("a\\b"), "a\\b");
}

}  // namespace
}  // namespace crawlstore::model
