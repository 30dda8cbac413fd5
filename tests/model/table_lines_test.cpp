// SPDX-License-Identifier: Apache-2.0
#include "model/table_lines.h"

#include <string>

#include <gtest/gtest.h>

namespace crawlstore::model {
namespace {

std::vector<Column> columns() {
  return {
      {"id", Unit::kId}, {"name", Unit::kText}, {"size", Unit::kBytes}, {"at_us", Unit::kTimeUs}};
}

std::string lines_of(const TableLines& lines, const std::vector<std::vector<Cell>>& rows) {
  std::string text;
  lines.append_header(text);
  for (const auto& row : rows) lines.append_row(text, row);
  return text;
}

std::vector<std::vector<Cell>> rows() {
  return {{std::uint64_t{7}, std::string("a\tb"), std::uint64_t{2048}, std::int64_t{1'000'000}},
          {std::uint64_t{12}, std::string("c"), {}, {}}};
}

TEST(TableLines, AlignsWhatPeopleRead) {
  TableLines lines(columns(), LineForm::kAligned);
  lines.fit(rows());
  EXPECT_EQ(lines_of(lines, rows()),
            "id  name       size  at_us\n"
            " 7  a\\x09b  2.0 KiB  1970-01-01T00:00:01Z\n"
            "12  c             -  -\n");
}

TEST(TableLines, WritesPlainValuesAsTsv) {
  EXPECT_EQ(lines_of(TableLines(columns(), LineForm::kTsv), rows()),
            "id\tname\tsize\tat_us\n"
            "7\ta\\tb\t2048\t1000000\n"
            "12\tc\t\t\n");
}

TEST(TableLines, WritesATimeThatHasNoUnitInItsNameAsIso) {
  EXPECT_EQ(lines_of(TableLines({{"at", Unit::kTimeUs}}, LineForm::kTsv), {{std::int64_t{0}}}),
            "at\n1970-01-01T00:00:00Z\n");
}

TEST(TableLines, EscapesTextsAsTsvSoThatTheyComeBack) {
  EXPECT_EQ(lines_of(TableLines({{"t", Unit::kText}}, LineForm::kTsv),
                     {{std::string("\\t\t\r\n\x1B\xFF")}}),
            "t\n\\\\t\\t\\r\\n\x1B\xFF\n");
}

TEST(TableLines, ChoosesColumnsInTheOrderThatIsGiven) {
  TableLines lines(columns(), LineForm::kTsv);
  EXPECT_EQ(lines.choose({"size", "id", "id"}), "");
  EXPECT_EQ(lines_of(lines, rows()), "size\tid\tid\n2048\t7\t7\n\t12\t12\n");
}

TEST(TableLines, ListsTheColumnsWhenOneIsNotThere) {
  TableLines lines(columns(), LineForm::kTsv);
  EXPECT_EQ(lines.choose({"id", "nam"}),
            "there is no column `nam`; the columns are id, name, size, at_us");
}

TEST(TableLines, KeepsTheBlanksAtTheEndOfATextThatIsLast) {
  TableLines lines({{"id", Unit::kId}, {"url", Unit::kText}}, LineForm::kAligned);
  EXPECT_EQ(lines_of(lines, {{std::uint64_t{1}, std::string("a ")}}),
            "        id  url\n         1  a \n");
}

}  // namespace
}  // namespace crawlstore::model
