// SPDX-License-Identifier: Apache-2.0
#include "model/event_json.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::model {
namespace {

std::string line_of(const CrawlEvent& event, PageNaming naming = PageNaming::kUrls) {
  std::string line;
  append_event_line(line, event, naming);
  return line;
}

/// Read and written again, in the way that is chosen.
std::string again_by(EventLineParser& parser, const std::string& line) {
  const auto event = parser.parse(line);
  return event ? line_of(*event, parser.naming()) : event.error().text;
}

/// The same in both ways, where there are two.
std::string again(const std::string& line) {
  EventLineParser quick;
  EventLineParser slow(0);
  std::string text = again_by(quick, line);
  if (line.size() <= 1U << 20U) {
    EXPECT_EQ(text, again_by(slow, line)) << line;
  }
  return text;
}

TEST(EventLine, SaysWhatAnEventHolds) {
  const std::array hash{std::byte{0}, std::byte{0xFF}};
  const std::array links{EventLink{"http://b/", 0, 0}, EventLink{"http://c/", 0, 0.5F},
                         EventLink{"\xFF", 0, 0}};
  const CrawlEvent event{
      CrawlEventKind::kPage, "http://a/\"", 0, 1'700'000'000'000'001, 0.1F, hash, links};
  EXPECT_EQ(line_of(event),
            R"({"kind":"page","url":"http://a/\"","time":"2023-11-14T22:13:20.000001Z",)"
            R"("score":0.1,"content_hash":"00ff",)"
            R"("links":["http://b/",{"url":"http://c/","score":0.5},{"url_hex":"ff"}]})"
            "\n");
  EXPECT_EQ(again(line_of(event)), line_of(event));
}

TEST(EventLine, NamesPagesByIndexWhereTheyHaveNoUrls) {
  const std::array links{EventLink{{}, 3, 0}, EventLink{{}, 7, -2}};
  CrawlEvent event;
  event.kind = CrawlEventKind::kLinkAdded;
  event.index = (std::uint64_t{1} << 40U) - 1;
  event.links = links;
  const std::string line = line_of(event, PageNaming::kIndexes);
  EXPECT_EQ(line, R"({"kind":"linkAdded","index":1099511627775,"links":[3,{"index":7,"score":-2}]})"
                  "\n");
  EXPECT_EQ(again(line), line);
}

TEST(EventLine, CarriesTheStatusOfAnyKind) {
  for (const char* line : {R"({"kind":"failed","url":"a","status":503})",
                           R"({"kind":"unchanged","url":"a","status":304})",
                           R"({"kind":"redirect","url":"a","status":65535,"links":["b"]})",
                           R"({"kind":"denied","url":"a","status":1})",
                           R"({"kind":"duplicate","index":0,"status":200})"}) {
    EXPECT_EQ(again(line), std::string(line) + "\n");
  }
  EXPECT_EQ(again(R"({"kind":"page","url":"a","status":0})"),
            "{\"kind\":\"page\",\"url\":\"a\"}\n");
}

TEST(EventLine, CarriesTimesThatAreNoDatesAsNumbers) {
  CrawlEvent event;
  event.url = "a";
  event.time_us = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(line_of(event), "{\"kind\":\"page\",\"url\":\"a\",\"time\":9223372036854775807}\n");
  EXPECT_EQ(again(line_of(event)), line_of(event));
}

TEST(EventLine, RoundTripsUrlsOfAnyBytes) {
  testing::SeededRandom random;
  for (int round = 0; round < 500; ++round) {
    const std::string url = random.hostile_text(12);
    const std::array links{EventLink{url, 0, 0}, EventLink{"x", 0, 0}, EventLink{url, 0, 1}};
    CrawlEvent event;
    event.url = url;
    event.links = links;
    EventLineParser parser;
    const auto read = parser.parse(line_of(event));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->url, url);
    ASSERT_EQ(read->links.size(), 3U);
    EXPECT_EQ(read->links[0].url, url);
    EXPECT_EQ(read->links[2].url, url);
  }
}

TEST(EventLineParser, SaysWhatIsWrong) {
  const std::string hash(130, '0');
  EXPECT_EQ(again(""), "it is no JSON");
  EXPECT_EQ(again("1"), "it is no JSON object");
  const std::string two("{\"kind\":\"known\",\"url\":\"a\"}\0{}", 29);
  EXPECT_EQ(again(two), "it is no JSON");  // a zero byte ends nothing
  EXPECT_EQ(again(R"({"url":"a"})"), "`kind` is missing");
  EXPECT_EQ(again(R"({"kind":"Page","url":"a"})"), "this `kind` is not known");
  EXPECT_EQ(again(R"({"kind":"page","url":"a","links":["b",1]})"),
            "it names pages by URLs and by indexes");
  EXPECT_EQ(again(R"({"kind":"page","index":1.0})"), "`index` is no whole number from 0 on");
  EXPECT_EQ(again(R"({"kind":"page","url":"a","score":3.5e38})"), "`score` is too large");
  EXPECT_EQ(again(R"({"kind":"page","url":"a","content_hash":")" + hash + R"("})"),
            "`content_hash` is over 64 bytes");
  EXPECT_EQ(again(R"({"kind":"failed","url":"a","links":["b"]})"),
            "an event of this kind has no links");
  for (const char* links : {"[]", R"(["b","c"])"}) {
    EXPECT_EQ(again(R"({"kind":"redirect","url":"a","links":)" + std::string(links) + "}"),
              "a redirect has one link: the page that it leads to");
  }
  for (const char* status : {"65536", "-1", "4.5", "\"404\"", "[]"}) {
    EXPECT_EQ(again(R"({"kind":"page","url":"a","status":)" + std::string(status) + "}"),
              "`status` is no whole number from 0 to 65535");
  }
}

/// Fields, of which some are wrong, or taken by one reader of JSON only.
constexpr std::array kFields{R"("kind":"page")",
                             R"("kind":"gone")",
                             R"("kind":"linkAdded")",
                             R"("kind":"redirect")",
                             R"("status":404)",
                             R"("status":-0)",
                             R"("status":65536)",
                             R"("url":"a")",
                             R"("url":"\udc00")",
                             R"("url":"\ud800\u0041")",
                             R"("url":"\ud83d\ude00")",
                             R"("url":"\u00e9")",
                             R"("url_hex":"ff")",
                             R"("index":-0)",
                             R"("index":0)",
                             R"("index":18446744073709551616)",
                             R"("time":0)",
                             R"("time":-0)",
                             R"("time":-1)",
                             R"("time":"2026-11-21")",
                             R"("time":9223372036854775808)",
                             R"("score":1e400)",
                             R"("score":-0)",
                             R"("score":3.4e38)",
                             R"("score":18446744073709551616)",
                             R"("score":01)",
                             R"("content_hash":"0F")",
                             R"("content_hash":"")",
                             R"("links":null)",
                             R"("links":["b"])",
                             R"("links":[0,2])",
                             R"("links":[-0,"-0"])",
                             R"("links":[])",
                             R"("links":[{"url":"b","score":2},{"url":"c"}])",
                             R"("links":[{"index":3,"url":null}])",
                             R"("links":[{"url":"b","url_hex":"ff"}])",
                             R"("k\u0069nd":"known")",
                             R"("x":{"links":[1]})",
                             "\"x\":\"\xff\"",
                             R"("x":tru)",
                             ""};

TEST(EventLineParser, TakesNoLineOtherwiseForReadingItQuickly) {
  testing::SeededRandom random;
  std::uint64_t taken_count = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string line = random.one_in(2) ? R"({"kind":"page","url":"u")" : "{\"kind\":\"page\"";
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      line.append(",").append(kFields[random.below(kFields.size())]);
    }
    line += '}';
    if (random.one_in(4)) line.insert(random.below(line.size()), random.hostile_text(2));
    taken_count += again(line).starts_with('{') ? 1 : 0;
  }
  EXPECT_GT(taken_count, 1000U);
}

