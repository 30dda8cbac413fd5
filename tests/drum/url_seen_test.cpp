// SPDX-License-Identifier: Apache-2.0
//
// UrlSeen on real URLs: its verdicts are those of a std::set of normalised URLs.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include <crawlstore/url_seen.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

/// At most `count` URLs of a file of the test data, as they come; none when the data is not there.
std::vector<std::string> real_urls(const std::string& name, std::size_t count) {
  const char* const given = std::getenv("CRAWLSTORE_DATA");
  const std::filesystem::path folder = given != nullptr ? given : "../shared/data";
  const auto path = folder / "urls" / name;
  std::vector<std::string> urls;
  if (!std::filesystem::exists(path)) return urls;
  FILE* const pipe = ::popen(("zstd -dc '" + path.string() + "'").c_str(), "r");
  if (pipe == nullptr) return urls;
  std::array<char, 1 << 16> line{};
  while (urls.size() < count && std::fgets(line.data(), line.size(), pipe) != nullptr) {
    std::string url = line.data();
    url.erase(url.find_last_not_of('\n') + 1);
    url.erase(0, url.find_first_not_of('\t'));
    urls.push_back(std::move(url));
  }
  ::pclose(pipe);
  return urls;
}

struct Verdicts {
  std::map<std::string, std::vector<bool>, std::less<>> unique;  // by URL as given
  void unique_key_update(const UrlSeen::Answers::AnswerType& answer) {
    unique[std::string(answer.aux)].push_back(true);
  }
  void duplicate_key_update(const UrlSeen::Answers::AnswerType& answer) {
    unique[std::string(answer.aux)].push_back(false);
  }
};

class UrlSeenFiles : public ::testing::TestWithParam<const char*> {};

TEST_P(UrlSeenFiles, AgreesWithASetOfNormalisedUrls) {
  const auto urls = real_urls(GetParam(), 200000);
  if (urls.empty()) GTEST_SKIP() << "no " << GetParam() << "; CRAWLSTORE_DATA names its folder";
  MemoryStore store;
  UrlSeen::Options options;
  options.drum.memory_bytes = 1 << 20;
  auto seen = must(UrlSeen::open(*store, "urls", options));
  Verdicts given;
  seen.drum().attach(given);
  std::map<std::string, std::vector<bool>, std::less<>> expected;
  std::set<std::string> known;
  UrlNormalizer normalizer;
  std::uint64_t unparsed = 0;
  for (const std::string& url : urls) {
    const NormalizedUrl normal = normalizer.normalize(url);
    unparsed += normal.parsed ? 0 : 1;
    expected[url].push_back(known.emplace(normal.text).second);
    must(seen.check_update(url));
  }
  must(seen.drum().merge());
  EXPECT_EQ(given.unique, expected);
  EXPECT_EQ(seen.drum().status().key_count, known.size());
  EXPECT_EQ(seen.unparsed_count(), unparsed);
}

INSTANTIATE_TEST_SUITE_P(Data, UrlSeenFiles,
                         ::testing::Values("mscpp.links.zst", "docs-external.txt.zst",
                                           "reddit-a.links.zst"));

TEST(UrlSeen, TakesTwoSpellingsForOneUrl) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  CallLog log;
  seen.drum().attach(log);
  must(seen.check_update("HTTP://Example.COM:80/a/../b#c"));
  must(seen.check_update("http://example.com/b"));
  must(seen.drum().merge());
  ASSERT_EQ(log.calls.size(), 2U);
  EXPECT_TRUE(log.calls[0].starts_with("unique update"));
  EXPECT_TRUE(log.calls[0].ends_with(" HTTP://Example.COM:80/a/../b#c")) << "as it was given";
  EXPECT_TRUE(log.calls[1].starts_with("duplicate update"));
}

TEST(UrlSeen, KeysBytesAsTheyAreWhenRaw) {
  MemoryStore store;
  UrlSeen::Options options;
  options.normalizer = UrlNormalizer::raw();
  auto seen = must(UrlSeen::open(*store, "urls", options));
  must(seen.check_update("http://example.com:80/"));
  must(seen.check_update("http://example.com/"));
  EXPECT_EQ(must(seen.drum().merge()).unique_count, 2U);
  EXPECT_EQ(seen.unparsed_count(), 0U);
}

