// SPDX-License-Identifier: Apache-2.0
#include "model/table_source.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::model {
namespace {

Table numbers(std::uint64_t count) {
  Table table{"numbers", {{"number", Unit::kCount}}, {}};
  for (std::uint64_t i = 0; i < count; ++i) table.rows.push_back({i});
  return table;
}

TEST(TableRows, GivesWindows) {
  testing::SeededRandom random;
  const TableRows rows(numbers(100));
  EXPECT_EQ(rows.name(), "numbers");
  EXPECT_EQ(rows.row_count(), 100U);
  EXPECT_TRUE(rows.is_in_memory());
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t first = random.one_in(10) ? random.number() : random.below(120);
    const std::size_t count_max = random.one_in(10) ? random.number() : random.below(120);
    const auto window = rows.rows(first, count_max);
    ASSERT_TRUE(window);
    const std::uint64_t left = first < 100 ? 100 - first : 0;
    ASSERT_EQ(window->size(), std::min<std::uint64_t>(left, count_max));
    for (std::size_t j = 0; j < window->size(); ++j) EXPECT_EQ((*window)[j][0], Cell{first + j});
  }
}

TEST(TableRows, IsTakenFromADocument) {
  Document document{{}, {numbers(3), numbers(5)}};
  document.tables[1].name = "others";
  EXPECT_EQ(take_table(document, "others")->row_count(), 5U);
  EXPECT_EQ(take_table(document, "numbers")->row_count(), 3U);
  const auto none = take_table(document, "none");
  EXPECT_EQ(none->row_count(), 0U);
  EXPECT_EQ(none->name(), "none");
  EXPECT_TRUE(none->columns().empty());
}

std::vector<Cell> cells() {
  return {Cell{},
          Cell{false},
          Cell{true},
          Cell{std::uint64_t{0}},
          Cell{std::uint64_t{7}},
          Cell{(std::uint64_t{1} << 53) + 1},
          Cell{std::uint64_t{1} << 53},
          Cell{~std::uint64_t{0}},
          Cell{~std::uint64_t{0} - 1},
          Cell{std::int64_t{-7}},
          Cell{std::int64_t{7}},
          Cell{std::numeric_limits<std::int64_t>::min()},
          Cell{-0.5},
          Cell{7.5},
          Cell{std::numeric_limits<double>::infinity()},
          Cell{std::numeric_limits<double>::quiet_NaN()},
          Cell{std::string()},
          Cell{std::string("B")},
          Cell{std::string("a")},
          Cell{std::string("7")}};
}

// Else std::sort would be undefined, whatever a file makes a view compute.
TEST(IsLess, IsAStrictWeakOrder) {
  const auto all = cells();
  const auto equivalent = [](const Cell& a, const Cell& b) {
    return !is_less(a, b) && !is_less(b, a);
  };
  for (const Cell& a : all) {
    EXPECT_FALSE(is_less(a, a));
    for (const Cell& b : all) {
      EXPECT_FALSE(is_less(a, b) && is_less(b, a));
      for (const Cell& c : all) {
        EXPECT_TRUE(!(is_less(a, b) && is_less(b, c)) || is_less(a, c));
        EXPECT_TRUE(!(equivalent(a, b) && equivalent(b, c)) || equivalent(a, c));
      }
    }
  }
}

TEST(IsLess, PutsNothingFirstThenNumbersThenTexts) {
  const Cell nothing;
  const Cell number{std::uint64_t{7}};
  const Cell text{std::string("0")};
  EXPECT_TRUE(is_less(nothing, number));
  EXPECT_TRUE(is_less(number, text));
  EXPECT_TRUE(is_less(nothing, text));
  EXPECT_TRUE(is_less(Cell{std::int64_t{-1}}, Cell{std::uint64_t{0}}));
  EXPECT_TRUE(is_less(Cell{~std::uint64_t{0} - 1}, Cell{~std::uint64_t{0}}));
  EXPECT_TRUE(is_less(Cell{std::uint64_t{1}}, Cell{1.5}));
  EXPECT_TRUE(is_less(Cell{std::string("a")}, Cell{std::string("b")}));
}

}  // namespace
}  // namespace crawlstore::model
