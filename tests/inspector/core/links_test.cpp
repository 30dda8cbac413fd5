// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/links.h"

#include <string>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::inspector {
namespace {

using model::Cell;
using model::Column;
using model::Unit;

Thing thing(const char* name, Unit unit, const Cell& cell) {
  return thing_of({name, unit}, cell, "urls");
}

// acceptance: 13
TEST(Links, LeadWhereTheNameOfTheColumnSays) {
  const Cell seven{std::uint64_t{7}};
  EXPECT_EQ(thing("offset_bytes", Unit::kOffset, Cell{std::uint64_t{4096}}),
            Thing(ExtentThing{{4096, 0}}));
  EXPECT_EQ(thing("segment", Unit::kId, seven), Thing(SegmentThing{{7}}));
  EXPECT_EQ(thing("generation", Unit::kId, seven), Thing(GenerationThing{{7}}));
  EXPECT_EQ(thing("bucket", Unit::kId, seven), Thing(BucketThing{"urls", 7}));
  EXPECT_EQ(thing("key", Unit::kText, Cell{std::string("9f3c0081aa551100")}),
            Thing(KeyThing{"urls", Key16(0x9f3c0081aa551100), false}));
  EXPECT_EQ(thing("key", Unit::kText, Cell{std::string("9f3c0081aa5511000000000000000002")}),
            Thing(KeyThing{"urls", Key16(0x9f3c0081aa551100, 2), true}));
}

TEST(Links, LeadToPagesAndHostsOfTheShownDatabase) {
  for (const char* name : {"index", "linked_from", "first_page"}) {
    EXPECT_EQ(thing_of({name, Unit::kId}, Cell{std::uint64_t{7}}, {}, "web"),
              Thing(PageThing{"web", 7}));
  }
  EXPECT_EQ(thing_of({"host", Unit::kText}, Cell{std::string("a.example")}, {}),
            Thing(HostThing{"", "a.example"}));
  EXPECT_EQ(thing_of({"host", Unit::kText}, Cell{std::string("(no host)")}, {}),
            Thing(HostThing{"", ""}));
}

TEST(Links, LeadNowhereWithoutAValue) {
  for (const char* name : {"offset_bytes", "segment", "generation", "bucket", "key", "other", ""}) {
    EXPECT_EQ(thing(name, Unit::kId, Cell{}).index(), 0U) << name;
  }
  EXPECT_EQ(thing("segment", Unit::kId, Cell{std::uint64_t{0}}).index(), 0U) << "0 = none";
  EXPECT_EQ(thing("keys", Unit::kCount, Cell{std::uint64_t{7}}).index(), 0U);
  EXPECT_EQ(thing("length_bytes", Unit::kBytes, Cell{std::uint64_t{7}}).index(), 0U);
}

TEST(Links, TakeTheDrumOfTheRow) {
  const std::vector<Column> columns = {
      {"drum", Unit::kText}, {"key", Unit::kText}, {"bucket", Unit::kId}};
  const model::Row row = {std::string("other/\xff"), std::string("9f3c0081aa551100"),
                          std::uint64_t{7}};
  for (const char* table_drum : {"", "urls"}) {
    EXPECT_EQ(thing_in_row(columns, row, 1, table_drum),
              Thing(KeyThing{"other/\xff", Key16(0x9f3c0081aa551100), false}));
    EXPECT_EQ(thing_in_row(columns, row, 2, table_drum), Thing(BucketThing{"other/\xff", 7}));
    EXPECT_EQ(thing_in_row(columns, row, 0, table_drum).index(), 0U);
  }
  const std::vector<Column> others = {{"name", Unit::kText}, {"key", Unit::kText}};
  EXPECT_EQ(thing_in_row(others, {row[0], row[1]}, 1, "urls"),
            Thing(KeyThing{"urls", Key16(0x9f3c0081aa551100), false}));
}

TEST(Links, LeadToKeysOfTheShownDrumWhereNoneIsKnown) {
  EXPECT_EQ(thing_of({"bucket", Unit::kId}, Cell{std::uint64_t{7}}, "").index(), 0U);
  EXPECT_EQ(thing_of({"key", Unit::kText}, Cell{std::string("9f3c0081aa551100")}, ""),
            Thing(KeyThing{"", Key16(0x9f3c0081aa551100), false}));
}

TEST(Links, TakeAnyCellWithoutHarm) {
  testing::SeededRandom random;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random.hostile_text(5);
    for (const char* name : {"offset_bytes", "segment", "generation", "bucket", "key"}) {
      for (const Cell& cell : {Cell{text}, Cell{true}, Cell{-1.5}, Cell{std::int64_t{-1}}}) {
        const Location location{"panel", thing(name, Unit::kText, cell)};
        EXPECT_EQ(parse_location(format_location(location)), location);
      }
    }
  }
}

}  // namespace
}  // namespace crawlstore::inspector
