// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <xxhash.h>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>

#include "base/parsed_page_key.h"
#include "format/format_samples.h"
#include "format/spec_text.h"
#include "support/seeded.h"

namespace crawlstore {
namespace {

using testing::hex_of;

constexpr std::uint64_t kSeed = 0x0123456789abcdef;

// spec: urls.md#page-keys rule 1
TEST(UrlHost, IsWhatStandsBetweenUserAndPort) {
  const std::map<std::string, std::string> hosts{
      {"http://example.com/", "example.com"},
      {"http://example.com:8080/a:b@c", "example.com"},
      {"http://user:pass@example.com/", "example.com"},
      {"http://@example.com/", "example.com"},
      {"http://user:1@example.com:1/", "example.com"},
      {"https://[2001:db8::1]:8443/", "[2001:db8::1]"},
      {"http://user@[::1]/x", "[::1]"},
      {"http://192.0.2.1/", "192.0.2.1"},
      {"http://example.com./", "example.com."},
      {"x://a%2fb.test/", "a%2Fb.test"},
      {"HTTP://A.test\\x", "a.test"},
      {" http://b\xC3\xBC.test/\n", "xn--b-eha.test"},
      {"http://example.com/?q=http://other.test/", "example.com"},
      {"x://h?a@b:c", "h"},
      {"x://h#a@b:c", "h"},
      {"x://h", "h"},
      {"file:///etc/passwd", ""},
      {"x:///p", ""},
      {"x:/.//h/", ""},
      {"mailto:user@example.com", ""},
      {"urn:a:b", ""}};
  for (const auto& [url, host] : hosts) EXPECT_EQ(url_host(url), host) << url;
}

// spec: urls.md#page-keys rule 1
TEST(UrlHost, IsEmptyForWhatIsNotParsed) {
  for (const char* url : {"", "example.com", "//example.com/", "/path", "http://exa mple.com/",
                          "http://:80/", "http://[::1/", "http://[v1.x]y/"}) {
    ASSERT_FALSE(UrlNormalizer{}.normalize(url).parsed) << url;
    EXPECT_EQ(url_host(url), "") << url;
  }
  const std::string head = "http://" + std::string(kUrlHostBytesMax + 1, 'a') + "/";
  EXPECT_EQ(url_host(head), "");
}

TEST(ParsedPageKey, IsThePageKeyOfWhatIsParsed) {
  testing::SeededRandom random;
  UrlNormalizer normalizer;
  int parsed_count = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string url = random.one_in(3) ? "http://" : random.one_in(2) ? "x://" : "x:";
    url += random.hostile_text(3) + "host" + random.hostile_text(2) + "/" + random.hostile_text(3);
    const auto normal = normalizer.normalize(url);
    if (!normal.parsed) continue;
    ++parsed_count;
    ASSERT_EQ(parsed_page_key(normal.text, kSeed), page_key(normal.text, kSeed)) << url;
  }
  EXPECT_GT(parsed_count, 1000);
}

TEST(UrlHost, IsThatOfTheNormalForm) {
  testing::SeededRandom random;
  UrlNormalizer normalizer;
  int found = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string url = random.one_in(2) ? "http://" : "x://";
    url += random.hostile_text(3) + "host" + random.hostile_text(2) + "/" + random.hostile_text(3);
    const auto normal = normalizer.normalize(url);
    const std::string host = url_host(url);
    EXPECT_TRUE(normal.parsed || host.empty()) << url;
    if (host.empty()) continue;
    ++found;
    EXPECT_EQ(url_host(normal.text), host) << url;
    EXPECT_NE(normal.text.find(host), std::string_view::npos) << url;
    EXPECT_EQ(host.find_first_of("/?#@"), std::string_view::npos) << url;
  }
  EXPECT_GT(found, 500);
}

TEST(PageKey, TakesHeadTailAndWitnessFromTheirHashes) {
  const std::string url = "http://example.com:8080/a?b";
  const auto hash = XXH3_128bits_withSeed(url.data(), url.size(), kSeed);
  const PageKey key = page_key(url, kSeed);
  EXPECT_EQ(key.key.head, XXH3_64bits_withSeed("example.com", 11, kSeed));
  EXPECT_EQ(key.key.tail, hash.low64);
  EXPECT_EQ(key.witness, hash.high64 >> 32);
}

TEST(PageKey, HasTheHeadOfItsHost) {
  for (const std::uint64_t seed : {std::uint64_t{0}, kSeed}) {
    const std::uint64_t head = host_key("h.test", seed);
    std::set<std::uint64_t> tails;
    for (const char* url : {"http://h.test/", "https://h.test/", "http://h.test:81/",
                            "http://u@h.test/", "http://h.test/a"}) {
      EXPECT_EQ(page_key(url, seed).key.head, head) << url;
      tails.insert(page_key(url, seed).key.tail);
    }
    EXPECT_EQ(tails.size(), 5u);
    EXPECT_NE(page_key("http://i.test/", seed).key.head, head);
    EXPECT_EQ(page_key("no url", seed).key.head, host_key("", seed));
  }
  EXPECT_NE(page_key("http://h.test/", 1), page_key("http://h.test/", 2));
}

// spec: urls.md#page-keys rule 2
TEST(PageKey, IsThatOfTheVectors) {
  const auto rows =
      testing::table_after(testing::source_text("spec/urls.md"), "\n### Vectors of page keys\n");
  EXPECT_GE(rows.size(), 6u);
  for (const auto& row : rows) {
    const PageKey key = page_key(row.at(0), kSeed);
    EXPECT_EQ(url_host(row[0]), row.at(1)) << row[0];
    EXPECT_EQ(hex_of(key.key.head), row.at(2)) << row[0];
    EXPECT_EQ(hex_of(key.key.tail), row.at(3)) << row[0];
    EXPECT_EQ(hex_of(key.witness).substr(10), row.at(4).substr(2)) << row[0];
  }
}

}  // namespace
}  // namespace crawlstore
