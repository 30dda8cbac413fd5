// SPDX-License-Identifier: Apache-2.0
#include "model/generations_view.h"

#include <string>

#include <gtest/gtest.h>

#include "golden/patch.h"

namespace crawlstore::model {
namespace {

std::size_t column_of(const Table& table, const std::string& name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
  }
  ADD_FAILURE() << "no column " << name;
  return 0;
}

TEST(SuperblocksTable, HasARowACopyAsTheyLie) {
  for (const char* folder : {"valid", "rejected"}) {
    for (const std::string& path : testing::golden_paths(folder)) {
      const auto copies = generations(path);
      if (!copies) continue;
      const Table table = superblocks_table(*copies);
      EXPECT_EQ(table.name, "superblocks");
      ASSERT_EQ(table.rows.size(), 4U) << path;
      const std::size_t generation = column_of(table, "generation");
      const std::size_t offset = column_of(table, "offset_bytes");
      for (std::size_t i = 0; i < 4; ++i) {
        const GenerationInfo& copy = (*copies)[i];
        ASSERT_EQ(table.rows[i].size(), table.columns.size());
        EXPECT_EQ(table.rows[i][offset], Cell{copy.offset_bytes});
        EXPECT_EQ(table.rows[i][generation],
                  copy.generation.value != 0 ? Cell{copy.generation.value} : Cell{})
            << path << ": of a copy that is not whole no number is known";
      }
    }
  }
}

TEST(SuperblocksTable, NamesTheNewestThePreviousAndWhatIsWrong) {
  const auto row = [](GenerationInfo copy) { return superblocks_table({copy}); };
  GenerationInfo copy;
  copy.state = CopyState::kValid;
  copy.is_winner = true;
  Table table = row(copy);
  EXPECT_EQ(table.rows[0][column_of(table, "role")], Cell{std::string("newest")});
  EXPECT_EQ(table.rows[0][column_of(table, "problem")], Cell{});
  copy.is_winner = false;
  copy.is_previous = true;
  table = row(copy);
  EXPECT_EQ(table.rows[0][column_of(table, "role")], Cell{std::string("previous")});
  copy = {};
  copy.state = CopyState::kInvalid;
  copy.error.code = Errc::kSuperblockDamaged;
  copy.error.text = "torn";
  table = row(copy);
  EXPECT_EQ(table.rows[0][column_of(table, "state")], Cell{std::string("invalid")});
  EXPECT_EQ(table.rows[0][column_of(table, "problem")], Cell{std::string("torn")});
}

}  // namespace
}  // namespace crawlstore::model
