// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/location.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::inspector {
namespace {

using testing::SeededRandom;

Thing random_thing(SeededRandom& random) {
  switch (random.below(13)) {
    case 0:
      return SegmentThing{{random.number()}};
    case 1: {
      const std::uint64_t offset = random.number();
      return ExtentThing{
          {offset, random.number() % (~offset + std::uint64_t{offset == 0 ? 0U : 1U})}};
    }
    case 2:
      return GenerationThing{{random.number()}};
    case 3:
      return BucketThing{"d" + random.hostile_text(8), random.number()};
    case 4: {
      const bool is_wide = random.one_in(2);
      return KeyThing{"k" + random.hostile_text(8),
                      Key16(random.number(), is_wide ? random.number() : 0), is_wide};
    }
    case 5:
      return RowThing{random.number()};
    case 6:
      return PageThing{random.hostile_text(8), random.number()};
    case 7:
      return HostThing{random.hostile_text(8), random.hostile_text(12)};
    case 8:
      return QueueThing{random.hostile_text(8)};
    case 9:
      return ScoresThing{random.hostile_text(8), random.hostile_text(8)};
    case 10:
      return FrontierThing{random.hostile_text(8)};
    case 11:
      return FrontierThing{random.hostile_text(8), random.hostile_text(8)};
    default:
      return {};
  }
}

TEST(Location, ReadsTheFormsOfItsHeader) {
  const std::vector<std::pair<std::string, Location>> forms = {
      {"hex/offset/0x14000+64", {"hex", ExtentThing{{0x14000, 64}}}},
      {"offset/0x14000", {"", ExtentThing{{0x14000, 0}}}},
      {"segment/12", {"", SegmentThing{{12}}}},
      {"generation/7", {"", GenerationThing{{7}}}},
      {"bucket/urls/3", {"", BucketThing{"urls", 3}}},
      {"key/urls/9f3c0081aa551100", {"", KeyThing{"urls", Key16(0x9f3c0081aa551100), false}}},
      {"key/w/9f3c0081aa5511000000000000000001",
       {"", KeyThing{"w", Key16(0x9f3c0081aa551100, 1), true}}},
      {"row/17", {"", RowThing{17}}},
      {"overview", {"overview", {}}},
      {"segments/row/0", {"segments", RowThing{0}}},
      {"page/123", {"", PageThing{"", 123}}},
      {"graph/page/other/123", {"graph", PageThing{"other", 123}}},
      {"pages/host/example.org", {"pages", HostThing{"", "example.org"}}},
      {"host/other/", {"", HostThing{"other", ""}}},
      {"queue/later", {"", QueueThing{"later"}}},
      {"queue", {"queue", {}}},
      {"queue/queue/later", {"queue", QueueThing{"later"}}},
      {"queue/page/7", {"queue", PageThing{"", 7}}},
      {"frontier", {"frontier", {}}},
      {"frontier/main", {"", FrontierThing{"main"}}},
      {"frontier/main/a.test", {"", FrontierThing{"main", "a.test"}}},
      {"frontier/frontier/main/", {"frontier", FrontierThing{"main", ""}}},
      {"scores/page%40rank", {"", ScoresThing{"", "page@rank"}}},
      {"scores/pagerank@other", {"", ScoresThing{"other", "pagerank"}}},
      {"scores/page/7", {"scores", PageThing{"", 7}}},
  };
  for (const auto& [text, location] : forms) {
    EXPECT_EQ(parse_location(text), location) << text;
    EXPECT_EQ(format_location(location), text);
  }
}

// acceptance: 13
TEST(Location, ComesBackFromItsText) {
  SeededRandom random;
  for (int i = 0; i < 5000; ++i) {
    Location location{random.one_in(2) ? "" : std::string(1 + random.below(3), 'x') + "_panel",
                      random_thing(random)};
    if (location.panel.empty() && location.thing.index() == 0) continue;
    const std::string text = format_location(location);
    EXPECT_EQ(parse_location(text), location) << text;
    for (const char letter : text) {
      EXPECT_TRUE(letter > ' ' && letter < '\x7f' && letter != '#') << text;
    }
  }
}

TEST(Location, TakesAnyTextWithoutHarm) {
  SeededRandom random;
  const std::vector<std::string> starts = {
      "",     "segment/", "offset/",     "key/u/",        "bucket/",
      "hex/", "row/",     "generation/", "hex/offset/0x", "key/%"};
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = starts[random.below(starts.size())] + random.hostile_text(6);
    const auto location = parse_location(text);
    if (!location) continue;
    ++taken;
    EXPECT_EQ(parse_location(format_location(*location)), location) << text;
  }
  EXPECT_GT(taken, 10);
}

TEST(Location, RefusesWhatHasNoMeaning) {
  for (const char* text : {"",
                           "/",
                           "segment/",
                           "segment/-1",
                           "segment/+1",
                           "segment/1x",
                           "segment/ 1",
                           "segment/1/",
                           "segment/18446744073709551616",
                           "offset/0x",
                           "offset/0x10000000000000000",
                           "offset/1+",
                           "offset/0xffffffffffffffff+2",
                           "bucket/urls",
                           "bucket/urls/",
                           "bucket/urls/x",
                           "bucket/a/b/3",
                           "key/urls/9f3c",
                           "key/urls/9f3c0081aa55110g",
                           "key/urls/",
                           "key/%zz/1",
                           "key/%2/9f3c0081aa551100",
                           "hex/offset",
                           "hex/hex/hex",
                           "Hex",
                           "he x",
                           "row/",
                           "row/0x",
                           "//row/1"}) {
    EXPECT_EQ(parse_location(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_location(std::string("row/1\0", 6)), std::nullopt);
}

TEST(Location, DecodesPercentSignsInAnyCase) {
  const Location expected{"", BucketThing{"\xc3\xa9/\xff", 1}};
  EXPECT_EQ(parse_location("bucket/%c3%a9%2f%ff/1"), expected);
  EXPECT_EQ(parse_location("bucket/%C3%A9%2F%Ff/1"), expected);
}

TEST(Location, DescribesThingsForTitles) {
  EXPECT_EQ(describe_thing(SegmentThing{{12}}), "segment 12");
  EXPECT_EQ(describe_thing(Thing{}), "");
  SeededRandom random;
  for (int i = 0; i < 500; ++i) {
    const Thing thing = random_thing(random);
    EXPECT_EQ(describe_thing(thing).empty(), thing.index() == 0);
  }
}

TEST(FileLocation, SplitsAtTheLastHash) {
  const auto split = split_file_location("a#b/my.crawl#segment/12");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->path, "a#b/my.crawl");
  EXPECT_EQ(split->location, (Location{"", SegmentThing{{12}}}));
  EXPECT_EQ(split_file_location("my.crawl"), std::nullopt);
  EXPECT_EQ(split_file_location("my.crawl#"), std::nullopt);
  EXPECT_EQ(split_file_location("my.crawl#segment/x"), std::nullopt);
  EXPECT_EQ(split_file_location(""), std::nullopt);
}

// acceptance: 13
TEST(FileLocation, TakesEveryLocationOnTheCommandLine) {
  SeededRandom random;
  for (int i = 0; i < 1000; ++i) {
    const Location location{"panel", random_thing(random)};
    const std::string path = "p" + random.hostile_text(5);
    const auto split = split_file_location(path + "#" + format_location(location));
    ASSERT_TRUE(split) << format_location(location);
    EXPECT_EQ(split->path, path);
    EXPECT_EQ(split->location, location);
  }
}

}  // namespace
}  // namespace crawlstore::inspector
