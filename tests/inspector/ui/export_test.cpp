// SPDX-License-Identifier: Apache-2.0
// What is exported is what is shown: filtered, byte for byte, all of it or nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <crawlstore/drum_view.h>

#include "inspector/inspector_file.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The fields of CSV as RFC 4180 has it: quotes hide commas, line breaks and doubled quotes.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && is_quoted && text.substr(i + 1, 1) == "\"") {
      rows.back().back() += text[i++];
    } else if (text[i] == '"') {
      is_quoted = !is_quoted;
    } else if (text[i] == ',' && !is_quoted) {
      rows.back().emplace_back();
    } else if (text[i] == '\n' && !is_quoted) {
      rows.push_back({""});
    } else {
      rows.back().back() += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

class Export : public ::testing::Test {
 protected:
  void SetUp() override {
    open_file(shell_, golden("unicode"));
    run_step(shell_, "goto", "buckets");
    run_step(shell_, "click", "buckets.Requests that wait");
    run_step(shell_, "click", "pending.filter");
  }
  std::string export_to(const std::string& name) {
    run_step(shell_, "command", "export " + (folder_ / name));
    return read_text(folder_ / name);
  }
  /// The column `aux` of a CSV file.
  static std::vector<std::string> auxes(const std::string& csv) {
    const auto rows = read_csv(csv);
    const auto at = std::ranges::find(rows.at(0), "aux") - rows[0].begin();
    std::vector<std::string> found;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].size(), rows[0].size());
      found.push_back(rows[i].at(static_cast<std::size_t>(at)));
    }
    return found;
  }
  [[nodiscard]] std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }

  TemporaryFolder folder_;
  HeadlessShell shell_{{1600, 1000, {}}};
  std::vector<std::string> urls_ = waiting_urls();
};

// acceptance: 20
TEST_F(Export, GivesEachByteBackAsCsv) {
  ASSERT_THAT(urls_, SizeIs(8));
  EXPECT_EQ(auxes(export_to("all.csv")), urls_);
}

// acceptance: 20
TEST_F(Export, GivesEachByteBackAsLinesOfJson) {
  std::istringstream lines(export_to("all.jsonl"));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("aux")) {
      found.push_back(json["aux"]);
      continue;
    }
    std::string& bytes = found.emplace_back();
    const std::string hex = json.at("aux_hex");
    for (std::size_t i = 0; i < hex.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
  }
  EXPECT_EQ(found, urls_);
}

// acceptance: 20
TEST_F(Export, WritesTheRowsThatTheFilterShowsAndNoOthers) {
  const std::pair<const char*, std::vector<std::size_t>> cases[] = {
      {"aux:\\xff", {4}},     {"aux:example.org", {3, 4, 7}},
      {"sequence<3", {0, 1}}, {"aux~/[\\n\"]/", {5, 6}},
      {"nowhere", {}},
  };
  for (const auto& [filter, rows] : cases) {
    SCOPED_TRACE(filter);
    run_step(shell_, "key", "Ctrl+A");
    run_step(shell_, "type", filter);
    std::vector<std::string> expected;
    for (const std::size_t row : rows) expected.push_back(urls_[row]);
    EXPECT_EQ(auxes(export_to("some.csv")), expected);
  }
  EXPECT_EQ(file_count(), 1U);
}

// acceptance: 20
TEST_F(Export, IsOfTheTableThatWasUsedLast) {
  EXPECT_THAT(read_csv(export_to("a.csv")).at(0).at(0), "sequence");
  run_step(shell_, "click", "buckets.As a table");
  run_step(shell_, "click", "buckets[0].key_count");
  EXPECT_THAT(read_csv(export_to("b.csv")).at(0).at(0), "bucket");
  run_step(shell_, "click", "buckets.Keys");
  run_step(shell_, "click", "keys.filter");
  EXPECT_THAT(read_csv(export_to("c.csv")).at(0),
              ElementsAre("row", "key", "value", "partition", "block_offset_bytes"));
}

// acceptance: 20
TEST_F(Export, LeavesNothingWhereItCannotWrite) {
  std::filesystem::create_directories(folder_ / "rows.csv/not_empty");
  run_step(shell_, "command", "export " + (folder_ / "rows.csv"));
  EXPECT_TRUE(shell_.app().probe().shows("nothing was written"));
  run_step(shell_, "command", "export " + (folder_ / "no folder/rows.csv"));
  EXPECT_TRUE(shell_.app().probe().shows("nothing was written"));
  run_step(shell_, "command", "export " + (folder_ / "rows.txt"));
  EXPECT_TRUE(shell_.app().probe().shows("end the name with"));
  EXPECT_EQ(file_count(), 1U);
}

}  // namespace
}  // namespace crawlstore::testing
