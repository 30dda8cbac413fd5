// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/robots.h>

#include "support/seeded.h"

namespace crawlstore {
namespace {

using testing::SeededRandom;

bool allows(std::string_view text, std::string_view path, std::string_view agent = "Bot") {
  return RobotsRules::parse(text, agent).allows(path);
}

/// Whether a pattern matches a path.
bool matches(std::string_view pattern, std::string_view path) {
  return !allows("User-agent: *\nDisallow: " + std::string(pattern), path);
}

// RFC 9309, section 5.1.
constexpr std::string_view kSimpleExample =
    "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n"
    "User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n"
    "User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n"
    "User-Agent: quxbot\n";

TEST(Robots, AnswersTheSimpleExampleOfTheRfc) {
  struct Case {
    std::string_view agent;
    std::string_view path;
    bool is_allowed;
  };
  for (const Case& it : std::initializer_list<Case>{{"other", "/a.gif", false},
                                                    {"other", "/a.gif?x", true},
                                                    {"other", "/example/x", false},
                                                    {"other", "/publications/a.gif", true},
                                                    {"foobot", "/", false},
                                                    {"foobot", "/publications/", false},
                                                    {"foobot", "/example/page.html", true},
                                                    {"foobot", "/example/allowed.gif", true},
                                                    {"foobot", "/example/b.gif", false},
                                                    {"barbot", "/example/page.html", false},
                                                    {"bazbot", "/example/page.html", false},
                                                    {"bazbot", "/example/b.gif", true},
                                                    {"quxbot", "/example/b.gif", true}}) {
    EXPECT_EQ(allows(kSimpleExample, it.path, it.agent), it.is_allowed) << it.agent << it.path;
  }
}

TEST(Robots, TakesTheLongestMatch) {
  // RFC 9309, section 5.2.
  constexpr std::string_view kText =
      "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
  EXPECT_TRUE(allows(kText, "/example/page/", "foobot"));
  EXPECT_FALSE(allows(kText, "/example/page/disallowed.gif", "foobot"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /\nAllow: /p", "/page"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /*.htm\nAllow: /page", "/page.htm"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /*.htm\nAllow: /page.h", "/page.htm")) << "a tie";
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /x\nAllow: /x", "/x")) << "a tie";
  EXPECT_TRUE(allows("User-agent: *\nAllow: /$\nDisallow: /", "/"));
  EXPECT_FALSE(allows("User-agent: *\nAllow: /$\nDisallow: /", "/a"));
  EXPECT_FALSE(allows("User-agent: *\nAllow: /abcdefgh\nDisallow: /\u6f22*", "/\u6f22"));
}

// RFC 9309, section 2.2.1.
TEST(Robots, CombinesTheGroupsOfOneName) {
  constexpr std::string_view kText =
      "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n"
      "user-agent: other\ndisallow: /other\n"
      "user-agent: examplebot\ndisallow: /baz\n";
  for (const char* path : {"/foo", "/bar", "/baz"})
    EXPECT_FALSE(allows(kText, path, "ExampleBot/2.1 (+http://a.test)")) << path;
  EXPECT_TRUE(allows(kText, "/other", "EXAMPLEBOT"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /\nUser-agent: bot\nDisallow:\n", "/x"));
}

TEST(Robots, ComparesNamesUpToTheEndOfTheToken) {
  const auto disallows = [](const std::string& name, std::string_view agent) {
    return !allows("User-agent: " + name + "\nDisallow: /", "/x", agent);
  };
  for (const char* name : {"bot", "BOT", "Bot/1.0", "bot foo", "bot*", "bot\t# x", "*", "* x"})
    EXPECT_TRUE(disallows(name, "Bot/2.0")) << name;
  for (const char* name : {"b", "bots", "bot-x", "a bot", "*bot", "", "/", "b\xC3\xB6t"})
    EXPECT_FALSE(disallows(name, "bot")) << name;
  for (const char* agent : {"", "1", "(x)"}) {
    EXPECT_TRUE(disallows("*", agent)) << agent;
    EXPECT_FALSE(disallows("", agent)) << agent;
    EXPECT_FALSE(disallows("2", agent)) << agent;
  }
}

TEST(Robots, ReadsLinesHoweverTheyAreWritten) {
  for (const char* text :
       {"User-agent: bot\nDisallow: /x", "user-agent:bot\r\ndisallow:/x\r\n",
        "USER-AGENT:bot\rDISALLOW:/x\r", "\xEF\xBB\xBFUser-agent: bot\nDisallow: /x",
        " \tUser-agent \t: \tbot \t\n\n \nDisallow\t:\t/x # why\n# a comment: x",
        "User-agent: bot#: x\nDisallow: /x#y\n", "User-agent: bot\n\nDisallow: /x",
        "User-agent: bot\nUser-agent: bat\nDisallow: /x",
        "User-agent: bat\nDisallow: /\nUser-agent: bot\nDisallow: /x"}) {
    EXPECT_FALSE(allows(text, "/x/y")) << text;
    EXPECT_TRUE(allows(text, "/y")) << text;
    EXPECT_TRUE(allows(text, "/")) << text;
  }
}

TEST(Robots, EndsNoGroupAtOtherLines) {
  for (const char* other : {"Sitemap: http://a.test/s", "Crawl-delay: 1", "Noindex: /", "Foo", ":",
                            "\xEF\xBB\xBF", "Host: a.test", "Disalow: /"}) {
    const std::string text =
        "User-agent: bot\n" + std::string(other) + "\nUser-agent: bat\nDisallow: /x\n";
    EXPECT_FALSE(allows(text, "/x", "bot")) << other;
    EXPECT_FALSE(allows(text, "/x", "bat")) << other;
  }
}

TEST(Robots, GuessesNothing) {
  for (const char* text :
       {"", "\n", ":", "Disallow: /", "User-agent: *\nDisallow /", "User-agent: *\nDisalow: /",
        "User agent: *\nDisallow: /", "User-agent: *\nDisallow: x", "User-agent: *\nDisallow: %2F",
        "User-agent: *\nDisallow:", "User-agent: *\nDisallow: $", "User-agent: *\nAllow:",
        "User-agent: *\nDisallow: # /", "Useragent: *\nDisallow: /", "<html>Disallow: /</html>"})
    EXPECT_EQ(RobotsRules::parse(text, "bot"), RobotsRules{}) << text;
}

TEST(Robots, MatchesPatternsFromTheFirstByteOn) {
  struct Case {
    std::string_view pattern;
    std::vector<std::string_view> matched;
    std::vector<std::string_view> others;
  };
  for (const auto& [pattern, matched, others] : std::initializer_list<Case>{
           {"/", {"/", "/a", "//", "", "?q"}, {}},
           {"/fish", {"/fish", "/fish.html", "/fishheads/y", "/fish?id=x"}, {"/Fish", "/a/fish"}},
           {"/fish/", {"/fish/", "/fish/?id=x", "/fish/a"}, {"/fish", "/fish.html"}},
           {"/fish*", {"/fish", "/fishheads", "/fish?id=x"}, {"/Fish", "/catfish"}},
           {"/*.php", {"/a.php", "/b/a.php?p", "/a.php.html", "/a.php/"}, {"/", "/a.PHP"}},
           {"/*.php$", {"/a.php", "/b/a.php", "/.php.php"}, {"/a.php?p", "/a.php/", "/a.php5"}},
           {"/fish*.php", {"/fish.php", "/fishheads/cat.php?p"}, {"/Fish.php", "/fish"}},
           {"*", {"/", "/a", "?"}, {}},
           {"*/a*b*/c$", {"/a/b/c", "/x/ab/c/c", "/aab//c"}, {"/ab/c/", "/a/c", "/b/a/c"}},
           {"/**a", {"/a", "/xxa"}, {"/", "/b"}},
           {"/ab*b$", {"/abb", "/ab*b"}, {"/ab"}},
           {"/a$", {"/a"}, {"/a$", "/ab", "/a?"}},
           {"/a*$", {"/a", "/ab?c"}, {"/", "/b"}},
           {"/a$b", {"/a$b", "/a%24b"}, {"/a", "/ab"}},
           {"/a$$", {"/a$", "/a%24"}, {"/a", "/a$b"}},
           {"/a%24", {"/a$", "/a%24"}, {"/a"}},
           {"/a%2A", {"/a*", "/a%2a"}, {"/a", "/ab"}}}) {
    for (const auto path : matched) EXPECT_TRUE(matches(pattern, path)) << pattern << " " << path;
    for (const auto path : others) EXPECT_FALSE(matches(pattern, path)) << pattern << " " << path;
  }
}

// RFC 9309, section 2.2.2, but for its row that escapes ":" and "/" in a query: see robots.h.
TEST(Robots, ComparesEscapesInOneForm) {
  const std::vector<std::vector<std::string_view>> equal{
      {"/foo/bar?baz=quz"},
      {"/foo/\u30C4", "/foo/%E3%83%84", "/foo/%e3%83%84", "/%66oo/\xE3%83\x84"},
      {"/foo/bar/baz", "/foo/bar/%62%61%7A", "/foo/bar/%62%61%7a"},
      {"/~a-b_c.d", "/%7Ea%2Db%5fc%2ed"},
      {"/a%2Fb", "/a%2fb"},
      {"/a/b"},
      {"/a?b"},
      {"/a%3Fb", "/a%3fb"},
      {"/a b{", "/a%20b%7B"},
      {"/100%", "/100%25"},
      {"/%zz%4", "/%25zz%254"},
      {"/%%34%31", "/%2541"},
      {"/a?u=http://x"},
      {"/a?u=http:%2F%2Fx"},
      {"/\xFF\x01", "/%ff%01"}};
  for (const auto& spellings : equal) {
    for (const auto& others : equal) {
      for (const auto pattern : spellings)
        for (const auto path : others)
          EXPECT_EQ(matches(pattern, path), &spellings == &others) << pattern << " " << path;
    }
  }
}

TEST(Robots, TakesUrlsAndPaths) {
  constexpr std::string_view kText = "User-agent: *\nDisallow: /a?b";
  for (const char* url : {"/a?b", "a?b", "http://h/a?b", "http://u:p@h:80/a?bc", "x://h/a?b#c"})
    EXPECT_FALSE(allows(kText, url)) << url;
  for (const char* url :
       {"//a?b", "http://h", "http://h/", "http://h?b", "http://h#/a?b", "/a#?b", "http:/a?b"})
    EXPECT_TRUE(allows(kText, url)) << url;
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /$", "http://h"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /?u=http://", "/?u=http://x/"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /?u=http://", "http://h?u=http://x/"));
}

TEST(Robots, AllowsItself) {
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /", "/robots.txt"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /", "http://a.test/robot%73.txt#x"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /", "/robots.txt/"));
  EXPECT_TRUE(RobotsRules{}.allows("/"));
}

TEST(Robots, KeepsTheLongestDelayThatIsOne) {
  const auto delay = [](const std::string& lines) {
    return RobotsRules::parse("User-agent: bot\n" + lines, "bot").crawl_delay_ms();
  };
  const std::vector<std::pair<std::string_view, std::uint64_t>> delays{
      {"0", 0},     {"10", 10000},    {"0.5", 500},        {".5", 500},
      {"5.", 5000}, {"1.0014", 1001}, {"86400", 86400000}, {"007.007", 7007}};
  for (const auto& [text, ms] : delays) EXPECT_EQ(delay("Crawl-delay: " + std::string(text)), ms);
  for (const char* text : {"", "-1", "+1", "1s", "1e3", "0x1", "nan", "inf", "86400.1", "1 2",
                           "1,5", "99999999999999999999999999999999"})
    EXPECT_EQ(delay("Crawl-delay: " + std::string(text)), std::nullopt) << text;
  EXPECT_EQ(delay("crawl-delay:2\nCrawl-delay: 3\nDisallow: /\nCRAWL-DELAY: 1\nCrawl-delay: x"),
            3000);
  EXPECT_EQ(delay("Crawl-delay: 2\nUser-agent: bat\nCrawl-delay: 5\nDisallow: /"), 5000);
  EXPECT_EQ(delay("Disallow: /\nUser-agent: *\nCrawl-delay: 5\n"), std::nullopt);
}

TEST(Robots, ListsSitemapsOfAllGroups) {
  const auto rules = RobotsRules::parse(
      "Sitemap: http://a/1\nUser-agent: x\nsitemap:\thttp://a/2 \nDisallow: /\nSITEMAP:/3#x\n"
      "Sitemap:\nSitemaps: 4\n",
      "bot");
  EXPECT_EQ(rules.sitemaps(), (std::vector<std::string>{"http://a/1", "http://a/2", "/3"}));
}

TEST(Robots, IgnoresWhatLiesBeyondItsLimit) {
  const std::string head = "User-agent: *\nDisallow: /a\n#";
  const std::string tail = "\nDisallow: /b\n";
  const auto text_of = [&](std::size_t bytes) {
    return head + std::string(bytes - head.size() - tail.size(), 'x') + tail;
  };
  EXPECT_FALSE(allows(text_of(kRobotsBytesMax), "/b"));
  EXPECT_FALSE(allows(text_of(kRobotsBytesMax + 1), "/b")) << "its line end alone is cut";
  EXPECT_TRUE(allows(text_of(kRobotsBytesMax + 2), "/b")) << "a cut line is none";
  EXPECT_FALSE(allows(text_of(kRobotsBytesMax + 2), "/a"));
  EXPECT_TRUE(allows(std::string(kRobotsBytesMax + 1, 'x'), "/"));
}

TEST(Robots, CutsLongPaths) {
  const std::string longest = "/" + std::string(kRobotsPathBytesMax - 2, 'a') + "b";
  EXPECT_TRUE(matches("/*b", longest));
  EXPECT_TRUE(matches("/*b$", longest));
  EXPECT_TRUE(matches(longest + "$", longest));
  EXPECT_TRUE(matches("/*b", longest + "b"));
  EXPECT_FALSE(matches("/*b$", longest + "b"));
  EXPECT_FALSE(matches("/*bb", longest + "b"));
  EXPECT_FALSE(matches("/*%FF", longest.substr(1) + "\xFF"));
}

TEST(Robots, WritesATextThatIsReadAgain) {
  const auto rules = RobotsRules::parse(
      "Sitemap: http://a/\nUser-agent: bot\nDisallow: /x\nallow: /\u30C4$\nDisallow: /x\n"
      "Crawl-delay: 1.05\nAllow: /a$b*",
      "bot");
  EXPECT_EQ(rules.to_text(),
            "User-agent: *\nAllow: /%E3%83%84$\nAllow: /a%24b*\nDisallow: /x\n"
            "Crawl-delay: 1.050\nSitemap: http://a/\n");
  EXPECT_EQ(RobotsRules::from_text(rules.to_text()), rules);
  EXPECT_EQ(RobotsRules{}.to_text(), "");
}

TEST(Robots, ReadsItsOwnTextWhateverItsLength) {
  std::string text = "User-agent: bot\n";
  for (int i = 0; text.size() < kRobotsBytesMax - 100; ++i)
    text += "Disallow:/\u6f22\u6f22\u6f22\u6f22\u6f22\u6f22" + std::to_string(i) + "\n";
  const auto rules = RobotsRules::parse(text, "bot");
  EXPECT_GT(rules.to_text().size(), kRobotsBytesMax);
  EXPECT_EQ(RobotsRules::from_text(rules.to_text()), rules);
}

/// A robots.txt whose every line is a rule for "bot".
std::vector<std::string> random_rules(SeededRandom& random) {
  constexpr std::array kPieces{"/", "a", "b", "*", "$", "%61", "%2F", "?", "\u6f22", "%", "{"};
  std::vector<std::string> lines;
  for (std::uint64_t i = random.below(12); i > 0; --i) {
    lines.push_back(random.one_in(2) ? "Allow: /" : "Disallow: /");
    for (std::uint64_t j = random.below(6); j > 0; --j)
      lines.back() += kPieces[random.below(kPieces.size())];
  }
  return lines;
}

TEST(Robots, IsTheSameForAnyOrderOfLinesAndCaseOfKeywords) {
  SeededRandom random;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> lines = random_rules(random);
    std::string text = "User-agent: Bot\nCrawl-delay: 1\n";
    for (const auto& line : lines) text += line + "\n";
    const auto rules = RobotsRules::parse(text, "bot");

    std::string other = "User-Agent: other\nDisallow: /\n";
    for (std::size_t i = lines.size(); i > 1; --i) std::swap(lines[i - 1], lines[random.below(i)]);
    for (std::string line : lines) {
      const auto upper = [](char c) { return static_cast<char>(c & ~0x20); };
      std::transform(line.begin(), line.begin() + 5, line.begin(), upper);
      other += "USER-agent: BOT/3\r" + line + "\r\n\n" + line + "\nUser-agent: x\nAllow: /\n";
    }
    other += "User-agent: bot\ncrawl-delay: 1";
    EXPECT_EQ(RobotsRules::parse(other, "BOT/1"), rules) << text << other;
    EXPECT_EQ(RobotsRules::from_text(rules.to_text()), rules) << text;
  }
}

TEST(Robots, BoundsTheTimeOfHostilePatterns) {
  const std::string path = "/" + std::string(kRobotsPathBytesMax - 1, 'a');
  std::string stars = "User-agent: *\nDisallow: /";
  while (stars.size() < kRobotsBytesMax - 2) stars += "*a";
  std::string pairs = "User-agent: *\n";
  for (int i = 0; pairs.size() < kRobotsBytesMax - 32; ++i)
    pairs += "allow:*ab" + std::to_string(i) + "\n";
  std::string halves = "User-agent: *\n";
  for (int i = 0; halves.size() < kRobotsBytesMax - kRobotsPathBytesMax; ++i)
    halves += "allow:*" + std::string(kRobotsPathBytesMax / 2, 'a') + std::to_string(i) + "\n";
  for (const std::string& text : {stars + "$", stars + "b", pairs, halves}) {
    const auto rules = RobotsRules::parse(text, "bot");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(rules.allows(path));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 60) << "backtracking would take years";
  }
}

}  // namespace
}  // namespace crawlstore
