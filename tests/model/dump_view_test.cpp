// SPDX-License-Identifier: Apache-2.0
#include "model/dump_view.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "golden/patch.h"

namespace crawlstore::model {
namespace {

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

TEST(DumpView, HasTheColumnsOfItsHeader) {
  const auto table = dump_view({}).tables.at(0);
  EXPECT_EQ(table.name, "fields");
  EXPECT_EQ(names_of(table), (std::vector<std::string>{"depth", "offset_bytes", "length_bytes",
                                                       "name", "type", "value", "problem"}));
  EXPECT_TRUE(table.rows.empty());
}

TEST(DumpView, ShowsBytesThatATerminalCanShow) {
  FieldInfo field;
  field.name = "name";
  field.type = "string";
  field.offset_bytes = 81'920;
  field.length_bytes = 3;
  field.value = "a\x1b\xff";
  field.depth = 2;
  const auto row = dump_view({field}).tables[0].rows.at(0);
  EXPECT_EQ(row[0], Cell{std::uint64_t{2}});
  EXPECT_EQ(row[1], Cell{std::uint64_t{81'920}});
  EXPECT_EQ(row[2], Cell{std::uint64_t{3}});
  EXPECT_EQ(row[5], Cell{std::string("a\\x1b\\xff")});
}

TEST(FieldText, SaysATimeInUtcToo) {
  FieldInfo field;
  field.type = "time_us";
  field.value = "1600000000000000";
  EXPECT_EQ(field_text(field), "1600000000000000 (2020-09-13T12:26:40Z)");
  EXPECT_EQ(field_tree({field}).rows[0][1], Cell{field_text(field)});
  field.value = "no number";
  EXPECT_EQ(field_text(field), "no number");
  field.type = "u64";
  field.value = "1600000000000000";
  EXPECT_EQ(field_text(field), field.value);
}

TEST(FieldTree, IndentsByDepth) {
  std::vector<FieldInfo> fields(3);
  for (std::uint32_t depth = 0; depth < 3; ++depth) {
    fields[depth].name = "f";
    fields[depth].depth = depth;
  }
  const Table table = field_tree(fields);
  EXPECT_EQ(names_of(table), (std::vector<std::string>{"name", "value", "type", "offset_bytes",
                                                       "length_bytes", "problem"}));
  std::size_t indent = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto name = std::get<std::string>(table.rows[i][0]);
    EXPECT_EQ(name.find_first_not_of(' ') + 1, name.size());
    EXPECT_TRUE(i == 0 || name.size() > indent);
    indent = name.size();
  }
}

// acceptance: 8
TEST(FieldTree, ShowsEveryFieldOfEveryGolden) {
  std::size_t problem_count = 0;
  for (const char* folder : {"valid", "rejected"}) {
    for (const std::string& path : testing::golden_paths(folder)) {
      const auto fields = describe_file(path);
      if (!fields) continue;
      const Table tree = field_tree(*fields);
      const Table dump = dump_view(*fields).tables[0];
      ASSERT_EQ(tree.rows.size(), fields->size()) << path;
      ASSERT_EQ(dump.rows.size(), fields->size()) << path;
      for (std::size_t i = 0; i < fields->size(); ++i) {
        ASSERT_EQ(tree.rows[i].size(), tree.columns.size());
        ASSERT_EQ(dump.rows[i].size(), dump.columns.size());
        EXPECT_EQ(tree.rows[i][3], Cell{(*fields)[i].offset_bytes});
        EXPECT_EQ(tree.rows[i][5], Cell{(*fields)[i].problem});
        problem_count += (*fields)[i].problem.empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(problem_count, 20U);
}

}  // namespace
}  // namespace crawlstore::model