TEST(UrlSeen, CountsUrlsAsUnparsedThatItThenRefuses) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  const std::string url = "http://a.org/" + std::string(64U << 20, 'x');
  EXPECT_EQ(seen.check_update(url).error().code, Errc::kTooLarge);
  EXPECT_EQ(seen.unparsed_count(), 1U);
  EXPECT_EQ(must(seen.drum().merge()).request_count, 0U);
}

UrlNormalizer without_session() {
  return {"no session", [](std::string_view url, std::string& out) {
            out = url.substr(0, url.find("?sid="));
            return url.starts_with("http:");
          }};
}

TEST(UrlSeen, NormalisesByRulesOfItsUser) {
  MemoryStore store;
  UrlSeen::Options options;
  options.normalizer = without_session();
  auto seen = must(UrlSeen::open(*store, "urls", options));
  must(seen.check_update("http://example.com/?sid=1"));
  must(seen.check_update("http://example.com/?sid=2"));
  must(seen.check_update("ftp://example.com/?sid=2"));
  EXPECT_EQ(must(seen.drum().merge()).unique_count, 2U);
  EXPECT_EQ(seen.unparsed_count(), 1U);
  EXPECT_EQ(seen.keyer().another()("http://example.com/"),
            seen.key_of("http://example.com/?sid=3"));
}

TEST(UrlSeen, TakesNoOtherNormalizerThanTheFileNames) {
  MemoryStore store;
  UrlSeen::Options own;
  own.normalizer = without_session();
  UrlSeen::Options raw;
  raw.normalizer = UrlNormalizer::raw();
  must(UrlSeen::open(*store, "own", own));
  must(UrlSeen::open(*store, "raw", raw));
  must(UrlSeen::open(*store, "usual"));
  must(store->commit());
  EXPECT_EQ(drum_info(*store, "own").normalizer, "no session");
  EXPECT_EQ(drum_info(*store, "raw").normalizer, "raw");
  EXPECT_EQ(drum_info(*store, "usual").normalizer, "");

  must(UrlSeen::open(*store, "own", own));
  EXPECT_EQ(code_of(UrlSeen::open(*store, "own")), Errc::kTypeMismatch) << "not known here";
  EXPECT_EQ(code_of(UrlSeen::open(*store, "own", raw)), Errc::kTypeMismatch);
  EXPECT_EQ(code_of(UrlSeen::open(*store, "usual", own)), Errc::kTypeMismatch);
  EXPECT_EQ(must(UrlSeen::open(*store, "raw")).key_of("HTTP://a"),
            Key16(url_key("HTTP://a", kFixedKeySeed)));
}

TEST(UrlSeen, RefusesANormalizerWhoseNameIsNotValid) {
  MemoryStore store;
  const UrlNormalizer::Rules rules = [](auto, auto&) { return true; };
  for (const UrlNormalizer& normalizer :
       {UrlNormalizer("a\nb", rules), UrlNormalizer("", rules), UrlNormalizer("raw", rules),
        UrlNormalizer("none", nullptr), UrlNormalizer(std::string(256, 'a'), rules)}) {
    UrlSeen::Options options;
    options.normalizer = normalizer;
    EXPECT_EQ(code_of(UrlSeen::open(*store, "urls", options)), Errc::kInvalidArgument);
  }
  DrumOptions options;
  options.normalizer = "of no URLs";
  EXPECT_EQ(code_of(Drum<std::uint64_t>::open(*store, "numbers", options)), Errc::kInvalidArgument);
}