TEST(EventLineParser, PassesOverKeysThatItDoesNotKnow) {
  const std::string nested = R"("x":[[{"url":"c","links":[1]}],{"kind":1}],"y":{"url":{}},)";
  const std::string line = R"({"kind":"page","url":"a","links":[{"url":"b","score":1},"d"]})";
  std::string more = line;
  more.insert(more.find("\"url\":\"b"), nested).insert(1, nested);
  EXPECT_EQ(again(more), line + "\n");
}

TEST(EventLineParser, TakesTheLastOfEqualKeys) {
  EXPECT_EQ(again(R"({"kind":"gone","kind":"page","url":"a","links":["b"],"links":["c"]})"),
            "{\"kind\":\"page\",\"url\":\"a\",\"links\":[\"c\"]}\n");
  EXPECT_EQ(again(R"({"kind":"page","url":"a","links":["b"],"links":null})"),
            "{\"kind\":\"page\",\"url\":\"a\"}\n");
}

TEST(EventLineParser, SaysWhatIsWrongWithLinks) {
  const auto linked = [](const std::string& link) {
    return again(R"({"links":[)" + link + R"(],"kind":"page","url":"a"})");
  };
  EXPECT_EQ(linked("[]"), "a link is a string, a number or an object");
  EXPECT_EQ(linked("{},\"b\""), "a page is named by one of `url`, `url_hex` and `index`");
  EXPECT_EQ(linked(R"({"url":["b"]})"), "`url` is no string");
  EXPECT_EQ(linked(R"({"url":"b","score":"1"})"), "`score` is no number");
  EXPECT_EQ(linked("{},"), "it is no JSON");
  std::string many = R"("")";
  for (int i = 0; i < 1 << 21; ++i) many += R"(,"")";
  EXPECT_EQ(linked(many), "it has more than 2,097,152 links");
}

TEST(EventLineParser, RefusesUrlsOverTheLimit) {
  const std::string url(kEventUrlBytesMax, 'a');
  EXPECT_EQ(again(R"({"kind":"gone","url":")" + url + "a\"}"), "a URL is longer than 16 MiB");
  EXPECT_NE(again(R"({"kind":"gone","url":")" + url + "\"}"), "a URL is longer than 16 MiB");
}

}  // namespace
}  // namespace crawlstore::model
