// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/url.h>

#include "base/normal_form.h"

namespace crawlstore {
namespace {

using namespace std::string_literals;

std::string repeated(std::string_view unit, std::size_t length_bytes) {
  std::string result;
  while (result.size() < length_bytes) result += unit;
  return result;
}

// --- The rules, one by one ---

// Input and normal form.
using Cases = std::vector<std::pair<std::string, std::string>>;

void expect_normal_forms(const Cases& cases) {
  for (const auto& [url, expected] : cases) {
    EXPECT_EQ(normal_form(url), expected) << testing::PrintToString(url);
    if (expected != kUnparsed) {
      EXPECT_EQ(normal_form(expected), expected);
    }
  }
}

void expect_refused(const std::vector<std::string>& urls) {
  for (const auto& url : urls)
    EXPECT_EQ(normal_form(url), kUnparsed) << testing::PrintToString(url);
}

TEST(UrlNormalizer, MergesTheSpellingsThatTheWebHas) {
  expect_normal_forms({{"HTTP://A.test/m\xC3\xBCnchen", "http://a.test/m%C3%BCnchen"},
                       {"http://a.test/a b#x", "http://a.test/a%20b"},
                       {"http://a.test/[1]#a", "http://a.test/[1]"},
                       {"http://a.test/%7euser", "http://a.test/~user"},
                       {" http://a.test/", "http://a.test/"}});
}

// spec: urls.md#url-keys rule 1
TEST(UrlNormalizer, DropsControlsAroundTheUrlAndLineBreaksInIt) {
  expect_normal_forms({{"\x01 http://h/a\x1f ", "http://h/a"},
                       {"ht\ntp\t://h\r/a\nb", "http://h/ab"},
                       {"\0http://h/\0"s, "http://h/"}});
}

// spec: urls.md#url-keys rule 1
TEST(UrlNormalizer, EscapesBytesThatAreNoUtf8) {
  expect_normal_forms({{"http://h/m\xFCnchen?\xE4", "http://h/m%FCnchen?%E4"}});
}

// spec: urls.md#url-keys rule 2
TEST(UrlNormalizer, ReturnsUnparsedInputItself) {
  UrlNormalizer normalizer;
  const std::string url = " HTTP://H:x/a/../#f\n";
  const NormalizedUrl result = normalizer.normalize(url);
  EXPECT_FALSE(result.parsed);
  EXPECT_EQ(result.text.data(), url.data());
  EXPECT_EQ(result.text.size(), url.size());
}

// spec: urls.md#url-keys rule 2
TEST(UrlNormalizer, RefusesTextsThatNoDatabaseTakes) {
  const std::string largest = "http://h/" + std::string(kUrlTextBytesMax - 9, 'a');
  EXPECT_EQ(normal_form(largest + "#f"), largest);
  EXPECT_EQ(normal_form(largest + "a"), kUnparsed);
  EXPECT_EQ(normal_form("HTTP" + largest.substr(4) + "a"), kUnparsed);
  EXPECT_EQ(normal_form("http://h/" + std::string(kUrlTextBytesMax / 3 - 2, ' ') + "x"), kUnparsed);
}

TEST(UrlNormalizer, ReadsNothingBehindTheEnd) {
  for (const std::string_view whole :
       {"HTTP://u%41@[::1]:80/%41/..?%41#%41", "http://h.1/%2F%2f/./..?a%2F%4#",
        "file://h/C|/../%2", "x:a%20 ?"}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const std::vector<char> exact(whole.begin(),
                                    whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(normal_form({exact.data(), size}), normal_form(whole.substr(0, size))) << size;
    }
  }
}

// spec: urls.md#url-keys rule 3
TEST(UrlNormalizer, LowersSchemes) {
  expect_normal_forms({{"HTTP://h/", "http://h/"}, {"X-A+1.0:Path", "x-a+1.0:Path"}});
}

// spec: urls.md#url-keys rule 3
TEST(UrlNormalizer, RefusesReferencesWithoutScheme) {
  expect_refused({"", "a", "/a", "//h/a", "?q", "#f", "h.example/a", ":a", "1a:b", "a#b:c", "a b:c",
                  "\xC3\xA9:a"});
}

// spec: urls.md#url-keys rule 4
TEST(UrlNormalizer, TakesAnyNumberOfSlashesInSpecialSchemes) {
  expect_normal_forms({{"http:h/a", "http://h/a"},
                       {"https:/h/a", "https://h/a"},
                       {"http:\\\\h\\a\\b?\\", "http://h/a/b?\\"},
                       {"ws://\\/h/a", "ws://h/a"},
                       {"x:\\\\h\\a", "x:\\\\h\\a"},
                       {"x://h\\a", kUnparsed}});
}

// spec: urls.md#url-keys rule 5
TEST(UrlNormalizer, KeepsUserInformationWithItsOddBytesEscaped) {
  expect_normal_forms({{"ftp://User:PassWord@Host/", "ftp://User:PassWord@host/"},
                       {"http://a@b@c/", "http://a%40b@c/"},
                       {"http://a:b:c@h/", "http://a:b%3Ac@h/"},
                       {"http://a:@h/", "http://a@h/"},
                       {"http://:@h/", "http://h/"},
                       {"http://@h/", "http://h/"},
                       {"http://:p@h/", "http://:p@h/"},
                       {"x://a@/", kUnparsed},
                       {"http://u@/", kUnparsed},
                       {"http://u@:80/", kUnparsed}});
}

// spec: urls.md#url-keys rule 6
TEST(UrlNormalizer, DropsDefaultPorts) {
  const std::array<std::pair<const char*, const char*>, 5> ports = {
      {{"http", "80"}, {"https", "443"}, {"ftp", "21"}, {"ws", "80"}, {"wss", "443"}}};
  for (const auto& [scheme, port] : ports) {
    EXPECT_EQ(normal_form(scheme + "://h:"s + port + "/"), scheme + "://h/"s);
    EXPECT_EQ(normal_form(scheme + "://h:"s + port + "0/"), scheme + "://h:"s + port + "0/");
  }
}

// spec: urls.md#url-keys rule 6
TEST(UrlNormalizer, BringsPortsToOneForm) {
  expect_normal_forms({{"http://h:/", "http://h/"},
                       {"gopher://h:/", "gopher://h/"},
                       {"http://[::1]:/", "http://[::1]/"},
                       {"http://h:08080/", "http://h:8080/"},
                       {"http://h:00000000080/", "http://h/"},
                       {"http://h:00/", "http://h:0/"},
                       {"http://h:65535/", "http://h:65535/"}});
  expect_refused({"http://h:65536/", "http://h:100000/", "http://h:port/", "http://h:8 0/",
                  "http://h:-1/", "http://:80/", "x://:80/"});
}

// spec: urls.md#url-keys rule 7
TEST(UrlNormalizer, ReadsIpv6Addresses) {
  expect_normal_forms({{"http://[2001:DB8:0:0::A]:8080/", "http://[2001:db8::a]:8080/"},
                       {"http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"},
                       {"http://[0:0:1:0:0:1:0:0]/", "http://[::1:0:0:1:0:0]/"},
                       {"http://[1:0:2:3:4:5:6:7]/", "http://[1:0:2:3:4:5:6:7]/"},
                       {"http://[::]/", "http://[::]/"},
                       {"x://[1::]/", "x://[1::]/"},
                       {"http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"}});
  expect_refused({"http://[::1/", "http://::1]/", "http://[1:2:3]/", "http://[fe80::1%25eth0]/",
                  "http://[v1.a]/", "http://[::1]x/", "http://[]/", "http://[::1.2.3]/",
                  "http://[::01.2.3.4]/", "http://[1::2::3]/", "http://[12345::]/",
                  "http://[::1\0]/"s});
}

// spec: urls.md#url-keys rule 7
TEST(UrlNormalizer, ReadsIpv4AddressesInAllTheirForms) {
  expect_normal_forms({{"http://0x7F.1/", "http://127.0.0.1/"},
                       {"http://0300.0250.0.1./", "http://192.168.0.1/"},
                       {"http://4294967295/", "http://255.255.255.255/"},
                       {"http://1.2.65535/", "http://1.2.255.255/"},
                       {"http://0x/", "http://0.0.0.0/"},
                       {"http://%30x7f.1/", "http://127.0.0.1/"},
                       {"http://1.2.3.4.a/", "http://1.2.3.4.a/"},
                       {"http://1a/", "http://1a/"},
                       {"http://h.0xg/", "http://h.0xg/"},
                       {"x://0x7f.1/", "x://0x7f.1/"}});
  expect_refused({"http://256.1/x", "http://1.2.3.4.5/", "http://4294967296/", "http://1.2.65536/",
                  "http://09/", "http://a.1/", "http://1..2/", "http://99999999999999999999999/"});
}

// spec: urls.md#url-keys rule 7
TEST(UrlNormalizer, BringsNamesToAscii) {
  expect_normal_forms({{"http://WWW.Example.COM/Path?Query", "http://www.example.com/Path?Query"},
                       {"http://B\xC3\x9C"
                        "cher.example/",
                        "http://xn--bcher-kva.example/"},
                       {"http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"},
                       {"http://fa\xC3\x9F.de/", "http://xn--fa-hia.de/"},
                       {"http://fa\xE1\xBA\x9E.de/", "http://xn--fa-hia.de/"},
                       {"http://\xEF\xBC\x91.2.3.4/", "http://1.2.3.4/"},
                       {"http://%41%2e%62/", "http://a.b/"},
                       {"http://xn--a/", "http://xn--a/"},
                       {"http://a..b./", "http://a..b./"},
                       {"http://!$&'()*+,;=_~h/", "http://!$&'()*+,;=_~h/"}});
  expect_refused({"http://", "http:///", "http://h h/", "http://h%20h/", "http://h%2Fh/",
                  "http://a%zzb/", "http://\xFF/", "http://\xC2\xAD/", "http://a<b/", "http://a|b/",
                  "http://xn--0.\xC3\xBC/", "http://xn--xn--a--gua.\xC3\xBC/",
                  "http://\xEF\xBF\xBD/", "http://\xF3\xB0\x80\x80/"});
}

// spec: urls.md#url-keys rule 7
TEST(UrlNormalizer, RefusesCharactersYoungerThanItsUnicode) {
  expect_refused({"http://\xF0\xB2\xA4\xB1.test/"});  // U+32931, of Unicode 17
}

// spec: urls.md#url-keys rule 7
TEST(UrlNormalizer, KeepsHostsOfOtherSchemesAsTheyAre) {
  expect_normal_forms({{"ipfs://QmX%41%2f/", "ipfs://QmXA%2F/"},
                       {"x://h\xC3\xA9/", "x://h%C3%A9/"},
                       {"x://", "x://"},
                       {"x:///p", "x:///p"}});
  expect_refused({"x://a b/", "x://a<b/", "x://a^b/", "x://a|b/"});
}

// spec: urls.md#url-keys rule 7
TEST(UrlNormalizer, TakesAHostOfTheGreatestLengthAndNoMore) {
  for (const std::string scheme : {"http", "HTTP", "x"}) {
    const std::string host(kUrlHostBytesMax, 'a');
    const std::string normal = scheme == "x" ? "x" : "http";
    EXPECT_EQ(normal_form(scheme + "://" + host + "/"), normal + "://" + host + "/");
    EXPECT_EQ(normal_form(scheme + "://" + host + "a/"), kUnparsed);
  }
  EXPECT_EQ(normal_form("x://" + repeated("\xC3\xA9", 4000)), kUnparsed);
  EXPECT_EQ(normal_form("http://" + repeated("\xEF\xB7\xBA", 3000)), kUnparsed);
  EXPECT_NE(normal_form("http://" + repeated("\xC3\xA9", 2000)), kUnparsed);
  EXPECT_EQ(normal_form("http://" + repeated("\xC3\xA9", 2002)), kUnparsed);
}

// spec: urls.md#url-keys rule 8
TEST(UrlNormalizer, RemovesDotSegments) {
  expect_normal_forms({{"http://h/a/b/c/./../../g", "http://h/a/g"},
                       {"http://h/b/c/../../../../g", "http://h/g"},
                       {"http://h/a/%2E/%2e%2E/b", "http://h/b"},
                       {"http://h/a/..", "http://h/"},
                       {"http://h/a/b/.", "http://h/a/b/"},
                       {"http://h/a//..", "http://h/a/"},
                       {"http://h/...", "http://h/..."},
                       {"http://h/.a/..b", "http://h/.a/..b"},
                       {"x:/a/../b", "x:/b"},
                       {"x://h/a/..", "x://h/"}});
}

// spec: urls.md#url-keys rule 8
TEST(UrlNormalizer, MakesNoHostOfAPath) {
  expect_normal_forms({{"x:/a/..//b", "x:/.//b"}, {"x:/.//b", "x:/.//b"}, {"x:/..//", "x:/.//"}});
}

// spec: urls.md#url-keys rule 8
TEST(UrlNormalizer, AddsTheSlashOfAnEmptyPath) {
  expect_normal_forms({{"http://h", "http://h/"},
                       {"https://h?q", "https://h/?q"},
                       {"gopher://h", "gopher://h"},
                       {"gopher://h?q", "gopher://h?q"}});
}

// spec: urls.md#url-keys rule 8
TEST(UrlNormalizer, EscapesWhatStandsForNothingInPaths) {
  expect_normal_forms({{"http://h/a b\"<>`{}^\x7F|\\", "http://h/a%20b%22%3C%3E%60%7B%7D%5E%7F|/"},
                       {"x:a \"<>` b ?q", "x:a \"<>` b%20?q"},
                       {"x:a  #f", "x:a %20"},
                       {"mailto:Alice@Example.COM", "mailto:Alice@Example.COM"},
                       {"localhost:8080/x/../y", "localhost:8080/x/../y"}});
}

// spec: urls.md#url-keys rule 9
TEST(UrlNormalizer, ReadsFilesWithTheirDrives) {
  expect_normal_forms({{"file:a", "file:///a"},
                       {"file:/a", "file:///a"},
                       {"file://localhost/a", "file:///a"},
                       {"file://HOST/a", "file://host/a"},
                       {"FILE:c:\\foo\\bar", "file:///c:/foo/bar"},
                       {"file:///C|/../..", "file:///C:/"},
                       {"file:///%43|/..", "file:///C:/"},
                       {"file://C|/a", "file:///C:/a"},
                       {"file:////a", "file:////a"},
                       {"file:", "file:///"},
                       {"file:?q", "file:///?q"},
                       {"file://h:80/", kUnparsed},
                       {"file://u@h/", kUnparsed}});
}

// spec: urls.md#url-keys rule 10
TEST(UrlNormalizer, KeepsQueriesWithTheirOddBytesEscaped) {
  expect_normal_forms({{"http://h/?", "http://h/?"},
                       {"http://h/?a b\"<>'`{}|\\?/", "http://h/?a%20b%22%3C%3E%27`{}|\\?/"},
                       {"x://h/?a'", "x://h/?a'"},
                       {"http://h/?%7e%2f", "http://h/?~%2F"}});
}

// spec: urls.md#url-keys rule 11
TEST(UrlNormalizer, DecodesUnreservedEscapesAndRaisesOthers) {
  expect_normal_forms({{"http://u%c3%61@h/%7e%2f%41?%fF%2D", "http://u%C3a@h/~%2FA?%FF-"}});
}

// spec: urls.md#url-keys rule 11
TEST(UrlNormalizer, MakesNoEscapesByDecoding) {
  expect_normal_forms({{"http://h/%%34%31", "http://h/%%341"},
                       {"http://h/%4%31", "http://h/%4%31"},
                       {"http://h/%%41", "http://h/%%41"},
                       {"http://h/%g%31", "http://h/%g1"},
                       {"http://h/%25%34%31", "http://h/%2541"},
                       {"http://h/%", "http://h/%"},
                       {"http://h/%zz?%4", "http://h/%zz?%4"}});
}

// spec: urls.md#url-keys rule 11
TEST(UrlNormalizer, DropsTheFragment) {
  expect_normal_forms({{"http://h/a?b#c?d/%ee", "http://h/a?b"},
                       {"http://h/#", "http://h/"},
                       {"http://h#@x/", "http://h/"},
                       {"HTTP://h/#a#b c", "http://h/"}});
}

// --- References ---

TEST(UrlNormalizer, ResolvesReferencesAsBrowsersDo) {
  struct Case {
    const char* reference;
    const char* base;
    const char* expected;
  };
  for (const auto& [reference, base, expected] :
       std::initializer_list<Case>{{"../c d?q#f", "http://h/a/b/x?y", "http://h/a/c%20d?q"},
                                   {"", "http://u@h/a?q", "http://u@h/a?q"},
                                   {"?", "http://h/a?q", "http://h/a?"},
                                   {"//g", "https://h/a", "https://g/"},
                                   {"/b", "http://h:8/a", "http://h:8/b"},
                                   {"http:b", "http://h/a/", "http://h/a/b"},
                                   {"HTTP://G/", "x:y", "http://g/"},
                                   {"#f", "mailto:a?b", "mailto:a?b"},
                                   {"a", "mailto:a", kUnparsed},
                                   {"//b", "x:/a", "x://b"},
                                   {"..//b", "x:/a", "x:/.//b"},
                                   {"/D|/x", "file:///C:/a", "file:///D:/x"},
                                   {"/x", "file:///C:/a", "file:///C:/x"},
                                   {"http://h:x/", "http://h/", kUnparsed}}) {
    UrlNormalizer normalizer;
    const NormalizedUrl result = normalizer.resolve(reference, base);
    EXPECT_EQ(result.parsed ? result.text : kUnparsed, expected) << reference << " in " << base;
  }
}

TEST(UrlNormalizer, ResolvesAgainstItsOwnAnswer) {
  UrlNormalizer normalizer;
  const NormalizedUrl page = normalizer.normalize("HTTP://Host/dir/page");
  EXPECT_EQ(normalizer.resolve("other page", page.text).text, "http://host/dir/other%20page");
}

// --- Memory ---

TEST(UrlNormalizer, ReturnsAViewOfAnInputThatIsNormal) {
  for (const std::string url :
       {"http://h/a?b", "http://h/a#b", "http://u%20@h:8080/%2F", "x:y", "http://1.2.3.4/"}) {
    UrlNormalizer normalizer;
    EXPECT_EQ(normalizer.normalize(url).text.data(), url.data()) << url;
  }
}

TEST(UrlNormalizer, TakesItsOwnAnswerAsInput) {
  UrlNormalizer normalizer;
  const NormalizedUrl first = normalizer.normalize("HTTP://U%aa@[::A]:0081");
  const NormalizedUrl second = normalizer.normalize(first.text);
  EXPECT_EQ(second.text.data(), first.text.data());
  EXPECT_EQ(second.text, "http://U%AA@[::a]:81/");
}

TEST(UrlNormalizer, UsesItsTwoBuffersAgain) {
  UrlNormalizer normalizer;
  std::set<const char*> buffers;
  for (int i = 0; i < 2; ++i) {
    buffers.insert(normalizer.normalize("HTTP://h/" + std::string(1000, 'a')).text.data());
  }
  for (std::size_t size = 0; size < 1000; ++size) {
    const std::string url = "HTTP://h/" + std::string(size, 'b');
    ASSERT_EQ(buffers.count(normalizer.normalize(url).text.data()), 1U);
  }
}

// --- Time: quadratic work on 2 MiB would take minutes, linear work takes milliseconds ---

// `url` is built of `unit` until it has 2 MiB; returns its normal form.
std::string normal_form_in_time(const std::string& prefix, const std::string& unit,
                                const std::string& suffix = "") {
  const std::string url = prefix + repeated(unit, std::size_t{2} << 20) + suffix;
  const auto start = std::chrono::steady_clock::now();
  std::string result = normal_form(url);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << prefix << unit;
  return result;
}

TEST(UrlNormalizer, RemovesDotSegmentsOf2MiBInLinearTime) {
  for (const char* unit : {"/..", "/.", "/./..", "/a/..", "/../a/..", "/a/b/../.."}) {
    EXPECT_EQ(normal_form_in_time("http://h", unit), "http://h/") << unit;
  }
}

TEST(UrlNormalizer, ClimbsALongPathInLinearTime) {
  const std::string down = repeated("/a", std::size_t{1} << 20);
  EXPECT_EQ(normal_form_in_time("http://h" + down, "/.."), "http://h/");
  EXPECT_EQ(normal_form_in_time("http://h/" + std::string(std::size_t{1} << 20, 'a'), "/.."),
            "http://h/");
}

TEST(UrlNormalizer, KeepsLongPathsAndQueriesInLinearTime) {
  for (const char* unit : {"/", "//", "/.a", "/...", "a", "%2F", ":@", "&a=b", "/..a", "%"}) {
    const std::string tail = "/x" + repeated(unit, std::size_t{2} << 20);
    EXPECT_EQ(normal_form_in_time("HTTP://H/x", unit), "http://h" + tail) << unit;
    EXPECT_EQ(normal_form_in_time("HTTP://H?/x", unit), "http://h/?" + tail) << unit;
  }
}

TEST(UrlNormalizer, ReadsLongInputsInLinearTime) {
  for (const char* unit : {"a", "a:", "1", "1.", "%41", "[", "1:", "@", ",", "://", " ", "\n", "/",
                           "\\", "\xC3\xBC", "%%3"}) {
    for (const char* prefix : {"", "http:", "http://", "http://u@", "http://[", "http://h:", "x://",
                               "x:/..", "x:", "file:", "file://"}) {
      EXPECT_LE(normal_form_in_time(prefix, unit, "x").size(), (std::size_t{6} << 20) + 100);
    }
  }
}

TEST(UrlNormalizer, BringsTheLongestHostsToAsciiInTime) {
  for (const char* unit : {"\xC3\xBC", "\xC3\xBC.", "\xEF\xB7\xBA", "\xD7\x90", "\xEA\xB0\x80.",
                           "\xE1\xBE\x87\xCC\xB4", "a\xCC\x80\xCC\xA3"}) {
    const std::string url = "http://" + repeated(unit, kUrlHostBytesMax - 10) + "/";
    const auto start = std::chrono::steady_clock::now();
    EXPECT_LE(normal_form(url).size(), url.size() + kUrlHostBytesMax);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << unit;
  }
}

// --- Keys ---

// spec: urls.md#url-keys rule 12
TEST(UrlKey, IsThatOfTheSpecification) {
  const std::uint64_t seed = 0x0123456789abcdef;
  EXPECT_EQ(url_key("", 0), 0x2d06800538d394c2U);
  EXPECT_EQ(url_key16("", 0), Key16(0x99aa06d3014798d8U, 0x6001c324468d497fU));
  EXPECT_EQ(url_key("http://example.com/", 0), 0xb97a010e03af1e2bU);
  EXPECT_EQ(url_key("http://example.com/", seed), 0x318d4c2734dc3634U);
  EXPECT_EQ(url_key("http://\xFF\xFE/", seed), 0x3923fdc32f675a5aU);
  EXPECT_EQ(url_key("http://h/" + std::string(300, 'a'), seed), 0x0acf6bdb514e51b6U);
}

// covers: D23
TEST(RabinFingerprint, ReturnsThePublishedValues) {
  EXPECT_EQ(rabin_fingerprint("http://www.codeproject.com"), 0x446929cac144a7e6U);
  EXPECT_EQ(rabin_fingerprint("http://www.boost.org"), 0x52958e52dbf15c77U);
}

// covers: E17
TEST(RabinFingerprint, ReadsBytesAsUnsigned) {
  EXPECT_EQ(rabin_fingerprint("a\xC3\xA9"), 0x61c3a9U);
  EXPECT_EQ(rabin_fingerprint("\xFF"), 0xffU);
}

// covers: D23
TEST(RabinFingerprint, EqualsDivisionBitByBit) {
  std::string bytes;
  std::uint64_t expected = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    const unsigned byte = (i * 167 + 13) & 0xFF;
    bytes += static_cast<char>(byte);
    for (unsigned bit = 8; bit-- > 0;) {
      const bool overflows = (expected >> 63) != 0;
      expected = (expected << 1) | ((byte >> bit) & 1);
      if (overflows) expected ^= 0x1B;  // t^64 = t^4 + t^3 + t + 1
    }
    ASSERT_EQ(rabin_fingerprint(bytes), expected) << i;
  }
}

}  // namespace
}  // namespace crawlstore
