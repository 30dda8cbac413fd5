// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
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
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <crawlstore/url.h>

#include "base/normal_form.h"

namespace crawlstore {
namespace {

using namespace std::string_literals;

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

std::vector<std::vector<std::string>> rows_of_spec() {
  const std::string text = "\n" + read_source_file("spec/urls.md");
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

// --- The vectors of the URL Standard ---

std::filesystem::path shared_data() {
  const char* const given = std::getenv("CRAWLSTORE_DATA");
  return given != nullptr ? given : std::string(CRAWLSTORE_SOURCE_DIR) + "/../shared/data";
}

// Half of a pair of surrogates stands for U+FFFD; the JSON library takes none.
std::string with_whole_surrogates(std::string json) {
  const auto is_half = [&json](std::size_t i, std::string_view digits) {
    return i + 6 <= json.size() && json.compare(i, 2, "\\u") == 0 &&
           std::tolower(json[i + 2]) == 'd' && digits.find(json[i + 3]) != std::string_view::npos;
  };
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (is_half(i, "89abAB") && is_half(i + 6, "cdefCDEF")) {
      i += 11;
    } else if (is_half(i, "89abcdefABCDEF")) {
      json.replace(i, 6, "\\ufffd");
    }
  }
  return json;
}

// The objects of a file of the standard's vectors; empty if it is not there.
std::vector<nlohmann::json> vectors_of_standard(const std::string& name) {
  std::ifstream file(shared_data() / "url" / name, std::ios::binary);
  if (!file) return {};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<nlohmann::json> objects;
  for (auto& value : nlohmann::json::parse(with_whole_surrogates(text))) {
    if (value.is_object()) objects.push_back(std::move(value));
  }
  return objects;
}

// The additions of rule 11 to the standard, for texts without bare "%".
std::string with_equivalences(std::string url) {
  url.resize(std::min(url.find('#'), url.size()));
  std::string text;
  for (std::size_t i = 0; i < url.size(); ++i) {
    const bool is_escape = url[i] == '%' &&
                           url.find_first_not_of("0123456789abcdefABCDEF", i + 1) >= i + 3 &&
                           i + 2 < url.size();
    if (!is_escape) {
      text += url[i];
      continue;
    }
    const char byte = byte_of_hex(url, i + 1);
    const bool is_unreserved =
        std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
        (byte != 0 && std::string_view("-._~").find(byte) != std::string_view::npos);
    if (is_unreserved && !text.ends_with('%')) {
      text += byte;
    } else {
      text += '%';
      text += static_cast<char>(std::toupper(url[i + 1]));
      text += static_cast<char>(std::toupper(url[i + 2]));
    }
    i += 2;
  }
  return text;
}

TEST(UrlStandard, AgreesOnAllItsUrls) {
  const auto vectors = vectors_of_standard("urltestdata.json");
  if (vectors.empty()) GTEST_SKIP() << "no urltestdata.json; CRAWLSTORE_DATA names its folder";
  EXPECT_GT(vectors.size(), 800U);
  for (const auto& vector : vectors) {
    const auto input = vector.at("input").get<std::string>();
    const std::string base =
        vector["base"].is_null() ? "" : normal_form(vector["base"].get<std::string>());
    UrlNormalizer normalizer;
    const NormalizedUrl result =
        vector["base"].is_null() ? normalizer.normalize(input) : normalizer.resolve(input, base);
    const bool is_refused = vector.contains("failure") || base == kUnparsed;
    EXPECT_EQ(result.parsed ? std::string(result.text) : kUnparsed,
              is_refused ? kUnparsed : with_equivalences(vector["href"].get<std::string>()))
        << input << " in " << base;
  }
}

class HostsOfStandard : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Files, HostsOfStandard, testing::Values("toascii", "IdnaTestV2"),
                         [](const auto& file) { return std::string(file.param); });

TEST_P(HostsOfStandard, MapsToAscii) {
  const auto vectors = vectors_of_standard(GetParam() + ".json"s);
  if (vectors.empty()) GTEST_SKIP() << "no vectors; CRAWLSTORE_DATA names their folder";
  // Characters of Unicode 17: U+32931 and U+32B9A.
  const auto is_too_young = [](const std::string& host) {
    return host.find("\xF0\xB2\xA4\xB1") != host.npos || host.find("\xF0\xB2\xAE\x9A") != host.npos;
  };
  for (const auto& vector : vectors) {
    const auto host = vector.at("input").get<std::string>();
    if (host.empty()) continue;  // "http:///x" has another host
    const bool is_refused = vector["output"].is_null() || is_too_young(host);
    EXPECT_EQ(normal_form("http://" + host + "/x"),
              is_refused ? kUnparsed : "http://" + vector["output"].get<std::string>() + "/x")
        << host;
  }
}

TEST(UrlStandard, AgreesOnItsEscapes) {
  const auto vectors = vectors_of_standard("percent-encoding.json");
  if (vectors.empty()) GTEST_SKIP() << "no vectors; CRAWLSTORE_DATA names their folder";
  for (const auto& vector : vectors) {
    const std::string expected =
        with_equivalences("http://h/?" + vector["output"]["utf-8"].get<std::string>());
    EXPECT_EQ(normal_form("http://h/?" + vector["input"].get<std::string>()), expected);
  }
}

// --- Real URLs ---

// Calls `use` for each URL of a list; false if the list is not there.
bool for_each_real_url(const std::string& list, const std::function<void(std::string_view)>& use) {
  const std::filesystem::path path = shared_data() / "urls" / list;
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

TEST_P(RealUrls, AreParsedButForOneInAHundredThousand) {
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
  EXPECT_LT(unparsed_count * 100'000, url_count);
}

}  // namespace
}  // namespace crawlstore
