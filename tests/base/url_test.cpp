// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <uriparser/Uri.h>

#include <crawlstore/url.h>

namespace crawlstore {
namespace {

using namespace std::string_literals;

constexpr const char* kUnparsed = "(not parsed)";

// The normal form as a value, or kUnparsed.
std::string normal_form(std::string_view url) {
  UrlNormalizer normalizer;
  const NormalizedUrl result = normalizer.normalize(url);
  return result.parsed ? std::string(result.text) : kUnparsed;
}

std::string repeated(std::string_view unit, std::size_t length_bytes) {
  std::string result;
  while (result.size() < length_bytes) result += unit;
  return result;
}

// --- The rules, one by one ---

// spec: format.md#url-keys rule 1
TEST(UrlNormalizer, KeepsWhiteSpaceAroundTheUrl) {
  UrlNormalizer normalizer;
  const NormalizedUrl result = normalizer.normalize(" HTTP://h/\n");
  EXPECT_FALSE(result.parsed);
  EXPECT_EQ(result.text, " HTTP://h/\n");
}

// spec: format.md#url-keys rule 2
TEST(UrlNormalizer, ReturnsUnparsedInputItself) {
  UrlNormalizer normalizer;
  const std::string url = "HTTP://H:80/a/../\xC3\xA9#f";
  const NormalizedUrl result = normalizer.normalize(url);
  EXPECT_FALSE(result.parsed);
  EXPECT_EQ(result.text.data(), url.data());
  EXPECT_EQ(result.text.size(), url.size());
}

// spec: format.md#url-keys rule 2
TEST(UrlNormalizer, RejectsReferencesWithoutScheme) {
  for (const char* url : {"", "a", "/a", "//h/a", "?q", "#f", "h.example/a", ":a", "1a:b"}) {
    EXPECT_EQ(normal_form(url), kUnparsed) << url;
  }
}

// spec: format.md#url-keys rule 2
TEST(UrlNormalizer, RejectsEmbeddedNul) {
  for (const auto& url : {"\0"s, "ht\0tp://h/"s, "http://\0/"s, "http://h\0"s, "http://h/\0"s,
                          "http://h/?\0"s, "http://h/#\0"s, "http://u\0@h:1/"s}) {
    EXPECT_EQ(normal_form(url), kUnparsed) << testing::PrintToString(url);
  }
}

// spec: format.md#url-keys rule 2
TEST(UrlNormalizer, RejectsBrokenEscapesEverywhere) {
  for (const char* bad : {"%", "%4", "%4g", "%g4", "%%41"}) {
    for (const char* prefix :
         {"http://", "http://h", "http://u@h", "http://h/", "http://h/?", "http://h/#", "a:"}) {
      EXPECT_EQ(normal_form(std::string(prefix) + bad), kUnparsed) << prefix << bad;
    }
  }
}

TEST(UrlNormalizer, ReadsNothingBehindTheEnd) {
  const std::string_view whole = "HTTP://u%41@[::1]:80/%41/..?%41#%41";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(normal_form({exact.data(), size}), normal_form(whole.substr(0, size))) << size;
  }
}

// spec: format.md#url-keys rule 2
TEST(UrlNormalizer, TakesAHeadOfTheGreatestLengthAndNoMore) {
  const std::string plain = "http://" + std::string(kUrlHeadBytesMax - 7, 'a');
  EXPECT_EQ(normal_form(plain + "/"), plain + "/");
  EXPECT_EQ(normal_form(plain + "a/"), kUnparsed);
  const std::string with_user = "http://" + std::string(kUrlHeadBytesMax - 9, 'u') + "@h";
  EXPECT_EQ(normal_form(with_user + "/"), with_user + "/");
  EXPECT_EQ(normal_form(with_user + "h/"), kUnparsed);
  EXPECT_EQ(normal_form(std::string(kUrlHeadBytesMax, 'a') + ":"), kUnparsed);
}

// spec: format.md#url-keys rules 3 and 5
TEST(UrlNormalizer, LowersSchemeAndHost) {
  EXPECT_EQ(normal_form("HTTP://WWW.Example.COM/Path?Query"), "http://www.example.com/Path?Query");
}

// spec: format.md#url-keys rule 4
TEST(UrlNormalizer, KeepsUserinfo) {
  EXPECT_EQ(normal_form("ftp://User:PassWord@Host/"), "ftp://User:PassWord@host/");
  EXPECT_EQ(normal_form("ftp://@Host/"), "ftp://@host/");
}

// spec: format.md#url-keys rule 5
TEST(UrlNormalizer, LowersIpLiterals) {
  EXPECT_EQ(normal_form("http://[2001:DB8::A]:8080/"), "http://[2001:db8::a]:8080/");
  EXPECT_EQ(normal_form("http://[VA.B:C]:80/"), "http://[va.b:c]/");
}

// spec: format.md#url-keys rule 6
TEST(UrlNormalizer, DropsDefaultPorts) {
  const std::array<std::pair<const char*, const char*>, 5> ports = {
      {{"http", "80"}, {"https", "443"}, {"ftp", "21"}, {"ws", "80"}, {"wss", "443"}}};
  for (const auto& [scheme, port] : ports) {
    EXPECT_EQ(normal_form(scheme + "://h:"s + port + "/"), scheme + "://h/"s);
    EXPECT_EQ(normal_form(scheme + "://h:"s + port + "0/"), scheme + "://h:"s + port + "0/");
  }
}

// spec: format.md#url-keys rule 6
TEST(UrlNormalizer, DropsEmptyPortsOfAnyScheme) {
  EXPECT_EQ(normal_form("http://h:/"), "http://h/");
  EXPECT_EQ(normal_form("gopher://h:/"), "gopher://h/");
  EXPECT_EQ(normal_form("http://[::1]:/"), "http://[::1]/");
}

// spec: format.md#url-keys rule 6
TEST(UrlNormalizer, DropsLeadingZerosOfPorts) {
  EXPECT_EQ(normal_form("http://h:08080/"), "http://h:8080/");
  EXPECT_EQ(normal_form("http://h:00080/"), "http://h/");
  EXPECT_EQ(normal_form("http://h:00/"), "http://h:0/");
}

// spec: format.md#url-keys rule 7
TEST(UrlNormalizer, RaisesEscapesWithoutDecodingThem) {
  EXPECT_EQ(normal_form("http://u%c3@h%aB/%7e%2f?%fF"), "http://u%C3@h%AB/%7E%2F?%FF");
}

// spec: format.md#url-keys rule 8
TEST(UrlNormalizer, RemovesDotSegmentsLikeTheExamplesOfTheRfc) {
  EXPECT_EQ(normal_form("http://h/a/b/c/./../../g"), "http://h/a/g");
  EXPECT_EQ(normal_form("http://h/mid/content=5/../6"), "http://h/mid/6");
  EXPECT_EQ(normal_form("http://h/b/c/../../../../g"), "http://h/g");
  EXPECT_EQ(normal_form("http://h/b/c/g;x=1/../y"), "http://h/b/c/y");
}

// spec: format.md#url-keys rule 8
TEST(UrlNormalizer, KeepsDotSegmentsWithoutAuthority) {
  EXPECT_EQ(normal_form("URN:a/../b"), "urn:a/../b");
  EXPECT_EQ(normal_form("x:/a/..//b"), "x:/a/..//b");
}

// spec: format.md#url-keys rule 9
TEST(UrlNormalizer, AddsTheSlashOfAnEmptyPath) {
  EXPECT_EQ(normal_form("http://h"), "http://h/");
  EXPECT_EQ(normal_form("https://h?q"), "https://h/?q");
  EXPECT_EQ(normal_form("gopher://h"), "gopher://h");
}

// spec: format.md#url-keys rule 10
TEST(UrlNormalizer, KeepsAnEmptyQuery) {
  EXPECT_EQ(normal_form("http://h/?"), "http://h/?");
}

// spec: format.md#url-keys rule 11
TEST(UrlNormalizer, DropsTheFragment) {
  EXPECT_EQ(normal_form("http://h/a?b#c?d/%ee"), "http://h/a?b");
  EXPECT_EQ(normal_form("http://h/#"), "http://h/");
}

// --- Memory ---

TEST(UrlNormalizer, ReturnsAViewOfAnInputThatIsNormal) {
  for (const std::string url : {"http://h/a?b", "http://h/a#b", "http://u%20@h:8080/%2F", "x:y"}) {
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

TEST(UrlNormalizer, UsesItsBufferAgain) {
  UrlNormalizer normalizer;
  const char* const buffer = normalizer.normalize("HTTP://h/" + std::string(1000, 'a')).text.data();
  for (std::size_t size = 0; size < 1000; ++size) {
    ASSERT_EQ(normalizer.normalize("HTTP://h/" + std::string(size, 'b')).text.data(), buffer);
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
  for (const char* unit : {"/", "//", "/.a", "/...", "a", "%2F", ":@", "&a=b", "/..a"}) {
    const std::string tail = "/x" + repeated(unit, std::size_t{2} << 20);
    EXPECT_EQ(normal_form_in_time("HTTP://H/x", unit), "http://h" + tail) << unit;
    EXPECT_EQ(normal_form_in_time("HTTP://H?/x", unit), "http://h/?" + tail) << unit;
  }
}

TEST(UrlNormalizer, RejectsLongHeadsInLinearTime) {
  for (const char* unit : {"a", "a:", "1", "%41", "[", "1:", "@", ",", "://"}) {
    for (const char* prefix :
         {"", "http://", "http://u@", "http://[", "http://h:", "http://[v1."}) {
      EXPECT_EQ(normal_form_in_time(prefix, unit, "\x01"), kUnparsed) << prefix << unit;
    }
  }
}

// --- The vectors of the specification ---

struct Vector {
  std::string input;
  std::string normalised;
  bool parsed = false;
  bool operator==(const Vector&) const = default;
};

void PrintTo(const Vector& vector, std::ostream* out) {
  *out << testing::PrintToString(vector.input) << " -> "
       << testing::PrintToString(vector.normalised) << (vector.parsed ? "" : " (not parsed)");
}

std::string read_source_file(const std::string& name) {
  std::ifstream file(std::string(CRAWLSTORE_SOURCE_DIR) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

char byte_of_hex(std::string_view hex, std::size_t i) {
  return static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
}

// The bytes under `name`, or those under `name`_hex.
std::string bytes_of(const nlohmann::json& object, const std::string& name) {
  if (object.contains(name)) return object.at(name).get<std::string>();
  const std::string hex = object.at(name + "_hex").get<std::string>();
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += byte_of_hex(hex, i);
  return bytes;
}

std::vector<Vector> vectors_of_json() {
  std::vector<Vector> vectors;
  for (const auto& object : nlohmann::json::parse(read_source_file("spec/url_vectors.json"))) {
    vectors.push_back({bytes_of(object, "input"), bytes_of(object, "normalised"),
                       object.at("parsed").get<bool>()});
  }
  return vectors;
}

// The bytes that a cell of the specification stands for: `a\x20b`, or (empty).
std::string bytes_of_cell(std::string_view cell) {
  if (cell == "(empty)") return "";
  cell = cell.substr(1, cell.size() - 2);
  std::string bytes;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const bool is_hex = cell[i] == '\\';
    bytes += is_hex ? byte_of_hex(cell, i + 2) : cell[i];
    if (is_hex) i += 3;
  }
  return bytes;
}

// The cells of the lines "| a | b | ... |"; those inside never hold a "|".
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t i = line.find("| "); i == 0;) {
    line.remove_prefix(2);
    const std::size_t end = line.find(" |");
    if (end == std::string_view::npos) break;
    cells.emplace_back(line.substr(0, end));
    line.remove_prefix(end + 1);
    i = line.find("| ");
  }
  return cells;
}

// The section of the specification: in format.md, or still apart from it.
std::vector<std::vector<std::string>> rows_of_spec() {
  std::string text = "\n" + read_source_file("spec/format.md");
  if (text.find("\n## URL keys") == std::string::npos) {
    text = "\n" + read_source_file("spec/format_url.part.md");
  }
  const std::size_t begin = text.find("\n## URL keys") + 1;
  std::istringstream lines(text.substr(begin, text.find("\n## ", begin) - begin));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| ")) rows.push_back(cells_of(line));
  }
  return rows;
}

TEST(UrlVectors, AreWhatTheNormalizerDoes) {
  UrlNormalizer normalizer;
  for (const Vector& vector : vectors_of_json()) {
    const NormalizedUrl result = normalizer.normalize(vector.input);
    EXPECT_EQ((Vector{vector.input, std::string(result.text), result.parsed}), vector);
  }
}

TEST(UrlVectors, StayAsTheyAreWhenNormalisedAgain) {
  UrlNormalizer normalizer;
  for (const Vector& vector : vectors_of_json()) {
    const NormalizedUrl again = normalizer.normalize(vector.normalised);
    EXPECT_EQ(again.text, vector.normalised);
    EXPECT_EQ(again.parsed, vector.parsed) << vector.normalised;
  }
}

TEST(UrlVectors, AreTheTableOfTheSpecification) {
  std::vector<Vector> table;
  std::set<std::string> rules;
  for (const auto& row : rows_of_spec()) {
    if (row.size() != 4 || row[0] == "input") continue;
    table.push_back({bytes_of_cell(row[0]), bytes_of_cell(row[1]), row[2] == "yes"});
    rules.insert(row[3]);
  }
  EXPECT_GE(table.size(), 25U);
  EXPECT_EQ(rules.size(), 11U);
  EXPECT_EQ(table, vectors_of_json());
}

// --- Keys ---

// spec: format.md#url-keys rule 12
TEST(UrlKey, IsThatOfTheSpecification) {
  const std::uint64_t seed = 0x0123456789abcdef;
  EXPECT_EQ(url_key("", 0), 0x2d06800538d394c2U);
  EXPECT_EQ(url_key16("", 0), Key16(0x99aa06d3014798d8U, 0x6001c324468d497fU));
  EXPECT_EQ(url_key("http://example.com/", 0), 0xb97a010e03af1e2bU);
  EXPECT_EQ(url_key("http://example.com/", seed), 0x318d4c2734dc3634U);
  EXPECT_EQ(url_key("http://h/\xFF\xFE", seed), 0x2e639c6b8eed0878U);
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

// --- Real URLs ---

// Calls `use` for each URL of a list; false if the list is not there.
bool for_each_real_url(const std::string& list, const std::function<void(std::string_view)>& use) {
  const char* const given = std::getenv("CRAWLSTORE_DATA");
  const std::filesystem::path data =
      given != nullptr ? given : std::string(CRAWLSTORE_SOURCE_DIR) + "/../shared/data";
  const std::filesystem::path path = data / "urls" / list;
  if (!std::filesystem::exists(path)) return false;
  const std::string command = "zstd -dc '" + path.string() + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char* line = nullptr;
  std::size_t room_bytes = 0;
  for (ssize_t size = 0; (size = getline(&line, &room_bytes, pipe.get())) > 0;) {
    std::string_view url(line, static_cast<std::size_t>(size));
    if (url.ends_with('\n')) url.remove_suffix(1);
    if (url.starts_with('\t')) url.remove_prefix(1);
    use(url);
  }
  std::free(line);
  return true;
}

class RealUrls : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Lists, RealUrls,
                         testing::Values("reddit-a.links.zst", "mscpp.links.zst",
                                         "docs-external.txt.zst"),
                         [](const auto& list) {
                           const std::string_view name = list.param;
                           return std::string(name.substr(0, name.find_first_of("-.")));
                         });

TEST_P(RealUrls, StayAsTheyAreWhenNormalisedAgain) {
  UrlNormalizer first;
  UrlNormalizer second;
  std::size_t url_count = 0;
  std::size_t unstable_count = 0;
  const bool found = for_each_real_url(GetParam(), [&](std::string_view url) {
    const NormalizedUrl once = first.normalize(url);
    const NormalizedUrl twice = second.normalize(once.text);
    unstable_count += twice.text != once.text || twice.parsed != once.parsed;
    ++url_count;
  });
  if (!found) GTEST_SKIP() << "no " << GetParam() << "; CRAWLSTORE_DATA names its folder";
  EXPECT_EQ(unstable_count, 0U);
  EXPECT_GT(url_count, 1000U);
}

// The grammar of the specification is the RFC's: a strict parser given the whole URL agrees.
TEST_P(RealUrls, AreParsedWhereAStrictParserTakesThem) {
  UrlNormalizer normalizer;
  std::size_t disagreement_count = 0;
  const bool found = for_each_real_url(GetParam(), [&](std::string_view url) {
    UriUriA uri;
    const bool taken =
        uriParseSingleUriExA(&uri, url.data(), url.data() + url.size(), nullptr) == URI_SUCCESS;
    disagreement_count += normalizer.normalize(url).parsed != (taken && uri.scheme.first);
    if (taken) uriFreeUriMembersA(&uri);
  });
  if (!found) GTEST_SKIP() << "no " << GetParam() << "; CRAWLSTORE_DATA names its folder";
  EXPECT_EQ(disagreement_count, 0U);
}

TEST_P(RealUrls, AreParsedButForOneInAHundred) {
  UrlNormalizer normalizer;
  std::size_t url_count = 0;
  std::size_t unparsed_count = 0;
  const bool found = for_each_real_url(GetParam(), [&](std::string_view url) {
    unparsed_count += !normalizer.normalize(url).parsed;
    ++url_count;
  });
  if (!found) GTEST_SKIP() << "no " << GetParam() << "; CRAWLSTORE_DATA names its folder";
  RecordProperty("url_count", static_cast<int>(url_count));
  RecordProperty("unparsed_count", static_cast<int>(unparsed_count));
  EXPECT_LT(unparsed_count * 100, url_count);
}

}  // namespace
}  // namespace crawlstore