// spec: urls.md#url-keys rule 12
TEST(UrlSeen, MakesTheKeysThatItsDrumHas) {
  MemoryStore store;
  struct Case {
    UrlKeyKind kind;
    std::uint16_t key_bytes;
    KeyScheme key_scheme;
    Key16 key;
  };
  const std::string url = "http://www.codeproject.com";
  const std::string text = url + "/";
  for (const Case& one :
       {Case{UrlKeyKind::kXxh3, 8, KeyScheme::kUrl, url_key(text, kFixedKeySeed)},
        Case{UrlKeyKind::kXxh3Wide, 16, KeyScheme::kUrl, url_key16(text, kFixedKeySeed)},
        Case{UrlKeyKind::kRabin, 8, KeyScheme::kUrlRabin, rabin_fingerprint(text)}}) {
    const std::string name = "urls" + std::to_string(static_cast<int>(one.kind));
    UrlSeen::Options options;
    options.key = one.kind;
    auto seen = must(UrlSeen::open(*store, name, options));
    EXPECT_EQ(seen.key_of(url), one.key);
    must(seen.check_update(url));
    must(seen.check_update("HTTP://www.codeproject.com:80/#x"));
    const auto report = must(seen.drum().merge());
    EXPECT_EQ(report.unique_count, 1U);
    EXPECT_EQ(report.duplicate_count, 1U);
    EXPECT_TRUE(must(seen.contains(url)));
    must(store->commit());
    EXPECT_EQ(drum_info(*store, name).key_bytes, one.key_bytes);
    EXPECT_EQ(drum_info(*store, name).key_scheme, one.key_scheme);
    must(drum_view(*store, name).for_each_key([&](Key16 key, auto) {
      EXPECT_EQ(key, one.key);
      return true;
    }));
    EXPECT_EQ(must(UrlSeen::open(*store, name)).key_of(url), one.key) << "as the DRUM has them";
    options.key = one.kind == UrlKeyKind::kXxh3 ? UrlKeyKind::kRabin : UrlKeyKind::kXxh3;
    EXPECT_EQ(code_of(UrlSeen::open(*store, name, options)), Errc::kTypeMismatch);
  }
  must(Drum<std::uint64_t>::open(*store, "numbers"));
  EXPECT_EQ(code_of(UrlSeen::open(*store, "numbers")), Errc::kTypeMismatch) << "not from URLs";
}

// spec/features.md, E17: bytes above 0x7F are numbers from 128 to 255.
TEST(UrlSeen, TakesBytesOfRabinKeysAsUnsigned) {
  MemoryStore store;
  UrlSeen::Options options;
  options.key = UrlKeyKind::kRabin;
  options.normalizer = UrlNormalizer::raw();
  auto seen = must(UrlSeen::open(*store, "urls", options));
  EXPECT_EQ(seen.key_of("a\xC3\xA9"), Key16(0x61C3A9));
  EXPECT_EQ(seen.key_of("http://www.codeproject.com"), Key16(0x446929cac144a7e6));
  EXPECT_EQ(seen.key_of("http://www.boost.org"), Key16(0x52958e52dbf15c77));
}

TEST(UrlSeen, ContainsWhatWasAskedToBeRemembered) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  must(seen.update("http://example.com/"));
  EXPECT_TRUE(must(seen.contains("http://example.com/")));
  must(seen.drum().merge());
  EXPECT_TRUE(must(seen.contains("http://EXAMPLE.com/#x")));
  EXPECT_FALSE(must(seen.contains("http://example.com/other")));
}

TEST(UrlSeen, ChecksWithoutRemembering) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  must(seen.check("http://example.com/"));
  must(seen.drum().merge());
  EXPECT_FALSE(must(seen.contains("http://example.com/")));
}

TEST(UrlSeen, CountsUrlsThatNoParserTakes) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  const std::string invalid("http://\xff\xfe bad\0url", 17);
  for (const auto url : {std::string_view(invalid), std::string_view("http://fine.com/"),
                         std::string_view(""), std::string_view("a\tb")}) {
    must(seen.check_update(url));
  }
  EXPECT_EQ(seen.unparsed_count(), 3U);
  must(seen.drum().merge());
  EXPECT_TRUE(must(seen.contains(invalid)));
  EXPECT_EQ(drum_info(*store, "urls").unparsed_count, 3U) << "also in the file";
}

TEST(UrlSeen, TakesAUrlOfTwoMebibytes) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  const std::string url = "http://example.com/" + std::string(2 << 20, 'a');
  Verdicts verdicts;
  must(seen.check_update(url));
  must(seen.check_update(url));
  must(seen.drum().merge(verdicts));
  EXPECT_EQ(verdicts.unique[url], (std::vector<bool>{true, false}));
}

TEST(UrlSeen, SaysThatItsKeysAreUrls) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  must(store->commit());
  EXPECT_EQ(drum_info(*store, "urls").key_scheme, KeyScheme::kUrl);
}

TEST(UrlSeen, UsesTheSeedOfTheStore) {
  MemoryStore store;
  auto seen = must(UrlSeen::open(*store));
  EXPECT_EQ(seen.key_of("http://example.com/"), url_key("http://example.com/", kFixedKeySeed));
  EXPECT_NE(seen.key_of("http://example.com/"), url_key("http://example.com/", 0));
}

}  // namespace
}  // namespace crawlstore::testing
