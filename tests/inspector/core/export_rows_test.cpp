// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/export_rows.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/utf8.h"
#include "support/seeded.h"

namespace crawlstore::inspector {
namespace {

using model::Cell;
using model::Column;
using model::Row;
using model::Unit;
using Texts = std::vector<std::vector<std::string>>;

const std::vector<Column> kColumns = {{"name", Unit::kText},           {"keys", Unit::kCount},
                                      {"offset_bytes", Unit::kOffset}, {"ratio", Unit::kRatio},
                                      {"commit_us", Unit::kTimeUs},    {"previous", Unit::kFlag},
                                      {"value", Unit::kText}};

/// The texts that a program that knows RFC 4180 reads.
Texts read_csv(const std::string& text) {
  Texts rows(1, {""});
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_quoted) {
      if (text[i] != '"') {
        rows.back().back() += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        rows.back().back() += text[i++];
      } else {
        is_quoted = false;
      }
    } else if (text[i] == '"') {
      EXPECT_EQ(rows.back().back(), "") << "a quote inside of an unquoted field";
      is_quoted = true;
    } else if (text[i] == ',') {
      rows.back().emplace_back();
    } else if (text[i] == '\n') {
      rows.push_back({""});
    } else {
      EXPECT_NE(text[i], '\r') << "a line break that is not quoted";
      rows.back().back() += text[i];
    }
  }
  EXPECT_FALSE(is_quoted);
  EXPECT_EQ(rows.back(), std::vector<std::string>{""}) << "the last line ends";
  rows.pop_back();
  return rows;
}

/// Undoes what the header says of TSV.
Texts read_tsv(const std::string& text) {
  Texts rows(1, {""});
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\t') {
      rows.back().emplace_back();
    } else if (text[i] == '\n') {
      rows.push_back({""});
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      const char letter = text[++i];
      rows.back().back() += letter == 't'   ? '\t'
                            : letter == 'n' ? '\n'
                            : letter == 'r' ? '\r'
                                            : letter;
    } else {
      rows.back().back() += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

std::string plain(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
  return {};
}

Row random_row(testing::SeededRandom& random) {
  const auto number = [&](auto value) { return random.one_in(8) ? Cell{} : Cell{value}; };
  return {random.hostile_text(12),
          number(random.number()),
          number(random.number()),
          number(static_cast<double>(random.number()) / 7.0),
          number(static_cast<std::int64_t>(random.next()) >> 3),
          number(random.one_in(2)),
          random.hostile_text(12)};
}

void expect_texts(const std::vector<std::string>& texts, const Row& row) {
  ASSERT_EQ(texts.size(), row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (const auto* number = std::get_if<double>(&row[i])) {
      EXPECT_EQ(std::stod(texts[i]), *number);
    } else {
      EXPECT_EQ(texts[i], plain(row[i]));
    }
  }
}

class Exports : public ::testing::TestWithParam<RowFormat> {};

// acceptance: 20
TEST_P(Exports, AreReadAgainAsTheRows) {
  testing::SeededRandom random;
  std::vector<Row> rows;
  std::string text = head_line(kColumns, GetParam());
  for (int i = 0; i < 1000; ++i) {
    rows.push_back(random_row(random));
    text += row_line(kColumns, rows.back(), GetParam());
  }
  const Texts texts = GetParam() == RowFormat::kCsv ? read_csv(text) : read_tsv(text);
  ASSERT_EQ(texts.size(), rows.size() + 1);
  for (std::size_t i = 0; i < kColumns.size(); ++i) EXPECT_EQ(texts[0][i], kColumns[i].name);
  for (std::size_t i = 0; i < rows.size(); ++i) expect_texts(texts[i + 1], rows[i]);
}
INSTANTIATE_TEST_SUITE_P(AsTables, Exports, ::testing::Values(RowFormat::kCsv, RowFormat::kTsv));

void expect_json(const nlohmann::json& value, const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) {
    EXPECT_EQ(value.get<double>(), *number);
  } else if (const auto* flag = std::get_if<bool>(&cell)) {
    EXPECT_EQ(value.get<bool>(), *flag);
  } else if (cell.index() == 0) {
    EXPECT_TRUE(value.is_null());
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    EXPECT_EQ(value.get<std::string>(), *text);
  } else {
    EXPECT_TRUE(value.is_number_integer());
    EXPECT_EQ(value.dump(), plain(cell));
  }
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// acceptance: 20
TEST(JsonLines, AreReadAgainAsTheRows) {
  testing::SeededRandom random;
  EXPECT_EQ(head_line(kColumns, RowFormat::kJsonLines), "");
  int hex_count = 0;
  for (int i = 0; i < 1000; ++i) {
    const Row row = random_row(random);
    const std::string line = row_line(kColumns, row, RowFormat::kJsonLines);
    ASSERT_EQ(line.find('\n'), line.size() - 1);
    const auto json = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto* text = std::get_if<std::string>(&row[j]);
      if (text != nullptr && !model::is_utf8(*text)) {
        ++hex_count;
        EXPECT_EQ(from_hex(json.at(kColumns[j].name + "_hex").get<std::string>()), *text);
      } else {
        expect_json(json.at(kColumns[j].name), row[j]);
      }
    }
  }
  EXPECT_GT(hex_count, 100);
}

TEST(JsonLines, HaveNoNumberForWhatIsNone) {
  const std::vector<Column> columns = {{"ratio", Unit::kRatio}};
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto line = row_line(columns, {value}, RowFormat::kJsonLines);
    EXPECT_TRUE(nlohmann::json::parse(line).at("ratio").is_null()) << line;
  }
}

TEST(Csv, ShowsARowOfNothing) {
  const std::vector<Column> columns = {{"name", Unit::kText}};
  EXPECT_EQ(read_csv(row_line(columns, {std::string()}, RowFormat::kCsv)), (Texts{{""}}));
  EXPECT_NE(row_line(columns, {std::string()}, RowFormat::kCsv), "\n");
}

TEST(RowFormat, IsToldByTheEnding) {
  EXPECT_EQ(row_format_of("/tmp/rows.csv"), RowFormat::kCsv);
  EXPECT_EQ(row_format_of("rows.tsv"), RowFormat::kTsv);
  EXPECT_EQ(row_format_of("a.csv.jsonl"), RowFormat::kJsonLines);
  for (const char* path : {"", "rows", "rows.txt", "csv", "rows.csv.gz", "rows.csv/x"}) {
    EXPECT_EQ(row_format_of(path), std::nullopt) << path;
  }
}

}  // namespace
}  // namespace crawlstore::inspector
